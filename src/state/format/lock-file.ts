import type { LockFile } from '../../core/model/generated/state-types.ts'
import { formatTime } from '../../core/model/text/words.ts'
import {
  formatJson,
  isObject,
  parseJson,
  type Json,
  type JsonObject,
} from '../../core/model/json.ts'

/** The holder of a lock; its schema describes the keys. */
export type LockHolder = LockFile['revoked'][number]

/** Content of a lock. */
export interface LockState {
  /** Null if the lock is free. */
  holder: LockHolder | null
  /** Former holders whose lock was removed, and who may not have noticed it yet. */
  revoked: LockHolder[]
}

/** Assumed for a holder whose text can't be read: the default of the configuration and a half. */
const unknownLateMs = 60_000

/** Formats a lock; null if nothing has to be stored. */
export function formatLock({ holder, revoked }: LockState, beat: number): string | null {
  if (holder === null && revoked.length === 0) return null
  const file: LockFile = {
    format: 'edgewise.lock/1',
    ...(holder === null ? {} : { ...holder, beat }),
    revoked,
  }
  return formatJson(file)
}

/** Parses a lock. An unreadable text counts as a holder: some process wrote it. */
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
    lateMs: typeof lateMs === 'number' && lateMs >= 0 ? lateMs : unknownLateMs,
  }
}

/** Formats a lock holder. */
export function formatLockHolder({ who, pid, since, reason }: LockHolder): string {
  return `${who} (process ${pid}, since ${formatTime(since)}, ${reason})`
}

/** A lock as its former holder finds it. */
export interface FoundLock {
  version: string | null
  text: string | null
}

/** Explains to its former holder why a lock is lost. */
export function explainLockLoss({ version, text }: FoundLock, location: string): string {
  const { holder, revoked } = parseLock(text)
  if (holder !== null) return `the lock was lost; it is now used by ${formatLockHolder(holder)}`
  if (revoked.length > 0) return 'the lock was removed with "edgewise state unlock"'
  return version === null ? `the lock ${location} was deleted` : 'the lock was removed'
}
