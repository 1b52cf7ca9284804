import { isObject, parseJson } from '../../core/model/json.ts'
import type { LockHolder } from '../format/lock-file.ts'

/** The machine of a process, and the process itself. */
export interface Machine {
  /** Id of this boot of the machine; empty if the system reports none. */
  boot: string
  /** Id of the process namespace; empty if the system reports none. */
  namespace: string
  pid: number
  /** Start of this process; empty if the system reports none. */
  started: string
  /** Time since its boot, ms, including the time asleep, which a monotonic clock may omit. */
  uptime(): number
  /** Identifies this process among all that may write to the same folder. */
  processName: string
  /** Returns whether a process runs; with a start, whether it is still the same process. */
  isRunning(pid: number, started: string): boolean
  /** Returns whether a signal has stopped a process (SIGSTOP); absent if it can't be known. */
  isStopped?(pid: number): boolean
}

/** Identifies a process on a machine. */
export type ProcessId = Pick<LockHolder, 'boot' | 'namespace' | 'pid' | 'started'>

/** Returns the id of this process. */
export function getProcessId({ boot, namespace, pid, started }: Machine): ProcessId {
  return { boot, namespace, pid, started }
}

/** Parses the JSON of the id of a process; null for anything else. */
export function parseProcessId(text: string): ProcessId | null {
  const data = parseJson(text)
  if (data === undefined || !isObject(data)) return null
  const { boot, namespace, pid, started } = data
  const isKnown =
    typeof boot === 'string' &&
    typeof namespace === 'string' &&
    typeof pid === 'number' &&
    typeof started === 'string'
  return isKnown ? { boot, namespace, pid, started } : null
}

/** Returns whether a process, such as that of a lock holder, has certainly ended. */
export function isDead({ boot, namespace, pid, started }: ProcessId, machine: Machine): boolean {
  const here = boot !== '' && boot === machine.boot && namespace === machine.namespace
  return here && !machine.isRunning(pid, started)
}

/**
 * Returns whether the process of a holder runs on this machine. A system without an id of its boot
 * is recognized by the name of user and machine.
 */
export function isAliveHere(holder: LockHolder, machine: Machine, user: string): boolean {
  const { boot, namespace, pid, started } = holder
  const here = boot === machine.boot && namespace === machine.namespace
  return here && (boot !== '' || holder.who === user) && machine.isRunning(pid, started)
}
