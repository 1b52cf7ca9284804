import { hash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { attempt, findCacheFolder, loadOwn, replaceOwn } from '../files/cache-folder.ts'
import { isInside } from '../files/is-inside.ts'
import type { CacheFile } from '../manifest/cache/cache-file.ts'
import { findRepositoryFolder } from '../state/git/find-repository-folder.ts'
import type { CachePart, Outside, UserCache } from './outside.ts'

/** Number of files: two or three of each workspace. */
const maxFiles = 48

/**
 * Creates the cache in the folder of the user. The folder counts only if it belongs to this user,
 * nobody else can write to it, and it is outside of the workspace and of the repository around it:
 * a checkout must not be able to bring a cache. Where the file system fails, there is no cache.
 */
export function createUserCache(env: Outside['env']): UserCache {
  return { open: (root, part) => attempt(() => openFile(env, root, part)) }
}

function openFile(env: Outside['env'], root: string, part: CachePart): CacheFile | null {
  const folder = findCacheFolder(env)
  if (folder === null || isInside(findRepositoryFolder(root) ?? root, folder)) return null
  const name = `${hash('sha256', `${part} ${realpathSync(root)}`).slice(0, 32)}.json`
  return {
    load: () => attempt(() => loadOwn(join(folder, name))?.toString('utf8') ?? null),
    save: (text) => {
      attempt(() => replaceOwn(folder, name, text, /[0-9a-f]{32}\.json/, maxFiles))
    },
  }
}
