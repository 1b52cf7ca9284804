import { hash } from 'node:crypto'
import { join } from 'node:path'
import { attempt, findCacheFolder, loadOwn, replaceOwn } from '../files/cache-folder.ts'
import { findRealPath } from '../files/look.ts'
import type { CacheFile } from '../manifest/cache/cache-file.ts'
import type { CachePart, Outside, UserCache } from './outside.ts'

/** Number of files: two or three of each workspace. */
const maxFiles = 48

/**
 * Creates the cache in the folder of the user, where `findCacheFolder` finds one: a checkout must
 * not be able to bring a cache. Where the file system fails, there is no cache.
 */
export function createUserCache(env: Outside['env']): UserCache {
  return { open: (root, part) => attempt(() => openFile(env, root, part)) }
}

function openFile(env: Outside['env'], root: string, part: CachePart): CacheFile | null {
  const folder = findCacheFolder(env)
  if (folder === null) return null
  const name = `${hash('sha256', `${part} ${findRealPath(root)}`).slice(0, 32)}.json`
  return {
    load: () => attempt(() => loadOwn(join(folder, name))?.toString('utf8') ?? null),
    save: (text) => {
      attempt(() => replaceOwn(folder, name, text, /[0-9a-f]{32}\.json/, maxFiles))
    },
  }
}
