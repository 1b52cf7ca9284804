import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GitRepository } from '../../src/state/git/git-repository.ts'
import type { StateKey } from '../../src/state/store.ts'
import { buildOldAddressName, buildStatePaths } from '../../src/state/format/state-paths.ts'

/** Moves stored files to the paths of earlier programs, which had a path for each spelling. */
export function moveToOldPaths(folder: string, id: string, address: string, spelling = address) {
  const paths = buildStatePaths({ id, address })
  const name = buildOldAddressName(spelling)
  const rename = (from: string, to: string) => {
    if (!existsSync(join(folder, from))) return
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    renameSync(join(folder, from), join(folder, to))
  }
  const text = readFileSync(join(folder, paths.address), 'utf8')
  rename(paths.home, `${id}/${name}`)
  rename(paths.doubts, `${id}/doubts/${name}`)
  rmSync(join(folder, paths.address))
  writeFileSync(join(folder, paths.addresses, `${name}.json`), text.replace(address, spelling))
}

/** Does the same on a branch of the remote of a clone. */
export async function moveBranchToOldPaths(git: GitRepository, branch: string, key: StateKey) {
  const ref = `refs/heads/${branch}`
  const tip = await git.fetch(ref)
  if (tip === null) throw new Error('expected a branch on the remote')
  await git.push(ref, tip, await commitAtOldPaths(git, tip, tip, key))
}

/** Does the same with the unshared commits of a clone, too: its branch is one commit ahead. */
export async function moveCloneToOldPaths(git: GitRepository, branch: string, key: StateKey) {
  const ref = `refs/heads/${branch}`
  const local = await git.findTip(ref)
  if (local === null) throw new Error('expected a branch in the clone')
  await moveBranchToOldPaths(git, branch, key)
  const shared = await git.fetch(ref)
  await git.move(ref, local, await commitAtOldPaths(git, local, shared, key))
}

/** Commits the files of a commit at old paths. */
async function commitAtOldPaths(
  git: GitRepository,
  from: string,
  parent: string | null,
  key: StateKey,
): Promise<string> {
  const paths = buildStatePaths(key)
  const name = buildOldAddressName(key.address)
  const find = async (path: string) => ({ id: (await git.findId(from, path)) ?? '' })
  const changes = new Map([
    [`${key.id}/${name}`, await find(paths.home)],
    [`${key.id}/addresses/${name}.json`, await find(paths.address)],
    [paths.home, null],
    [paths.address, null],
  ])
  return git.commit(parent, changes, 'As earlier programs did')
}
