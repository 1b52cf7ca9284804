import { spawn } from 'node:child_process'
import { EdgewiseError } from '../../model/edgewise-error.ts'

/** What came of a git process. */
export interface GitResult {
  code: number
  out: Buffer
  err: string
}

/** Runs git with these arguments; a code other than 0 is a result. */
export type Git = (args: string[], input?: string, timeoutMs?: number) => Promise<GitResult>

/**
 * Variables that git, its credential helpers and ssh may need; nothing else of the environment
 * reaches them.
 */
const passed = new Set(
  [
    'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP LANG XDG_CONFIG_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS',
    'SYSTEMROOT WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES HOMEDRIVE HOMEPATH',
    'SSH_AUTH_SOCK SSH_AGENT_PID GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_ASKPASS GIT_EXEC_PATH',
    'GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT GIT_ALLOW_PROTOCOL',
    'GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL',
    'GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE',
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
    'GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN CI_JOB_TOKEN SYSTEM_ACCESSTOKEN',
  ].flatMap((line) => line.split(' ')),
)

/**
 * The environment of git's processes. Variables that redirect git, which it sets for its own hooks,
 * stay behind, and so does everything that holds the service's token. Nothing asks: there may be
 * nobody to answer.
 */
export function buildGitEnvironment(
  env: Record<string, string | undefined>,
  token: string,
): Record<string, string> {
  const chosen = Object.entries(env).filter(
    ([name, value]) =>
      value !== undefined &&
      (token === '' || !value.includes(token)) &&
      (passed.has(name.toUpperCase()) || /^GIT_CONFIG_(KEY|VALUE)_\d+$/.test(name)),
  ) as [string, string][]
  return {
    ...Object.fromEntries(chosen),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
  }
}

/**
 * Runs git in a folder.
 *
 * @param flags given to every command
 * @returns what it said, whatever its exit code
 * @throws EdgewiseError `unavailable` when there is no git
 */
export function createGit(folder: string, env: Record<string, string>, flags: string[]): Git {
  return async (args, input, timeoutMs) => {
    for (let attempt = 1; ; attempt++) {
      const { cut, ...result } = await once(folder, env, [...flags, ...args], input, timeoutMs)
      if (!cut || attempt === mostAttempts) return result
    }
  }
}

/**
 * Until it has a group of its own, a process that was just born belongs to ours, and an interrupt
 * of ours ends it before it becomes git: it has done nothing, and is begun again.
 */
const mostAttempts = 3

function once(
  folder: string,
  env: Record<string, string>,
  args: string[],
  input: Parameters<Git>[1],
  timeoutMs: number | undefined,
): Promise<GitResult & { cut: boolean }> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that an interrupt from the terminal ends the apply in order instead of
    // its git processes.
    const child = spawn('git', args, {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let late = false
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => ((late = true), kill(child.pid)), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(error.code === 'ENOENT' ? noGit() : error)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const said = late
        ? `no answer in ${(timeoutMs ?? 0) / 1000} s`
        : Buffer.concat(err).toString('utf8')
      const cut = signal === 'SIGINT' || signal === 'SIGTERM'
      resolve({ code: code ?? 1, out: Buffer.concat(out), err: said, cut })
    })
    // A process that ends before it has read everything says why on stderr.
    child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') reject(error)
    })
    child.stdin.end(input ?? '')
  })
}

/** What git said, fit for a message: without the credentials that an address may hold. */
export function formatGitError({ err }: GitResult): string {
  const lines = err
    .replace(/\/\/[^/@\s]+@/g, '//')
    .split('\n')
    .map((line) => line.replace(/^(fatal|error|remote): /, '').trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'))
  return lines.slice(0, 3).join('; ') || 'git said nothing'
}

function noGit(): EdgewiseError {
  return new EdgewiseError(
    'unavailable',
    'the program git is not installed',
    'Install git, or keep the record in a folder: "state: {store: dir}".',
  )
}

function kill(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
