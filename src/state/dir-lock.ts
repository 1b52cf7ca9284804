import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../model/json.ts'
import { parseJson } from './domain-file.ts'
import { leaseMs, type Holder, type Lease, type Lock, type LockClock } from './lock.ts'

const beatMs = leaseMs / 5
const litterMs = 24 * 60 * 60 * 1000

/**
 * A lock in a folder. `holder.json` says who holds it; `<token>.beat` changes while the holder lives; making the folder
 * `<token>.over` is the right to end that holding, which the file system gives only once. So neither a slow holder nor
 * two successors at a time can take away a lock that somebody else holds by then.
 */
export function openDirLock(folder: string): Lock {
  const file = join(folder, 'holder.json')
  return {
    location: folder,
    read: () => readHolder(file),
    beat: (token) => textOf(join(folder, `${token}.beat`)),
    take: (holder, clock) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      sweep(folder, clock.now())
      try {
        writeFileSync(file, JSON.stringify(holder), { flag: 'wx', mode: 0o600 })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null
        throw error
      }
      return hold(folder, file, holder.token, clock)
    },
    succeed: (former, holder, clock) => {
      if (!end(folder, former.token)) return null
      const own = join(folder, `${holder.token}.new`)
      writeFileSync(own, JSON.stringify(holder), { flag: 'wx', mode: 0o600 })
      renameSync(own, file)
      return hold(folder, file, holder.token, clock)
    },
    remove: (former) => {
      if (end(folder, former.token)) rmSync(file, { force: true })
    },
  }
}

/** Holds the lock: its beat goes on until it is released. */
function hold(folder: string, file: string, token: string, clock: LockClock): Lease {
  const beatFile = join(folder, `${token}.beat`)
  const released = new AbortController()
  let [beats, lastBeat] = [0, clock.monotonic()]
  const mine = () => readHolder(file)?.token === token && !existsSync(join(folder, `${token}.over`))
  const beat = () => {
    if (!mine()) return
    writeFileSync(beatFile, String(++beats))
    lastBeat = clock.monotonic()
  }
  beat()
  const beating = (async () => {
    while (!released.signal.aborted) {
      await clock.sleep(beatMs, released.signal)
      if (!released.signal.aborted) beat()
    }
  })()
  return {
    leftMs: () => (mine() ? leaseMs - (clock.monotonic() - lastBeat) : 0),
    release: async () => {
      released.abort()
      await beating
      if (mine() && end(folder, token)) rmSync(file, { force: true })
      rmSync(beatFile, { force: true })
    },
  }
}

/** Takes the right to end a holding; false when somebody has taken it before. */
function end(folder: string, token: string): boolean {
  try {
    mkdirSync(join(folder, `${token}.over`))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What earlier holdings left is kept a day, so that nobody who read of one can end it twice. */
function sweep(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (/\.(over|beat|new)$/.test(name) && now - statSync(path).mtimeMs > litterMs) rmSync(path, { recursive: true, force: true })
  }
}

function readHolder(file: string): Holder | null {
  const data = parseJson(textOf(file) ?? 'null')
  if (data === undefined || !isObject(data) || typeof data['token'] !== 'string' || !/^[\w-]+$/.test(data['token'])) return null
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : '')
  return {
    token: data['token'],
    who: text('who'),
    reason: text('reason'),
    since: text('since'),
    boot: text('boot'),
    namespace: text('namespace'),
    pid: typeof data['pid'] === 'number' ? data['pid'] : 0,
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
