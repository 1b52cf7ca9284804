import { watch } from 'node:fs'
import { join, sep } from 'node:path'
import { exists, findCode } from './look.ts'

/**
 * Watches files below some folders of a root until it is closed. Changes within a short time are
 * reported once. A folder that does not exist yet is not watched.
 *
 * @param folders relative to the root; '' for the files directly in it
 * @param isWatched tests a path below the root
 * @param onChange called some time after the last change
 * @param settleMs that time
 * @returns a function that ends it
 */
export function watchBelow(
  root: string,
  folders: string[],
  isWatched: (path: string) => boolean,
  onChange: () => void,
  settleMs = 100,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const watchers = folders
    .filter((folder) => exists(join(root, folder)))
    .map((folder) =>
      // A folder that is removed ends its own watch; other folders go on.
      watch(join(root, folder), { recursive: folder !== '' }, (_, name) => {
        if (name !== null && !isWatched(folder + name.replaceAll(sep, '/'))) return
        clearTimeout(timer)
        timer = setTimeout(onChange, settleMs)
      }).on('error', findCode),
    )
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
