import { chmod, mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getProcessId, isDead, parseProcessId, type Machine } from '../../state/locks/machine.ts'

const prefix = 'run-'
const ownerFile = 'process.json'
/** A folder that no process has marked for this time is nobody's, ms. */
const abandonedMs = 86_400_000

/**
 * Creates the folder of this process in a folder that processes share, and removes those of
 * processes that have ended. On other machines and in other containers a process can't be seen: its
 * folder is removed a day after its last mark.
 */
export async function createProcessFolder(
  shared: string,
  id: string,
  machine: Machine,
  nowMs: number,
): Promise<string> {
  await mkdir(shared, { recursive: true, mode: 0o700 })
  await chmod(shared, 0o700)
  for (const name of await readdir(shared)) {
    const folder = join(shared, name)
    if (name.startsWith(prefix) && (await isAbandoned(folder, machine, nowMs)))
      await rm(folder, { recursive: true, force: true })
  }
  const own = join(shared, prefix + id)
  await mkdir(own, { mode: 0o700 })
  await writeFile(join(own, ownerFile), JSON.stringify(getProcessId(machine)))
  return own
}

/** Marks the folder of a process as in use. */
export async function markProcessFolder(folder: string, nowMs: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await utimes(folder, nowMs / 1000, nowMs / 1000)
}

async function isAbandoned(folder: string, machine: Machine, nowMs: number): Promise<boolean> {
  try {
    // Null if the process was killed while it wrote it.
    const owner = parseProcessId(await readFile(join(folder, ownerFile), 'utf8'))
    if (owner !== null && isDead(owner, machine)) return true
  } catch (error) {
    // The process is about to create its file, or was killed before.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return null
  })
  return found !== null && nowMs - found.mtimeMs > abandonedMs
}
