// @module-tag often
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { everyNth, long } from '../runs.ts'
import { scrypt } from '../scrypt.ts'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Canaries, encodeForms } from './canary.ts'
import { setFaults, fetchConfigs, Place, startService, type CommandResult } from './cli.ts'
import { commandLines } from './command-lines.ts'
import { returnedForms } from './secret-forms.ts'

const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** Every secret has characters that JSON, URLs, forms and HTML escape. */
const secrets = {
  token: 'tok-canary-"one"/+&<1>=',
  'wrong token': 'tok-canary-"two"/+&<2>=',
  'signing key': 'key-canary-"three"/+&<3>=',
  'new signing key': 'key-canary-"four"/+&<4>=',
  'access id': 'aid-canary-"five"/+&<5>=',
  'access key': 'acc-canary-"six"/+&<6>=',
  'origin header': 'hdr-canary-"seven"/+&<7>=',
}
const [shop, img, old] = ['shop.example.com', 'img.example.com', 'old.example.com']

/** One keeps its state in git, the other in a folder, which is faster. */
const workspaces = ['clone', 'folder']

let emulator: Emulator
let echo: Server
let sandbox: GitSandbox
let canaries: Canaries
let env: Record<string, string>
/** Output of all commands. */
const results: CommandResult[] = []
let place: Place

beforeAll(async () => {
  emulator = await startService({ token: secrets.token })
  echo = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A query has no body: its token is in the URL.
    const getRequestText = (url: string) =>
      request.method === 'POST'
        ? Buffer.concat(chunks).toString()
        : `${url} ${decodeURIComponent(url)}`
    request.on('end', () =>
      answerWith(request.url ?? '', getRequestText(request.url ?? ''), response),
    )
  })
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  sandbox = new GitSandbox()
  await sandbox.withRemote()
  canaries = new Canaries(secrets)
  mkdirSync(join(sandbox.folder, 'tmp'))
  env = {
    ...sandbox.env,
    PATH: `${join(sandbox.folder, 'bin')}:${sandbox.env['PATH'] ?? ''}`,
    TMPDIR: join(sandbox.folder, 'tmp'),
    NO_COLOR: '1',
    SERVICE_URL: emulator.url,
    EDGEWISE_TOKEN: secrets.token,
    SIGNING_KEY: secrets['signing key'],
    HEADER_VALUE: secrets['origin header'],
  }
  place = new Place(emulator.url, '', { root: join(sandbox.folder, 'clone'), state: '' })
  layOut()
})
afterAll(async () => {
  scrypt.isReal = false
  await emulator.close()
  echo.closeAllConnections()
  echo.close()
  sandbox.remove()
})

/** Service that echoes requests in every form an answer can have. */
function answerWith(url: string, body: string, response: import('node:http').ServerResponse): void {
  const { config } = (body.startsWith('{') ? JSON.parse(body) : { config: {} }) as {
    config: JsonObject
  }
  const [, mode = '', form = ''] = url.split('/')
  const send = (status: number, text: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, headers).end(text)
  const json = (status: number, data: object) =>
    send(status, JSON.stringify(data), { 'content-type': 'application/json' })
  const items = Object.keys(config)
  switch (mode) {
    case 'refused':
      return void json(400, {
        code: 7,
        message: `bad value ${body} ${encodeURIComponent(body)} ${JSON.stringify(body)}`,
      })
    case 'refused-values':
      return void json(200, {
        code: 7,
        message: `bad values ${textsIn(config).map(encodedAll).join(' ')}`,
      })
    case 'long':
      return void json(400, {
        code: 7,
        message: `${'x'.repeat(1995 - body.indexOf('canary'))}${body}`,
      })
    case 'html':
      return void send(200, `<p>${body}</p>`)
    case 'broken':
      return void json(503, { code: 1, message: body })
    case 'elsewhere':
      return void send(302, '', { location: `/login?from=${encodeURIComponent(body)}` })
    case 'limited':
      return void json(401, { code: 1, message: `token ${body}`, data: body })
    case 'rewritten':
      return void json(200, {
        code: 0,
        domains: [{ id: body, domain: body }],
        data: { config: rewrittenAll(config, items, body), [body]: [body] },
      })
    case 'changed':
      return void json(200, { code: 0, data: { config: changeTexts(config, form) } })
    case 'changed-refused':
      return void json(400, {
        code: 7,
        message: `bad values ${JSON.stringify(changeTexts(config, form))}`,
      })
    default:
      return void response.destroy()
  }
}

