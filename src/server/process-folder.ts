import { chmod, mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDead, type Machine, type ProcessId } from '../state/machine.ts'

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
  const { boot, namespace, pid, started } = machine
  const owner: ProcessId = { boot, namespace, pid, started }
  await writeFile(join(own, ownerFile), JSON.stringify(owner))
  return own
}

/** Marks the folder of a process as in use. */
export async function markProcessFolder(folder: string, nowMs: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await utimes(folder, nowMs / 1000, nowMs / 1000)
}

async function isAbandoned(folder: string, machine: Machine, nowMs: number): Promise<boolean> {
  try {
    const owner = parseOwner(await readFile(join(folder, ownerFile), 'utf8'))
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

/** Parses the file of an owner; null if a process was killed while it wrote it. */
function parseOwner(text: string): ProcessId | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
  if (typeof value !== 'object' || value === null) return null
  const { boot, namespace, pid, started } = value as Record<string, unknown>
  return typeof boot === 'string' &&
    typeof namespace === 'string' &&
    typeof pid === 'number' &&
    typeof started === 'string'
    ? { boot, namespace, pid, started }
    : null
}
