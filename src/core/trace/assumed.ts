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
    const change = open(compiled, e, bit, () => openReading(compiled.settings, bit))
    const isAssumed =
      marks !== null && favoured === null
        ? change.areOther(direct) && markChanges(compiled, fields, answers, change, marks)
        : hasChange(compiled, bit, fields, answers, change, direct)
    if (isAssumed) assumed[name] = answer
  }
  const direct = readers[unmanagedBit]
  if (unmanaged !== 'unknown' && direct !== undefined) {
    const change = open(compiled, e, unmanagedBit, () =>
      createSettings(settled, 'unknown', timezone),
    )
    if (hasChange(compiled, unmanagedBit, fields, answers, change, direct))
      assumed['unmanaged'] = typeof unmanaged === 'string' ? unmanaged : [...unmanaged]
  }
  return assumed
}

/** What changes if a reading is open. */
interface Change {
  isChanged: (field: Field, answer: Answer<unknown>) => boolean
  /** Whether some of these questions have another answer. */
  areOther: (questions: readonly Question<unknown>[]) => boolean
}

function open(compiled: Compiled, e: Evaluation, bit: number, create: () => Settings): Change {
  const { variant } = (compiled.opened[bit] ??= { variant: new Variant(create()), last: 0 })
  const other = new Evaluation(e.facts, variant, compiled.items, { on: e, bit })
  return {
    isChanged: ({ question, read }, answer) =>
      e.dependsOn(question, bit) && !isSameAnswer(read(other.ask(question)), answer),
    areOther: (questions) =>
      questions.some((question) => !isSameAnswer(other.ask(question), e.ask(question))),
  }
}

/**
 * Tests whether a field or the name of a header changes: first the field that changed in the last
 * trace, then the questions that ask for the reading themselves, then all.
 */
function hasChange(
  { opened, names }: Compiled,
  bit: number,
  fields: Field[],
  answers: Answer<unknown>[],
  { isChanged, areOther }: Change,
  readers: readonly Question<unknown>[],
): boolean {
  const memory = opened[bit]
  const last = fields[memory?.last ?? 0]
  if (memory !== undefined && last !== undefined && isChanged(last, answers[memory.last] ?? null))
    return true
  if (!areOther(readers)) return false
  const found = fields.findIndex((field, i) => isChanged(field, answers[i] ?? null))
  if (memory !== undefined && found >= 0) memory.last = found
  return found >= 0 || areOther(names.map(({ question }) => question))
}

/** Marks the fields that change; tests whether there are any, or names of headers change. */
function markChanges(
  { names }: Compiled,
  fields: Field[],
  answers: Answer<unknown>[],
  { isChanged, areOther }: Change,
  marks: Set<string>,
): boolean {
  const changed = fields.filter((field, i) => isChanged(field, answers[i] ?? null))
  for (const { path } of changed) marks.add(path)
  return changed.length > 0 || areOther(names.map(({ question }) => question))
}
