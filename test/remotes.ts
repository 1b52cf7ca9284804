import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import {
  createServer as createNetServer,
  type AddressInfo,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import { join } from 'node:path'
import ssh from 'ssh2'
import type { GitSandbox } from './state/git-sandbox.ts'

/** Transport to a git remote: http with a password, or ssh with a key. */
export type Transport = 'http' | 'ssh'

/** Git server on this machine for the repositories of a sandbox. */
export interface Remote {
  /** Answer to every call. `lose-answers`: a push takes effect, but its answer is lost. */
  behaviour: 'serve' | 'hang' | 'refuse-login' | 'refuse-pushes' | 'lose-answers'
  /** Called before each call that is served or hangs. */
  onCall: (isPush: boolean) => void
  /** Host and port of the server. */
  address: string
  /** Texts that belong to git and ssh alone: the password, or lines of the private key. */
  secrets: string[]
  close(): Promise<void>
}

/**
 * Makes all clones of a sandbox reach their remote over a transport. Password or key are in the
 * folder `user` of the sandbox, and git's settings name them, as a user would set it up.
 */
export async function connect(sandbox: GitSandbox, transport: Transport): Promise<Remote> {
  const user = join(sandbox.folder, 'user')
  mkdirSync(user)
  const start = { http: startHttp, ssh: startSsh }[transport]
  const { remote, url, config } = await start(sandbox.folder, user)
  sandbox.env['GIT_CONFIG_GLOBAL'] = join(user, 'gitconfig')
  writeFileSync(join(user, 'gitconfig'), config)
  for (const name of readdirSync(sandbox.folder)) {
    const settings = join(sandbox.folder, name, '.git', 'config')
    if (!existsSync(settings)) continue
    const text = readFileSync(settings, 'utf8')
    writeFileSync(settings, text.replace(/^(\turl = ).*(\/[^/]*)$/m, `$1${url}$2`))
  }
  return remote
}

/** Decides how a call is answered that has logged in. */
function judge(remote: Remote, isPush: boolean): 'run' | 'mute' | 'refuse' | 'hang' {
  const { behaviour } = remote
  if (isPush && behaviour === 'refuse-pushes') return 'refuse'
  remote.onCall(isPush)
  if (behaviour === 'hang') return 'hang'
  return isPush && behaviour === 'lose-answers' ? 'mute' : 'run'
}

/** Starts git's own http server behind basic authentication; git's helper has the password. */
async function startHttp(folder: string, user: string) {
  requireProgram('git', ['http-backend'], 'git with "git http-backend"', /REQUEST_METHOD/)
  const password = randomBytes(12).toString('hex')
  const login = `Basic ${Buffer.from(`runner:${password}`).toString('base64')}`
  const server = createServer((request, response) => {
    if (request.headers.authorization !== login || remote.behaviour === 'refuse-login')
      return void response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end()
    const verdict = judge(remote, request.url?.includes('git-receive-pack') === true)
    if (verdict === 'hang') return
    if (verdict === 'refuse') return void response.writeHead(403).end()
    const backend = startBackend(folder, request)
    const parts: Buffer[] = []
    backend.stdout.on('data', (part: Buffer) => parts.push(part))
    backend.once('close', () => {
      if (verdict === 'mute' && request.method === 'POST') return void request.socket.destroy()
      const whole = Buffer.concat(parts)
      const end = whole.indexOf('\r\n\r\n')
      const fields = whole.subarray(0, end).toString().split('\r\n')
      const given = fields.map((field) => field.split(': ') as [string, string])
      const { Status: status = '200', ...others } = Object.fromEntries(given)
      response.writeHead(Number.parseInt(status), others).end(whole.subarray(end + 4))
    })
  })
  const remote = await listen(server, [password, login.slice('Basic '.length)])
  writeFileSync(join(user, 'login'), `username=runner\npassword=${password}\n`)
  // Git's own helper "store" would remove the password as soon as the server refuses a login.
  const config = `[credential]\n\thelper = "!f() { cat ${join(user, 'login')}; }; f"\n`
  return { remote, url: `http://runner@${remote.address}`, config }
}

/** Starts git's server for one request, which it gets as a CGI program. */
function startBackend(folder: string, request: IncomingMessage) {
  const { method, headers, url = '/' } = request
  const { pathname, search } = new URL(url, 'http://remote')
  const env = {
    PATH: process.env['PATH'],
    GIT_PROJECT_ROOT: folder,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    REMOTE_USER: 'runner',
    REQUEST_METHOD: method,
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    CONTENT_TYPE: headers['content-type'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
  }
  const backend = spawn('git', ['http-backend'], { env })
  backend.stdin.on('error', () => undefined)
  request.pipe(backend.stdin)
  return backend
}

/** Starts an ssh server that knows one key and runs only git; ssh knows the server's key. */
async function startSsh(folder: string, user: string) {
  requireProgram('ssh', ['-V'], 'the ssh client (OpenSSH)', /OpenSSH/)
  // The library's keys of the kind ed25519 are malformed now and then.
  const createKey = () => ssh.utils.generateKeyPairSync('ecdsa', { bits: 256 })
  const [host, own] = [createKey(), createKey()]
  const allowed = Buffer.from(own.public.split(' ')[1] ?? '', 'base64')
  const sshServer = new ssh.Server({ hostKeys: [host.private] }, (client) => {
    client.on('error', () => undefined)
    client.on('authentication', (login) => {
      const isKnown = login.method === 'publickey' && login.key.data.equals(allowed)
      if (isKnown && remote.behaviour !== 'refuse-login') login.accept()
      else login.reject(['publickey'])
    })
    client.on('session', (accept) =>
      accept().on('exec', (acceptExec, _reject, { command }) => {
        const channel = acceptExec()
        const [, program = '', path = ''] =
          /^(git-(?:upload|receive)-pack) '\/(.*)'$/.exec(command) ?? []
        const verdict = program === '' ? 'refuse' : judge(remote, program === 'git-receive-pack')
        if (verdict === 'hang') return
        if (verdict === 'refuse') {
          channel.stderr.write('this key may not do that\n')
          channel.exit(1)
          return channel.end()
        }
        runGit(program, join(folder, path), channel, verdict === 'mute')
      }),
    )
  })
  // With a delay, each of the seven answers before the call takes 40 ms more.
  const server = createNetServer({ noDelay: true }, (socket) => sshServer.injectSocket(socket))
  const lines = own.private.split('\n').filter((line) => /^[^-]/.test(line))
  const remote = await listen(server, lines)
  const [key, known] = [join(user, 'key'), join(user, 'known_hosts')]
  writeFileSync(key, own.private, { mode: 0o600 })
  writeFileSync(`${key}.pub`, own.public)
  writeFileSync(known, `[127.0.0.1]:${remote.address.split(':')[1]} ${host.public}\n`)
  const settings = `StrictHostKeyChecking=yes UserKnownHostsFile=${known} IdentitiesOnly=yes`
  const options = settings.split(' ').map((setting) => `-o ${setting}`)
  const config = `[core]\n\tsshCommand = ssh -F /dev/null -i ${key} ${options.join(' ')}\n`
  return { remote, url: `ssh://git@${remote.address}`, config }
}

/** Connects git with a channel. Muted, it does not answer what it gets. */
function runGit(program: string, path: string, channel: ssh.ServerChannel, isMuted: boolean): void {
  const git = spawn(program, [path])
  let isMute = false
  channel.on('error', () => undefined)
  channel.once('data', () => (isMute = isMuted))
  git.stdin.on('error', () => undefined)
  channel.pipe(git.stdin)
  git.stdout.on('data', (part: Buffer) => isMute || channel.write(part))
  git.stderr.on('data', (part: Buffer) => isMute || channel.stderr.write(part))
  git.once('close', (code) => {
    channel.exit(isMute ? 1 : (code ?? 1))
    channel.end()
  })
}

async function listen(server: NetServer, secrets: string[]): Promise<Remote> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.once('close', () => sockets.delete(socket)))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  return {
    behaviour: 'serve',
    onCall: () => undefined,
    address: `127.0.0.1:${port}`,
    secrets,
    close,
  }
}

/** Fails if the machine lacks a program: a test that is left out would look like a passed one. */
function requireProgram(program: string, args: string[], what: string, output: RegExp): void {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', input: '' })
  if (!output.test(`${stdout}${stderr}`))
    throw new Error(`the tests of remotes need ${what}: install it (see CONTRIBUTING.md)`)
}
