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
  const paths = buildStatePaths(key)
  const name = buildOldAddressName(key.address)
  const tip = await git.fetch(ref)
  if (tip === null) throw new Error('expected a branch on the remote')
  const find = async (path: string) => ({ id: (await git.findId(tip, path)) ?? '' })
  const changes = new Map([
    [`${key.id}/${name}`, await find(paths.home)],
    [`${key.id}/addresses/${name}.json`, await find(paths.address)],
    [paths.home, null],
    [paths.address, null],
  ])
  await git.push(ref, tip, await git.commit(tip, changes, 'As earlier programs did'))
}
