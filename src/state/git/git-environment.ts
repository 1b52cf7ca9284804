/**
 * Settings of every git process. They disable hooks and the file system monitor, which are for the
 * user's own work, and settings that change pushes and fetches. A remote whose address is a command
 * (`ext::`) needs the variable GIT_ALLOW_PROTOCOL.
 */
export const gitSettings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=committed',
  'protocol.ext.allow=never',
  'push.gpgSign=false',
  'gc.auto=0',
  'maintenance.auto=false',
]

/** Variables for git, its credential helpers and ssh; they get no others. */
const passed = new Set(
  [
    'PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP LANG',
    'XDG_CONFIG_HOME XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS',
    'SYSTEMROOT WINDIR COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES',
    'HOMEDRIVE HOMEPATH',
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
