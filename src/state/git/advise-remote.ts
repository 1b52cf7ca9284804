import { explainFailure } from '../../files/explain-failure.ts'

/** How a user checks a remote: a command that must work, and what shows its address. */
interface Check {
  command: string
  address: string
}

/** Causes by git's or ssh's message, the first that matches, each with its advice. */
const advices: [RegExp, (check: Check) => string][] = [
  [
    /HOST IDENTIFICATION HAS CHANGED/,
    () =>
      "The server's ssh key is not the one in known_hosts. Ask the server's operator whether it " +
      'was changed; only then replace it: "ssh-keygen -R HOST", then "ssh HOST" in a terminal.',
  ],
  [
    /host key/i,
    () =>
      'Add the ssh key of the server to known_hosts: run "ssh HOST" in a terminal and compare ' +
      'the fingerprint, or store the published key in the job.',
  ],
  [
    /Permission denied \(/,
    ({ command }) =>
      'Provide an ssh key that the server accepts, by ssh-agent or the setting core.sshCommand ' +
      `of git, without a prompt. "${command}" must work.`,
  ],
  [
    /Authentication failed|could not read (Username|Password)|error: 401/,
    ({ command }) =>
      'Provide a valid user name and password or token by a credential helper of git ' +
      `(credential.helper), without a prompt. "${command}" must work.`,
  ],
  [
    new RegExp(
      [
        'resolve host|failed to connect|connect to (host|server)',
        'connection (refused|timed out|reset)|unreachable',
        "does not appear to be a git repository|repository '.*' not found",
      ].join('|'),
      'i',
    ),
    ({ address }) =>
      `Check the network and the address of the remote (${address}), then run the same command ` +
      'again.',
  ],
]

/**
 * Finds the advice for a failed call to a remote; undefined for an unknown cause.
 *
 * @param reason the formatted message of git
 */
export function findAdvice(check: Check, reason: string): string | undefined {
  const known = advices.find(([pattern]) => pattern.test(reason))
  const cause = known === undefined ? explainFailure(reason) : null
  return cause === null ? known?.[1](check) : `Here or on the server: ${cause}. Fix that first.`
}

/**
 * Advises what to do about a failed call to the remote of the state.
 *
 * @param reason the formatted message of git
 */
export function adviseRemote(remote: string, reason: string): string {
  const check = { command: `git fetch ${remote}`, address: `"git remote get-url ${remote}"` }
  return (
    findAdvice(check, reason) ??
    `Check that "${check.command}" works and that you may push branches and refs/edgewise/…: ` +
      'the state needs both.'
  )
}