/** Changes every string in a value to a form in which services return texts. */
function changeTexts(value: Json, form: string): Json {
  if (typeof value === 'string') return returnedForms[decodeURIComponent(form)]?.(value) ?? value
  if (Array.isArray(value)) return value.map((entry) => changeTexts(entry, form))
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).map(([key, field]) => [key, changeTexts(field, form)]),
      )
    : value
}

/** Lists every string in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

const encodedAll = (text: string) =>
  [text, encodeURIComponent(text), JSON.stringify(text), Buffer.from(text).toString('base64')].join(
    ' ',
  )

/**
 * Builds variants of the sent configuration with its strings in other fields, in keys, and within
 * longer strings.
 */
function rewrittenAll(config: JsonObject, items: string[], body: string): JsonObject {
  const texts = [...textsIn(config), body]
  const more = Object.fromEntries(texts.map((text) => [`was ${text}`, `now ${text}`]))
  return Object.fromEntries(
    items.map((item) => {
      const value = config[item] ?? null
      return [
        item,
        Array.isArray(value)
          ? [...value, ...texts.map((text) => ({ [text]: text }))]
          : { ...(value as JsonObject), ...more },
      ]
    }),
  )
}

/**
 * Workspace of the clone, files outside of it, and a git wrapper that logs its arguments and
 * environment.
 */
function layOut(): void {
  write('clone/.gitignore', '.secrets/\n.edgewise/\n')
  for (const root of workspaces) write(`${root}/.secrets/access`, `${secrets['access key']}\n`)
  write('outside/access-id', `${secrets['access id']}\n`)
  const workspace = [
    'version: 1',
    'service: {url: "${env:SERVICE_URL}", token: "${env:EDGEWISE_TOKEN}", settleSeconds: 0, ' +
      'timeoutSeconds: 5}',
    'limits: {callsPerMinute: 10000}',
    'secrets:',
    '  signing: {env: SIGNING_KEY}',
    '  header: {env: HEADER_VALUE}',
    '  access: {file: .secrets/access}',
    `  access-id: {command: [cat, '${join(sandbox.folder, 'outside/access-id')}']}`,
  ]
  write('clone/edgewise.yaml', `${workspace.join('\n')}\n`)
  write('folder/edgewise.yaml', `${workspace.join('\n')}\nstate: {store: dir}\n`)
  manifests(60)
  const watched = join(sandbox.folder, 'tmp/watched')
  const log = join(sandbox.folder, 'tmp/git.log')
  const shim = [
    '#!/bin/sh',
    `{ echo "$@"; export -p; [ ! -e '${watched}' ] || cat /proc/[0-9]*/cmdline | tr '\\0' ' '; }` +
      ` >> '${log}' 2> /dev/null`,
    'PATH=${PATH#*:} exec git "$@"',
  ]
  write('bin/git', `${shim.join('\n')}\n`)
  chmodSync(join(sandbox.folder, 'bin/git'), 0o755)
  const plain = (deadtime: number) => ({
    visit_timestamp: JSON.parse(signed(secrets['signing key'], deadtime)) as JsonObject,
    tos_origin: [{ ...tos(secrets['access id'], secrets['access key']) }],
    add_back_source_head: [
      { head_name: 'Authorization', head_value: `Bearer ${secrets['origin header']}` },
    ],
  })
  write(
    'outside/live.json',
    JSON.stringify({ [shop]: plain(60), [img]: { timeout: { time: '99' } } }),
  )
  write(
    'outside/import.json',
    JSON.stringify({
      [old]: { ...plain(60), timeout: { time: '60' }, [secrets['access key']]: 1 },
    }),
  )
  // A value that the workspace does not know becomes a reference to a new secret.
  write(
    'outside/import-new.json',
    JSON.stringify({
      'new.example.com': {
        visit_timestamp: { ...plain(60).visit_timestamp, key: secrets['wrong token'] },
      },
    }),
  )
  write('outside/import-shop.json', JSON.stringify({ [shop]: plain(1800) }))
  write(
    'outside/import-bad.json',
    JSON.stringify({
      [old]: {
        visit_timestamp: { ...plain(60).visit_timestamp, deadtime: 'x', style: secrets.token },
      },
    }),
  )
  write(
    'outside/import-torn.json',
    `{"${old}": {"visit_timestamp": {"key": ${JSON.stringify(secrets['signing key'])}`,
  )
  write(
    'outside/complain',
    `#!/bin/sh\necho "$SIGNING_KEY $EDGEWISE_TOKEN $HEADER_VALUE" >&2\nexit 3\n`,
  )
  chmodSync(join(sandbox.folder, 'outside/complain'), 0o755)
  // Literal secrets where they are not allowed.
  write('broken/edgewise.yaml', 'version: 1\n')
  const literalTos = JSON.stringify(tos(secrets['access id'], secrets['access key']))
  write(
    'broken/domains/a.yaml',
    `domain: ${shop}\nconfig:\n  visit_timestamp: ${signed(secrets['signing key'])}\n` +
      `  tos_origin: [${literalTos}]\n`,
  )
  write(
    'literal-token/edgewise.yaml',
    `version: 1\nservice: {token: ${JSON.stringify(secrets.token)}, nothing: 1}\n`,
  )
}

