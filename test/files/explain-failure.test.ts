import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { describeUnwritten, explainFailure } from '../../src/files/explain-failure.ts'
import { adviseRemote } from '../../src/state/git/advise-remote.ts'
import { createGitError, formatGitError } from '../../src/state/git/git-command.ts'

const sources = new URL('../../src', import.meta.url).pathname
const failed = (err: string) => ({ code: 128, out: Buffer.alloc(0), err })

const objects = '/home/me/cdn/.git/objects'
it.each([
  [`fatal: sha1 file '${objects}/pack/tmp_pack_J' write error. Out of diskspace\n`, 'disk is full'],
  ['fatal: unable to write loose object file: No space left on device\n', 'the disk is full'],
  ["fatal: cannot create '.git/x.lock': Disk quota exceeded\n", 'the quota of the disk is used up'],
  [
    `fatal: Unable to create temporary file '${objects}/pack/tmp_pack_X': Read-only file system\n`,
    'the file system is read-only',
  ],
  [
    `fatal: Unable to create temporary file '${objects}/pack/tmp': Permission denied\nnext: x`,
    'no permission',
  ],
  [
    'error: insufficient permission for adding an object to repository database .git/objects\n',
    'no permission',
  ],
  ["fatal: Unable to create '.git/index.lock': Operation not permitted\n", 'no permission'],
  [
    "fatal: update_ref failed for ref 'r': cannot lock ref 'r': unable to create directory " +
      'for /home/me/cdn/.git/refs/x\n',
    'a folder can not be created',
  ],
])('a failure of git has its cause, and does not blame the repository: %s', (err, cause) => {
  const { message, hint } = createGitError(['fast-import'], failed(err))
  expect(message).toContain(cause)
  expect(hint).toBe('Nothing more was recorded. Fix the cause, then run the same command again.')
  expect(adviseRemote('origin', formatGitError(failed(err)))).toContain(`${cause}. Fix that first.`)
})

it.each([
  'fatal: loose object 1f3c (stored in /srv/permission denied/1f/3c) is corrupt\n',
  "error: object file '/srv/full disk/.git/objects/1f/3c' is empty\n",
])('another failure of git still advises to check the repository: %s', (err) => {
  expect(createGitError(['ls-tree'], failed(err)).hint).toContain('Repair the repository')
})

it('the report of a crash that git leaves is not its reason', () => {
  const err = 'fatal: broken\nfast-import: dumping crash report to .git/fast_import_crash_1\n'
  expect(createGitError(['fast-import'], failed(err)).message).toBe(
    'git fast-import failed: broken',
  )
})

it.each([
  ['ENOSPC', "x can't be written (ENOSPC): the disk is full"],
  ['EDQUOT', "x can't be written (EDQUOT): the quota of the disk is used up"],
  ['EROFS', "x can't be written (EROFS): the file system is read-only"],
  ['EACCES', "x can't be written (EACCES): no permission"],
  ['EEXIST', "x can't be written (EEXIST)"],
  ['OUTSIDE', "x can't be written: its path leads out of the workspace through a link"],
  ['CHANGED', "x can't be written: it was changed meanwhile"],
])('%s is explained', (code, text) => {
  expect(describeUnwritten('x', code)).toBe(text)
})

it.each(['ENOSPC: no space left on device, write', 'Unknown system error -122: write'])(
  'a message of Node is explained: %s',
  (message) => expect(explainFailure(message)).not.toBeNull(),
)

it('no other file describes what can not be written', () => {
  const paths = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  const others = paths.filter((path) => {
    if (!path.endsWith('.ts')) return false
    const code = readFileSync(join(sources, path), 'utf8').replace(/^ *(\*|\/).*$/gm, '')
    return code.includes("can't be written")
  })
  expect(others.toSorted()).toEqual([
    'files/explain-failure.ts',
    // They explain the loss of a lock.
    'state/folder/folder-files.ts',
    'state/postgres/postgres-files.ts',
  ])
})
