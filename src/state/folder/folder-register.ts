import { join } from 'node:path'
import type { Disk } from './disk.ts'
import { DurableFolders } from './durable-folders.ts'
import { createSerialQueue } from '../serial-queue.ts'
import type { Register } from '../register.ts'

/** A register that knows whether it is still as this process left it. */
export interface FolderRegister extends Register {
  /**
   * Whether somebody else has changed it since this process did; false where this process never
   * has.
   */
  hasChanged(): Promise<boolean>
}

/**
 * A register in a folder: `<n>.json`, of which the highest number counts. A file takes its name
 * with its whole text, and a file system gives a name only once, so that of two that change the
 * same state one wins.
 */
export function createFolderRegister(
  disk: Disk,
  folder: string,
  temporary: string,
): FolderRegister {
  const made = new DurableFolders(disk, folder)
  const turn = createSerialQueue()
  let own: number | null = null
  const highest = async () => Math.max(0, ...(await disk.list(folder)).map(numberOf))
  const pathOf = (number: number) => join(folder, `${number}.json`)
  return {
    location: folder,
    isLocal: true,
    read: async () => {
      for (;;) {
        const number = await highest()
        if (number === 0) return { version: null, text: null }
        const text = await disk.read(pathOf(number))
        // Swept by somebody who has put a later one.
        if (text !== null) return { version: String(number), text: text === '' ? null : text }
      }
    },
    compareAndSwap: (version, text) =>
      turn(async () => {
        const number = Number(version ?? 0) + 1
        await made.ensure(folder)
        const draft = join(folder, `${temporary}.tmp`)
        await disk.remove(draft)
        await disk.create(draft, text ?? '')
        await disk.sync(draft)
        const won = await disk.link(draft, pathOf(number))
        if (won) own = number
        await disk.remove(draft)
        // Who was asleep for long may have taken a number that was swept.
        if (!won || (await highest()) !== number) return null
        await disk.sync(folder)
        for (const name of await disk.list(folder))
          if (numberOf(name) > 0 && numberOf(name) < number - 1)
            await disk.remove(join(folder, name))
        return String(number)
      }),
    hasChanged: () => turn(async () => own !== null && (await highest()) !== own),
  }
}

function numberOf(name: string): number {
  return /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : 0
}
