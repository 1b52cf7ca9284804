import { join } from 'node:path'
import { findMax } from '../../core/model/lists.ts'
import type { Disk, Fence } from './disk.ts'
import { createSerialQueue } from '../store/serial-queue.ts'
import type { Register } from '../store/register.ts'
import { DurableFolders } from './write-file.ts'

/** A register that detects changes by other processes. */
export interface FolderRegister extends Register {
  /**
   * Does some work behind a fence that breaks as soon as another process changes the register;
   * without one if this process never has.
   */
  behindFence<T>(work: (fence?: Fence) => Promise<T>): Promise<T>
  /** Tests whether no other process has changed the register since this one did. */
  isIntact(): Promise<boolean>
  /** Returns the number of the last file that this process wrote; null if it never did. */
  getNumber(): number | null
}

/**
 * Creates a register in a folder: `<n>.json`, of which the highest number counts. A file gets its
 * name together with its whole text, and a file system assigns a name only once: of two processes
 * that change the same version, one wins.
 */
export function createFolderRegister(
  disk: Disk,
  folder: string,
  temporary: string,
): FolderRegister {
  const folders = new DurableFolders(disk, folder)
  const queue = createSerialQueue()
  let own: number | null = null
  const findHighest = async () => findMax((await disk.list(folder)).map(parseNumber), 0)
  const buildPath = (number: number) => join(folder, `${number}.json`)
  return {
    location: folder,
    read: async () => {
      for (;;) {
        const number = await findHighest()
        if (number === 0) return { version: null, text: null }
        const text = await disk.read(buildPath(number))
        // Another process has removed it after writing a later version.
        if (text !== null) return { version: String(number), text: text === '' ? null : text }
      }
    },
    compareAndSwap: (version, text) =>
      queue(async () => {
        const number = Number(version ?? 0) + 1
        await folders.ensure(folder)
        const draft = join(folder, `${temporary}.tmp`)
        await disk.remove(draft)
        await disk.create(draft, text ?? '')
        await disk.sync(draft)
        const won = await disk.link(draft, buildPath(number))
        if (won) own = number
        await disk.remove(draft)
        // A process that was asleep for long may have written a number that was removed already.
        if (!won || (await findHighest()) !== number) return null
        await disk.sync(folder)
        for (const name of await disk.list(folder))
          if (parseNumber(name) > 0 && parseNumber(name) < number - 1)
            await disk.remove(join(folder, name))
        return String(number)
      }),
    behindFence: (work) => queue(() => work(own === null ? undefined : createFence(folder, own))),
    isIntact: () => queue(async () => own === null || (await findHighest()) === own),
    getNumber: () => own,
  }
}

function createFence(folder: string, own: number): Fence {
  return { folder, isIntact: (names) => findMax(names.map(parseNumber), 0) === own }
}

function parseNumber(name: string): number {
  return /^[1-9]\d{0,14}\.json$/.test(name) ? Number.parseInt(name, 10) : 0
}
