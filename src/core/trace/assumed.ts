import type { Json, JsonObject } from '../model/json.ts'
import { isSameAnswer, Unknown } from './answer.ts'
import type { Runs } from './doubt.ts'
import type { Field } from './fields.ts'
import { readings, type Settings } from './readings.ts'
import { getBit, unmanagedPlace, type Bits } from './run.ts'
import { listOthers, setAnswer } from './settings.ts'
import { listHeaders } from './header-fields.ts'
import { reply, type Reply } from './reply.ts'
import { BadRequest } from './url.ts'

/** Another answer of a reading, and what it changes in a trace. */
export interface Flip {
  answer: Json
  runs: Runs
  changed: Field[]
}

/**
 * Finds what the answers of a trace rest on: the readings that were asked for, that the operator
 * has not set, and of which another answer changes something (request semantics, 2).
 *
 * @param fields those of the trace
 */
export function findAssumed(settings: Settings, runs: Runs, fields: readonly Field[]): JsonObject {
  const assumed: JsonObject = {}
  for (const [i, { name }] of readings.entries()) {
    const { done } = findFlips(settings, runs, fields, i + 1).next()
    if (done !== true) assumed[name] = settings.answers[i + 1] ?? null
  }
  const isOpen = !settings.own.has(unmanagedPlace) && settings.unmanaged === 'absent'
  const bit = getBit(unmanagedPlace)
  if (isOpen && listReached(runs, fields).some(({ read }) => restsOn(runs, read, bit)))
    assumed['unmanaged'] = 'absent'
  return assumed
}

/** Finds the other answers of a reading that change something. */
export function* findFlips(
  settings: Settings,
  runs: Runs,
  fields: readonly Field[],
  number: number,
): Generator<Flip, undefined> {
  const bit = getBit(number)
  if (settings.own.has(number) || (runs.bits & bit) === 0n) return
  for (const answer of listOthers(number, settings.answers[number] ?? null)) {
    const other = runs.flip(bit, setAnswer(settings, number, answer))
    const changed = listChanged(runs, other, fields, bit)
    if (changed.length > 0) yield { answer, runs: other, changed }
  }
}

/** Another answer of a reading, and the answers of the trace that would be others. */
export interface Variation {
  reading: string
  answer: Json
  changes: { field: string; before: Reply; after: Reply }[]
}

/** Lists what the other answers of the readings, on which a trace rests, would change. */
export function listVariations(
  settings: Settings,
  runs: Runs,
  fields: readonly Field[],
): Variation[] {
  return readings.flatMap(({ name }, i) =>
    [...findFlips(settings, runs, fields, i + 1)].map(({ answer, runs: other, changed }) => ({
      reading: name,
      answer,
      changes: changed.map(({ path, read }) => ({
        field: path,
        before: reply(runs.answer(read)),
        after: reply(other.answer(read)),
      })),
    })),
  )
}

/** Lists the answers that change; none where the facts contradict the other answer. */
function listChanged(runs: Runs, other: Runs, fields: readonly Field[], bit: Bits): Field[] {
  try {
    const headers = listHeaders(other).filter((field) => !fields.includes(field))
    return [...fields, ...headers].filter(
      ({ read }) =>
        restsOn(runs, read, bit) && !isSameAnswer(runs.answer(read), other.answer(read)),
    )
  } catch (error) {
    if (error instanceof BadRequest) return []
    throw error
  }
}

/** Tests whether an answer rests on a reading, in any combination of what is in doubt. */
function restsOn(runs: Runs, read: Field['read'], bit: Bits): boolean {
  const { all, bits } = runs.try(read)
  return all === null || (bits & bit) !== 0n
}

/** Lists the answers of the stages that the request reaches. */
function listReached(runs: Runs, fields: readonly Field[]): readonly Field[] {
  const outcome = runs.answer<unknown>((run) => fields[0]?.read(run))
  if (outcome instanceof Unknown || outcome === 'served') return fields
  const after = /^(?:cache|origin|response)/
  return fields.filter(({ stage, name }) =>
    outcome === 'refused'
      ? stage === 'connection'
      : !after.test(stage) || name === 'status' || name === 'location',
  )
}
