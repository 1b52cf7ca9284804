import { EdgewiseError } from '../../../core/model/edgewise-error.ts'
import { findPrototypeKey, isDeeper, type Json, type JsonObject } from '../../../core/model/json.ts'
import type { Observing } from '../../../operations/drift.ts'
import { readBack } from '../../../operations/observation/observe-live.ts'
import type { Opened } from '../session.ts'

/** Values of `observeProperties`. */
export interface ObserveArguments {
  observed?: JsonObject
  live?: boolean
}

const maxLevels = 64

/**
 * Refuses a value that is too deep for what works with it, or has a key of prototypes.
 *
 * @throws EdgewiseError `usage`
 */
export function refuseHostileJson(value: Json): void {
  if (isDeeper(value, maxLevels))
    throw new EdgewiseError('usage', `expected at most ${maxLevels} levels of JSON, got more`)
  if (findPrototypeKey(value) !== null)
    throw new EdgewiseError('usage', 'expected JSON without the key "__proto__"')
}

/**
 * Builds the observe port of a request.
 *
 * @throws EdgewiseError `usage` for both arguments, or without `service.readBack`
 */
export function buildObserve(
  { workspace, outside }: Opened,
  { observed, live = false }: ObserveArguments,
): Observing {
  if (live && observed !== undefined)
    throw new EdgewiseError('usage', '"observed" and "live" exclude each other', 'Pass one.')
  if (live) return readBack(workspace, outside)
  if (observed === undefined) return {}
  refuseHostileJson(observed)
  return { observe: () => Promise.resolve(observed), maker: 'asked' }
}
