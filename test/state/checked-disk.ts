import { parseLog } from '../../src/state/format/log-file.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'

/**
 * Creates a disk that calls `check` with the path and the text of every state file that is about to
 * be written: to the file itself, or to a log.
 */
export function checkWrites(check: (path: string, text: string) => void, disk = realDisk): Disk {
  return {
    ...disk,
    create: async (path, text) => {
      check(path, text)
      return disk.create(path, text)
    },
    append: async (path, text, fence) => {
      for (const [file, after] of parseLog(path, text).flatMap((changes) => [...changes]))
        if (after !== null) check(`/${file}`, after)
      return disk.append(path, text, fence)
    },
  }
}
