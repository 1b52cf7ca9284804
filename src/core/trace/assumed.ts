import type { JsonObject } from '../model/json.ts'
import { isSameAnswer, type Answer } from './answer.ts'
import type { Compiled, Field } from './compiled.ts'
import { Evaluation, unmanagedBit, Variant, type Question } from './evaluation.ts'
import { readings, type Settings } from './readings.ts'
import { createSettings, openReading } from './settings.ts'

/**
 * Finds the settled readings whose opening would change an answer (request semantics, 2).
 *
 * @param answers those of the fields
 * @param marks gets the answers that rest on a reading that the specification does not favour
 */
export function findAssumed(
  compiled: Compiled,
  e: Evaluation,
  fields: Field[],
  answers: Answer<unknown>[],
  marks: Set<string> | null,
): JsonObject {
  const { answers: settled, unmanaged, timezone } = compiled.settings
  const assumed: JsonObject = {}
  const readers = e.listReaders()
  for (let bit = 1; bit <= readings.length; bit++) {
    const answer = settled[bit]
    const { name, favoured } = readings[bit - 1] ?? {}
    const direct = readers[bit]
    if (answer === undefined || name === undefined || direct === undefined) continue
    const open = () => openReading(compiled.settings, bit)
    const change = compareOpened(compiled, e, bit, direct, open)
    if (change === null) continue
    const isMarked = marks !== null && favoured === null
    const isAssumed = isMarked
      ? markChanges(fields, answers, change, marks)
      : hasChange(compiled, bit, fields, answers, change)
    if (isAssumed || change.hasOtherNames()) assumed[name] = answer
  }
  const direct = readers[unmanagedBit]
  if (unmanaged !== 'unknown' && direct !== undefined) {
    const open = () => createSettings(settled, 'unknown', timezone)
    const change = compareOpened(compiled, e, unmanagedBit, direct, open)
    if (change !== null && hasChange(compiled, unmanagedBit, fields, answers, change))
      assumed['unmanaged'] = typeof unmanaged === 'string' ? unmanaged : [...unmanaged]
  }
  return assumed
}

/** What changes if a reading is open. */
interface Change {
  isChanged: (field: Field, answer: Answer<unknown>) => boolean
  hasOtherNames: () => boolean
}

/** Evaluates with a reading open; null if no question that asks for it has another answer. */
function compareOpened(
  compiled: Compiled,
  e: Evaluation,
  bit: number,
  readers: Question<unknown>[],
  open: () => Settings,
): Change | null {
  const { variant } = (compiled.opened[bit] ??= { variant: new Variant(open()), last: 0 })
  const other = new Evaluation(e.facts, variant, compiled.items, { on: e, bit })
  if (readers.every((question) => isSameAnswer(other.ask(question), e.ask(question)))) return null
  return {
    isChanged: ({ question, read }, answer) =>
      e.dependsOn(question, bit) && !isSameAnswer(read(other.ask(question)), answer),
    hasOtherNames: () =>
      compiled.names.some(
        ({ question }) =>
          e.dependsOn(question, bit) && !isSameAnswer(other.ask(question), e.ask(question)),
      ),
  }
}

/** Tests whether a field changes; first the one that changed in the last trace. */
function hasChange(
  { opened }: Compiled,
  bit: number,
  fields: Field[],
  answers: Answer<unknown>[],
  { isChanged, hasOtherNames }: Change,
): boolean {
  const memory = opened[bit]
  const last = fields[memory?.last ?? 0]
  if (memory !== undefined && last !== undefined && isChanged(last, answers[memory.last] ?? null))
    return true
  const found = fields.findIndex((field, i) => isChanged(field, answers[i] ?? null))
  if (memory !== undefined && found >= 0) memory.last = found
  return found >= 0 || hasOtherNames()
}

function markChanges(
  fields: Field[],
  answers: Answer<unknown>[],
  { isChanged }: Change,
  marks: Set<string>,
): boolean {
  const changed = fields.filter((field, i) => isChanged(field, answers[i] ?? null))
  for (const { path } of changed) marks.add(path)
  return changed.length > 0
}
