import { basename, delimiter, isAbsolute } from 'node:path'
import { isInside } from '../../files/is-inside.ts'

/**
 * Settings of every git process. They disable hooks and the file system monitor, which are for the
 * user's own work, and settings that change pushes and fetches. A remote whose address is a command
 * (`ext::`) needs the variable GIT_ALLOW_PROTOCOL. Git never looks for a repository by itself, but
 * gets a place; should it look nevertheless, it refuses a folder that only looks like a repository.
 */
export const gitSettings = [
  'safe.bareRepository=explicit',
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=committed',
  'protocol.ext.allow=never',
  'push.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
]

/** Where a process of git works. */
export interface GitPlace {
  /** Its current folder. */
  cwd: string
  /** Its repository: GIT_DIR. */
  gitFolder: string
  /** Its work tree: GIT_WORK_TREE; null only for `git init --bare`, which takes none. */
  workTree: string | null
}

/** A GIT_DIR in which git finds no repository. */
const nowhere = process.platform === 'win32' ? 'NUL' : '/dev/null'

/** Returns the place of a command that needs no repository: git finds none there. */
export function outsideRepositories(cwd: string): GitPlace {
  return { cwd, gitFolder: nowhere, workTree: cwd }
}

/** Variables with the path of programs of git, or of settings that may name programs. */
const programs = ['GIT_SSH', 'GIT_ASKPASS', 'GIT_EXEC_PATH', 'GIT_CONFIG_SYSTEM']
/** Variables with the folder or the file of git's settings of the user. */
const userSettings = ['HOME', 'USERPROFILE', 'XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL']

/**
 * Adds the repository to the environment of git's processes. They take no program and no settings
 * of the user from a relative path or from the work tree, where a commit could put them. `PATH`
 * also loses the folders `node_modules/.bin` that npm adds.
 */
export function withPlace(
  env: Record<string, string>,
  { gitFolder, workTree }: GitPlace,
): Record<string, string> {
  const isOutside = (path: string) =>
    isAbsolute(path) && (workTree === null || !isInside(workTree, path))
  const isForeign = (path: string) => basename(path) !== '.bin' && isOutside(path)
  const entries = Object.entries(env).filter(
    ([name, value]) => !programs.includes(name) || isOutside(value),
  )
  const placed = entries.map(([name, value]): [string, string] => {
    if (name.toUpperCase() !== 'PATH') return [name, value]
    // An empty PATH would be the current folder.
    return [name, value.split(delimiter).filter(isForeign).join(delimiter) || '/nonexistent']
  })
  const isUserOutside = userSettings.every((name) => {
    const value = env[name]
    return value === undefined || value === nowhere || isOutside(value)
  })
  return {
    ...Object.fromEntries(placed),
    ...(isUserOutside ? {} : { GIT_CONFIG_GLOBAL: nowhere }),
    GIT_DIR: gitFolder,
    ...(workTree === null ? {} : { GIT_WORK_TREE: workTree }),
  }
}

/** Variables for git, its credential helpers and ssh; they get no others. */
const passed = new Set(
  [
    'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP LANG',
    'XDG_CONFIG_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS',
    'SYSTEMROOT WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES',
    'HOMEDRIVE HOMEPATH SUDO_UID',
    'SSH_AUTH_SOCK SSH_AGENT_PID GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_ASKPASS GIT_EXEC_PATH',
    'GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_CONFIG_COUNT GIT_ALLOW_PROTOCOL',
    'GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL EMAIL',
    'GIT_SSL_CAINFO GIT_SSL_CAPATH GIT_SSL_NO_VERIFY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE',
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY',
    'GH_TOKEN GITHUB_TOKEN GITLAB_TOKEN CI_JOB_TOKEN SYSTEM_ACCESSTOKEN',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Builds the environment of git's processes. It omits variables that redirect git, which git sets
 * for its hooks, and every variable that contains the service's token. Git and ssh must not prompt:
 * there may be no terminal.
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
 * Forbids ssh to prompt, unless the user has settings for ssh.
 *
 * @param settings lines of `git config --get-regexp`, with those of `core.sshCommand`
 */
export function withQuietSsh(
  env: Record<string, string>,
  settings: string[],
): Record<string, string> {
  if (env['GIT_SSH_COMMAND'] !== undefined || env['GIT_SSH'] !== undefined) return env
  const set = settings.some((line) => /^core\.sshcommand( |$)/.test(line))
  return set ? env : { ...env, GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' }
}
