import { watch } from 'node:fs'
import { join } from 'node:path'
import { exists, findCode } from './look.ts'

/**
 * Watches files below some folders of a root until it is closed. Changes within a short time are
 * reported once. A folder that does not exist yet is not watched.
 *
 * @param folders relative to the root; '' for the files directly in it
 * @param onChange called some time after the last change
 * @param settleMs that time
 * @returns a function that ends it
 */
export function watchBelow(
  root: string,
  folders: string[],
  onChange: () => void,
  settleMs = 100,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const report = (_: string, name: string | null) => {
    if (name !== null && !/\.ya?ml$/.test(name)) return
    clearTimeout(timer)
    timer = setTimeout(onChange, settleMs)
  }
  const watchers = folders
    .map((folder) => ({ path: join(root, folder), recursive: folder !== '' }))
    .filter(({ path }) => exists(path))
    .map(({ path, recursive }) =>
      // A folder that is removed ends its own watch; other folders go on.
      watch(path, { recursive }, report).on('error', findCode),
    )
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