function write(path: string, text: string): void {
  const file = join(sandbox.folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const signed = (key: string, deadtime = 1800) =>
  JSON.stringify({ pattern: '.*', time_format: 'timestamp', key, deadtime, req_uri_type: 1 })
const tos = (id: string, key: string) => ({
  isp: 'default',
  ips: ['192.0.2.1'],
  group_sort: 1,
  auth_type: 'oss',
  auth_access_key: id,
  auth_secret_key: key,
})

function manifests(seconds: number): void {
  const config = {
    timeout: { time: String(seconds) },
    tos_origin: [tos('${secret:access-id}', '${secret:access}')],
    add_back_source_head: [{ head_name: 'Authorization', head_value: 'Bearer ${secret:header}' }],
  }
  for (const root of workspaces) {
    write(
      `${root}/profiles/signed.yaml`,
      `profile: signed\nconfig: {visit_timestamp: ${signed('${secret:signing}')}}\n`,
    )
    write(
      `${root}/domains/${shop}.yaml`,
      JSON.stringify({ domain: shop, profiles: ['signed'], config }),
    )
    const own = { timeout: { time: String(seconds) } }
    write(
      `${root}/domains/${img}.yaml`,
      JSON.stringify({ domain: img, profiles: ['signed'], config: own }),
    )
  }
}

/** Runs a command without waits, and scans its output. */
async function edgewise(
  command: string,
  { where = 'clone', ...more }: Record<string, string> = {},
): Promise<CommandResult> {
  place.env = { ...env, ...more }
  return recordResult(
    command,
    await place.cli('-C', join(sandbox.folder, where), ...command.split(' ')),
  )
}

/** Runs a command as a real process, which other processes can observe. */
async function process(command: string, more: Record<string, string> = {}): Promise<CommandResult> {
  const options = {
    cwd: join(sandbox.folder, 'clone'),
    env: { ...env, ...more },
    maxBuffer: 1 << 26,
  }
  write('tmp/watched', '')
  const ran = await new Promise<CommandResult>((resolve) => {
    const child = execFile(
      execPath,
      [program, ...command.split(' ')],
      options,
      (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
  rmSync(join(sandbox.folder, 'tmp/watched'))
  return recordResult(command, ran)
}

function recordResult(command: string, ran: CommandResult): CommandResult {
  results.push(ran)
  canaries.scanText(`output of "${command}"`, `${ran.out}\n${ran.err}`)
  return ran
}

async function expectCode(
  code: number,
  command: string,
  more: Record<string, string> = {},
  run = edgewise,
): Promise<void> {
  const ran = await run(command, more)
  expect(ran.code, `${command}\n${ran.out}${ran.err}`).toBe(code)
}

it('finds a secret in every form', () => {
  const value = secrets.token
  const planted = [
    value,
    JSON.stringify({ value }),
    JSON.stringify(JSON.stringify({ value })),
    `https://x/?token=${encodeURIComponent(value)}`,
    Buffer.from(value).toString('hex'),
    ...['', 'a', 'ab', 'abc'].map((before) =>
      Buffer.from(`${before}${value}${before}`).toString('base64'),
    ),
    Buffer.from(`a${value}`).toString('base64url'),
    ...[value, value.slice(0, 8), value.slice(-8)].flatMap((part) =>
      encodeForms(part).map(([, text]) => text),
    ),
    value.toUpperCase(),
  ]
  for (const text of planted) {
    const own = new Canaries({ token: value })
    own.scanText('here', text)
    expect({ text, found: own.found.length > 0 }).toEqual({ text, found: true })
  }
})

const options = { tags: 'often', timeout: 240_000 }
it('no command prints or stores a secret, even on failures', options, async () => {
  expect(existsSync(program), 'run "npm run build" first').toBe(true)
  const [live, complain] = [
    join(sandbox.folder, 'outside/live.json'),
    join(sandbox.folder, 'outside/complain'),
  ]
  // Before anything is applied, with secrets and without.
  for (const format of ['text', 'json', 'github', 'sarif'])
    await expectCode(0, `validate --format ${format}`)
  for (const where of ['broken', 'literal-token']) {
    for (const command of [
      'validate',
      'validate --format sarif',
      'validate --json',
      'plan -v',
      'plan --json',
    ])
      await expectCode(1, command, { where })
  }
  await expectCode(0, 'plan --out plan.json --report plan.md --report plan.html -v')
  await expectCode(0, 'plan --json', { EDGEWISE_TOKEN: '', SIGNING_KEY: '', HEADER_VALUE: '' })
  await expectCode(1, 'apply --yes -v', { SIGNING_KEY: '' })
  await expectCode(1, 'apply --yes --json', { EDGEWISE_TOKEN: '' })

  // Every kind of failed call, at the emulator and at the echoing service.
  await expectCode(1, 'apply --yes -v', { EDGEWISE_TOKEN: secrets['wrong token'] })
  let turn = 0
  const wrongs: Json[] = [
    { kind: 'refuse', item: 'visit_timestamp', probability: 1, named: true },
    { kind: 'reset-after', on: [1] },
    { kind: 'truncated', on: [1] },
    { kind: 'not-json', on: [1] },
    { kind: 'error', status: 502, on: [1] },
    { kind: 'rewrite', on: [1] },
  ]
  for (const wrong of everyNth(wrongs, 4)) {
    await setFaults(emulator, wrong)
    const format = turn++ % 2 === 0 ? '--json' : '-v --report apply.md'
    await edgewise(`apply --yes ${format} --report apply-${turn}.html`, { where: 'folder' })
  }
  await setFaults(emulator)
  const { port } = echo.address() as AddressInfo
  const modes = [
    'refused',
    'refused-values',
    'long',
    'html',
    'broken',
    'elsewhere',
    'limited',
    'rewritten',
    'cut',
  ]
  for (const mode of everyNth(modes, 5)) {
    const url = `http://127.0.0.1:${port}/${mode}`
    await edgewise(++turn % 2 === 0 ? 'apply --yes -v' : 'apply --yes --json', {
      SERVICE_URL: url,
      where: 'folder',
    })
    for (const read of [
      `stats ${shop} -v --area cn --forward`,
      'stats all --json',
      'prefetch --task 1 -v',
      'prefetch --task 1 --json',
    ])
      await edgewise(read, { SERVICE_URL: url, where: 'folder' })
  }
  let returned = 0
  for (const form of everyNth(Object.keys(returnedForms), 13)) {
    for (const mode of ['changed-refused', 'changed']) {
      const url = `http://127.0.0.1:${port}/${mode}/${encodeURIComponent(form)}`
      const page = `--report returned-${returned++}.html`
      await edgewise(`apply --yes -v ${page}`, { SERVICE_URL: url, where: 'folder' })
    }
  }
  await expectCode(3, 'apply --yes -v', { SERVICE_URL: `http://127.0.0.1:${port}/broken` })
  await expectCode(1, 'apply --yes -v', { SERVICE_URL: 'http://127.0.0.1:9' })

  // A usual day, in part by the built program, whose fingerprints are real.
  scrypt.isReal = true
  // The apply makes the calls of git that a plan makes.
  const runObserved = long ? process : edgewise
  await expectCode(0, 'plan -v', {}, runObserved)
  await expectCode(0, 'apply --yes -v', {}, process)
  await expectCode(0, 'plan --detailed-exitcode')
  manifests(90)
  await expectCode(0, 'plan --out plan.json --json', { SIGNING_KEY: secrets['new signing key'] })
  await expectCode(0, 'apply plan.json --json', { SIGNING_KEY: secrets['new signing key'] })
  for (const command of [
    `drift --observed ${live} -v --report drift.md --report drift.html`,
    `drift --observed ${live} --json`,
  ])
    await expectCode(2, command)
  await expectCode(1, `drift --observed ${complain} -v`)
  await expectCode(0, `drift --observed ${live} --repair --yes -v`)
  await expectCode(0, 'rollback --yes -v', { SIGNING_KEY: secrets['new signing key'] }, runObserved)
  await edgewise('rollback --yes --json')
  await expectCode(1, `import ${join(sandbox.folder, 'outside/import-bad.json')} --write-manifests`)
  await expectCode(1, `import ${join(sandbox.folder, 'outside/import-torn.json')} --json`)
  await expectCode(0, `import ${join(sandbox.folder, 'outside/import.json')} --write-manifests -v`)
  await expectCode(0, `import ${join(sandbox.folder, 'outside/import-new.json')} --write-manifests`)
  await expectCode(0, `import ${join(sandbox.folder, 'outside/import-shop.json')} --replace --json`)
  const history = JSON.parse((await edgewise('state history --json')).out) as {
    applies: { id: string }[]
  }
  for (const command of ['stats -v', 'stats --json', 'prefetch --task 1'])
    await expectCode(0, command)
  await expectCode(1, 'stats -v', { EDGEWISE_TOKEN: secrets['wrong token'] })
  for (const command of [
    'state list -v',
    'rollout list --json',
    'state history',
    `show ${shop}`,
    `show ${shop} --json`,
    `state history ${shop} -v`,
    `state history ${shop} --json`,
  ])
    await expectCode(0, command)
  for (const { id } of history.applies) await edgewise(`show ${shop} --at ${id} --json`)
  for (const command of [
    'fmt --check',
    'complete show x',
    'explain visit_timestamp',
    'explain tos_origin',
    'plan -v --report plan.md --report plan-late.html',
    'drift -v',
    'drift --json',
  ])
    await edgewise(command)
  // The commands below replace pages.
  const pages = ['plan', 'apply-1', 'returned-0', 'returned-1', 'drift']
  for (const name of pages)
    expect(readFileSync(join(sandbox.folder, `clone/${name}.html`), 'utf8')).toContain(shop)
  for (const { line } of commandLines) await edgewise(line.join(' '), { where: 'folder' })
  await expectCode(0, 'state prune --keep 0d --yes')
  await expectCode(0, 'state history --json')
  await expectCode(0, `state move ${shop} --to other --yes --json`)

  // Remains: work tree, state, remote, journal, temporary files, and the log of the git wrapper.
  for (const each of workspaces) canaries.scanTree(join(sandbox.folder, each), ['.secrets'])
  canaries.scanTree(join(sandbox.folder, 'remote.git'))
  canaries.scanTree(join(sandbox.folder, 'tmp'))
  for (const repository of ['clone', 'remote.git'])
    await canaries.scanObjects(join(sandbox.folder, repository), sandbox.env)
  expect(canaries.found).toEqual([])

  // The scan was complete: secrets were sent, git was logged, and state is in the repository.
  expect(JSON.stringify((await fetchConfigs(emulator))[shop])).toContain('hdr-canary')
  const log = readFileSync(join(sandbox.folder, 'tmp/git.log'), 'utf8')
  expect(log).toContain('push')
  expect(log).toContain('dist/cli/main.js apply --yes')
  expect(await sandbox.git('remote.git', 'cat-file', '--batch-all-objects', '--batch')).toContain(
    'scrypt:',
  )
  expect(
    results.filter(({ err }) => err.includes('(secret)') || err.includes('(token)')).length,
  ).toBeGreaterThan(0)
})
