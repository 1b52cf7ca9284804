/** Causes by git's or ssh's message, the first that matches, each with its advice. */
const advices: [RegExp, (remote: string) => string][] = [
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
    (remote) =>
      'Provide an ssh key that the server accepts, by ssh-agent or the setting core.sshCommand ' +
      `of git, without a prompt. "git fetch ${remote}" must work.`,
  ],
  [
    /Authentication failed|could not read (Username|Password)|error: 401/,
    (remote) =>
      'Provide a valid user name and password or token by a credential helper of git ' +
      `(credential.helper), without a prompt. "git fetch ${remote}" must work.`,
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
    (remote) =>
      `Check the network and the address of the remote ("git remote get-url ${remote}"), then ` +
      'run the same command again.',
  ],
]

/**
 * Advises what to do about a failed call to a remote.
 *
 * @param reason the formatted message of git
 */
export function adviseRemote(remote: string, reason: string): string {
  const advice = advices.find(([pattern]) => pattern.test(reason))?.[1]
  return (
    advice?.(remote) ??
    `Check that "git fetch ${remote}" works and that you may push branches and refs/edgewise/…: ` +
      'the state needs both.'
  )
}
