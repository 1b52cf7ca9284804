import type { LockFile } from '../../generated/state-types.ts'
import { formatTime } from '../../model/format-time.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../model/json.ts'

/** The holder of a lock. */
export interface LockHolder {
  /** Identifies this use of the lock; unique. */
  token: string
  /** User and machine. */
  who: string
  reason: string
  /** ISO 8601. */
  since: string
  /** Boot and process namespace of the machine, within which `pid` is meaningful. */
  boot: string
  namespace: string
  pid: number
  /** Start of the process, since pids are reused; empty if unknown. */
  started: string
  /** Time after its start within which a call may take effect, ms; null if unknown. */
  lateMs: number | null
}

/** Content of a lock. */
export interface LockState {
  /** Null if the lock is free. */
  holder: LockHolder | null
  /** Former holders whose lock was removed, and who may not have noticed it yet. */
  revoked: LockHolder[]
}

/** Formats a lock; null if nothing has to be stored. */
export function formatLock({ holder, revoked }: LockState, beat: number): string | null {
  if (holder === null && revoked.length === 0) return null
  const marks = revoked.map(withoutNull)
  const file: LockFile = {
    format: 'edgewise.lock/2',
    ...(holder === null ? {} : { ...withoutNull(holder), beat }),
    revoked: marks,
  }
  return `${JSON.stringify(file)}\n`
}

function withoutNull({ lateMs, ...holder }: LockHolder): Omit<LockHolder, 'lateMs'> {
  return { ...holder, ...(lateMs === null ? {} : { lateMs }) }
}

/**
 * Parses a lock of any version. Version 1 has no `format`, `revoked`, `started` and `lateMs`. An
 * unreadable text counts as a holder: some process wrote it.
 */
export function parseLock(text: string | null): LockState {
  if (text === null) return { holder: null, revoked: [] }
  const parsed = parseJson(text)
  const data = parsed !== undefined && isObject(parsed) ? parsed : {}
  const marks: Json = data['revoked'] ?? null
  const revoked = Array.isArray(marks) ? marks.filter(isObject).map(parseHolder) : []
  const isFree = Array.isArray(marks) && data['token'] === undefined
  return { holder: isFree ? null : parseHolder(data), revoked }
}

function parseHolder(data: JsonObject): LockHolder {
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : '')
  const { pid, lateMs } = data
  return {
    token: text('token'),
    who: text('who') || 'an unknown user',
    reason: text('reason') || 'no reason given',
    since: text('since') || 'an unknown time',
    boot: text('boot'),
    namespace: text('namespace'),
    pid: typeof pid === 'number' ? pid : 0,
    started: text('started'),
    lateMs: typeof lateMs === 'number' && lateMs >= 0 ? lateMs : null,
  }
}

/** Formats a lock holder. */
export function formatLockHolder({ who, pid, since, reason }: LockHolder): string {
  return `${who} (process ${pid}, since ${formatTime(since)}, ${reason})`
}
