// @module-tag often
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GitSandbox } from '../state/git-sandbox.ts'
import { Place } from './cli.ts'
import { emulator, setStage } from './stage.ts'

let sandbox: GitSandbox
setStage()
beforeEach(() => {
  sandbox = new GitSandbox()
})
afterEach(() => sandbox.remove())

/** Lines of a shell script that end a process of git which gets no repository. */
const refuseUnplaced = `case "$*" in *safe.bareRepository=explicit*) ;; *) exit 99 ;; esac
[ -n "$GIT_DIR" ] || exit 99
case "$*" in *'init '*--bare*) ;; *) [ -n "$GIT_WORK_TREE" ] || exit 99 ;; esac
`

/** Creates a workspace whose git processes are counted. One that could find a repository fails. */
function countIn(root: string): { place: Place; count: (...args: string[]) => Promise<object> } {
  const log = join(sandbox.folder, 'log')
  const bin = join(sandbox.folder, 'bin')
  const path = sandbox.env['PATH'] ?? ''
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\necho "$*" >> ${log}\n${refuseUnplaced}PATH="${path}" exec git "$@"\n`,
    { mode: 0o755 },
  )
  const place = new Place(emulator.url, '', { root, state: '' })
  place.env = { ...place.env, ...sandbox.env, PATH: `${bin}:${path}` }
  const count = async (...args: string[]) => {
    rmSync(log, { force: true })
    expect(await place.cli(...args)).toMatchObject({ code: 0 })
    const counts: Record<string, number> = {}
    for (const line of readFileSync(log, 'utf8').trim().split('\n')) {
      const command = line.replace(/^(-c \S+ ?)+/, '').split(' ')[0] ?? ''
      counts[command] = (counts[command] ?? 0) + 1
    }
    return counts
  }
  return { place, count }
}

describe('git processes of a command', () => {
  it('are 11 for a plan and 35 for an apply of one write, with a remote', async () => {
    const { place, count } = countIn(await sandbox.withRemote())
    await place.manifest('a.example.com', { timeout: { time: '10' } }).settle()
    place.manifest('a.example.com', { timeout: { time: '11' } })
    expect(await count('plan')).toEqual({
      'rev-parse': 1,
      // The commit, with its author and subject.
      'rev-list': 1,
      config: 1,
      'for-each-ref': 1,
      // The state, and whether somebody stopped all writes.
      'ls-remote': 2,
      'ls-tree': 2,
      // The state, and the applies in its journal.
      'cat-file': 2,
      // Whether the manifests are those of the commit.
      'hash-object': 1,
    })
    expect(await count('apply', '--yes')).toEqual({
      'rev-parse': 1,
      // The commit, with its author and subject.
      'rev-list': 1,
      config: 1,
      // The state as loaded; before each push of it, what this clone has seen since.
      'for-each-ref': 3,
      // Acquire the lock, load the state, release the lock; three looks for a stop.
      'ls-remote': 6,
      // The state as loaded, its folder after the intent, and the journal at the end.
      'ls-tree': 4,
      'cat-file': 3,
      'hash-object': 1,
      var: 1,
      worktree: 1,
      // The lock, the intent, the outcome, the end.
      'fast-import': 4,
      // The lock, the intent, the end with the outcome, the lock's release.
      push: 4,
      // Intent: the check before it is pushed, both refs after it. End: both refs.
      'update-ref': 5,
    })
  })

  it('are 10 for a plan and 27 for an apply of one write, without a remote', async () => {
    const { place, count } = countIn(await sandbox.repository('alone'))
    await place.manifest('a.example.com', { timeout: { time: '10' } }).settle()
    place.manifest('a.example.com', { timeout: { time: '11' } })
    expect(await count('plan')).toEqual({
      'rev-parse': 1,
      // The commit, with its author and subject.
      'rev-list': 1,
      config: 1,
      // The state, and whether somebody stopped all writes.
      'for-each-ref': 2,
      'ls-tree': 2,
      // The state, and the applies in its journal.
      'cat-file': 2,
      // Whether the manifests are those of the commit.
      'hash-object': 1,
    })
    expect(await count('apply', '--yes')).toEqual({
      'rev-parse': 1,
      // The commit, with its author and subject.
      'rev-list': 1,
      config: 1,
      // Acquire the lock, load the state, release the lock; three looks for a stop.
      'for-each-ref': 6,
      'ls-tree': 4,
      'cat-file': 3,
      'hash-object': 1,
      var: 1,
      worktree: 1,
      'fast-import': 4,
      'update-ref': 4,
    })
  })
})
