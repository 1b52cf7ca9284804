import type { JournalEntry } from '../format/journal.ts'
import type { Batch } from './store.ts'

/** Writes of a running apply whose outcome is recorded, and its batches with others. */
export interface SettledWrites extends Pick<JournalEntry, 'settled' | 'settledBatches'> {
  /** The writes of each later batch. */
  unsettled: number[][]
}

export const noneSettled: SettledWrites = { settled: [], settledBatches: 0, unsettled: [] }

/** Adds a batch, of which no write has an outcome. */
export function addBatch(before: SettledWrites, { intents }: Batch): SettledWrites {
  return { ...before, unsettled: [...before.unsettled, [...intents.keys()]] }
}

/** Adds writes with an outcome. Batches without others are only counted. */
export function addSettled(before: SettledWrites, writes: number[]): SettledWrites {
  const settled = new Set([...before.settled, ...writes])
  const unsettled = [...before.unsettled]
  while (unsettled[0]?.every((write) => settled.has(write)) === true)
    for (const write of unsettled.shift() ?? []) settled.delete(write)
  const settledBatches = before.settledBatches + before.unsettled.length - unsettled.length
  return { settled: [...settled], settledBatches, unsettled }
}

/** Lists the writes of an apply whose outcome is recorded. `batches`: all of its batches. */
export function listSettled(
  { settled, settledBatches }: Pick<JournalEntry, 'settled' | 'settledBatches'>,
  batches: Pick<Batch, 'intents'>[],
): Set<number> {
  const whole = batches.slice(0, settledBatches).flatMap(({ intents }) => [...intents.keys()])
  return new Set([...whole, ...settled])
}
