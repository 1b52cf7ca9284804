import type { Write } from '../../core/model/change.ts'
import type { ApplyCounts, Outcome, OutcomeCounts } from '../../core/model/outcome.ts'

/** Writes and parts that get another outcome. */
export interface Move {
  from: keyof OutcomeCounts
  to: keyof OutcomeCounts
  writes: number
  parts: number
}

/** Creates the counts of an apply that has not begun any of its writes. */
export function createCounts(writes: Write[]): ApplyCounts {
  return {
    writes: { ...createEmptyCounts(), notSent: writes.length },
    parts: { ...createEmptyCounts(), notSent: countParts(writes) },
  }
}

export function createEmptyCounts(): OutcomeCounts {
  return { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
}

/** Counts the items of all domains of writes. */
export function countParts(writes: Pick<Write, 'domains' | 'items'>[]): number {
  return writes.reduce(
    (sum, { domains, items }) => sum + domains.length * Object.keys(items).length,
    0,
  )
}

/**
 * Returns whether everything is confirmed: all writes, and the parts that were left out of
 * confirmed ones.
 */
export function isAllConfirmed(writes: OutcomeCounts, parts: OutcomeCounts): boolean {
  return writes.refused + writes.inDoubt + writes.notSent + parts.notSent === 0
}

/** Returns the move of whole writes. */
export function moveWrites(writes: Write[], from: Move['from'], to: Move['to']): Move {
  return { from, to, writes: writes.length, parts: countParts(writes) }
}

/** Returns the counts after moves. Their sums stay the same. */
export function moveCounts(counts: ApplyCounts, moves: Move[]): ApplyCounts {
  const [writes, parts] = [{ ...counts.writes }, { ...counts.parts }]
  for (const move of moves) {
    writes[move.from] -= move.writes
    writes[move.to] += move.writes
    parts[move.from] -= move.parts
    parts[move.to] += move.parts
  }
  return { writes, parts }
}

/** Returns the name of the count of an outcome. */
export function nameCount({ kind }: Exclude<Outcome, { kind: 'throttled' }>): Move['to'] {
  return kind === 'in-doubt' ? 'inDoubt' : kind === 'not sent' ? 'notSent' : kind
}
