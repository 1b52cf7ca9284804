import { expect, it } from 'vitest'
import { adviseRemote } from '../../src/state/git/advise-remote.ts'
import { formatGitError } from '../../src/state/git/git-command.ts'

const unreadable =
  'fatal: Could not read from remote repository.\n\n' +
  'Please make sure you have the correct access rights\nand the repository exists.\n'
const frame = '@'.repeat(59)
const changed =
  `${frame}\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\n${frame}\n` +
  'IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!\n'

const format = (err: string) => formatGitError({ code: 128, out: Buffer.alloc(0), err })

it.each([
  [
    "fatal: Authentication failed for 'http://git.example.com/x.git/'\n",
    "Authentication failed for 'http://git.example.com/x.git/'",
    'valid user name and password or token',
  ],
  [
    "fatal: could not read Password for 'http://user@git.example.com': terminal prompts disabled\n",
    "could not read Password for 'http://git.example.com': terminal prompts disabled",
    'valid user name and password or token',
  ],
  [
    "fatal: unable to access 'http://git.example.com/x/': The requested URL returned error: 403",
    "unable to access 'http://git.example.com/x/': The requested URL returned error: 403",
    'may push branches and refs/edgewise/…',
  ],
  [
    `git@git.example.com: Permission denied (publickey).\r\n${unreadable}`,
    'git@git.example.com: Permission denied (publickey).',
    'an ssh key that the server accepts',
  ],
  [
    'No ED25519 host key is known for git.example.com and you have requested strict checking.\r\n' +
      `Host key verification failed.\r\n${unreadable}`,
    'No ED25519 host key is known for git.example.com and you have requested strict checking.; ' +
      'Host key verification failed.',
    'known_hosts',
  ],
  [
    `${changed}Host key verification failed.\r\n${unreadable}`,
    'WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!; ' +
      'IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!; Host key verification failed.',
    '"ssh-keygen -R HOST"',
  ],
  [
    `ssh: connect to host git.example.com port 22: Connection refused\r\n${unreadable}`,
    'ssh: connect to host git.example.com port 22: Connection refused',
    '"git remote get-url origin"',
  ],
  [
    "fatal: unable to access 'http://git.example.com/x/': Could not resolve host: git.example.com",
    "unable to access 'http://git.example.com/x/': Could not resolve host: git.example.com",
    '"git remote get-url origin"',
  ],
  [
    "fatal: '/x.git' does not appear to be a git repository\n" + unreadable,
    "'/x.git' does not appear to be a git repository",
    '"git remote get-url origin"',
  ],
  [unreadable, 'Could not read from remote repository.', '"git fetch origin" works'],
  ['error: remote unpack failed\n', 'remote unpack failed', '"git fetch origin" works'],
])('a remote that fails with %j is explained', (err, reason, advice) => {
  expect(format(err)).toBe(reason)
  expect(adviseRemote('origin', format(err))).toContain(advice)
})
