import { formatLockHolder, parseLock } from './format/lock-file.ts'

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
