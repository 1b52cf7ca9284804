import { catalogue, getItemSpec } from '../../core/catalog/catalogue.ts'
import { restoreShape } from '../../core/catalog/item-spec.ts'
import { listFixedSecrets, parseItem } from '../../core/catalog/parse-item.ts'
import { findItemByWireName } from '../../core/catalog/wire-names.ts'
import type { Change } from '../../core/model/change.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  isUnset,
  listPossible,
  type Domain,
  type ItemKey,
  type ItemState,
} from '../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import {
  findNewReference,
  findReference,
  holdsSecret,
  mapSecrets,
} from '../../core/model/secret.ts'
import type { Secrets, Configured } from '../runtime/parts.ts'
import type { Candidate, Candidates } from '../../core/trace/candidates.ts'
import type { Settings } from '../../core/trace/readings.ts'
import { BadSetting, buildSettings } from '../../core/trace/settings.ts'

/** Any value at all. */
const anyValue: Candidate = { $unknown: true }

/**
 * The candidates of the items that manifests mention, with sets as they have them; a list of
 * addresses clears the other.
 */
export function readDesired(items: ReadonlyMap<ItemKey, ItemState>): Candidates {
  const found = new Map<ItemKey, Candidate[]>()
  for (const [key, state] of items) {
    const candidates = state.ordered === undefined ? state.candidates : [state.ordered]
    found.set(key, listCandidates(key, { ...state, candidates, unknownFields: [] }))
  }
  for (const [key, other] of [
    ['ip_black_list', 'ip_white_list'],
    ['ip_white_list', 'ip_black_list'],
  ] as const)
    if (found.has(key) && !found.has(other) && items.get(key)?.status === 'confirmed')
      found.set(other, [null])
  return found
}

/** The candidates of state. */
export function readRecorded(items: ReadonlyMap<ItemKey, ItemState>): Candidates {
  return new Map([...items].map(([key, state]) => [key, listCandidates(key, state)]))
}

/** Lists the candidates of an item; any value for one of which nothing is known. */
export function listCandidates(key: ItemKey, state: ItemState): Candidate[] {
  if (state.status === 'unset' && state.candidates.length === 0) return [null]
  const { unknownFields = [], ...rest } = state
  const possible = listPossible(unknownFields.length === 0 ? rest : state)
  return possible.map((value) =>
    value === undefined ? anyValue : nameSecrets(key, value, state.templates ?? {}),
  )
}

/** The candidates of an item after a change. */
export function readChanged(
  { item, action, after }: Pick<Change, 'item' | 'action' | 'after'>,
  { vault }: Secrets,
): Candidate[] {
  if (action === 'unset' || after === null) return [null]
  return [nameSecrets(item, after, vault.listTemplates(after))]
}

/**
 * Replaces masked secrets by their names, or the templates with their names; one that was literal
 * keeps the end of its fingerprint.
 */
function nameSecrets(key: ItemKey, value: Json, templates: Record<string, string>): Candidate {
  if (!holdsSecret(value)) return value
  const named = mapSecrets(value, (secret) => ({
    $secret:
      findReference(secret) ??
      findNewReference(secret) ??
      templates[secret] ??
      `literal:${secret.slice(-8)}`,
  }))
  return sealFixed(key, named)
}

/** The value is unknown if a secret stands for a number or a fixed word. */
function sealFixed(key: ItemKey, value: Json): Candidate {
  const secrets = listFixedSecrets(getItemSpec(key), value)
  return secrets.length === 0 ? value : { $unknown: true, secrets, value }
}

/**
 * The candidates of an observed configuration: one an item, and none where it lacks one.
 *
 * @param config payloads by their wire names
 */
export function readObserved(
  config: ReadonlyMap<string, Json>,
  itemKeys: Record<ItemKey, string>,
): Candidates {
  const found = new Map<ItemKey, Candidate[]>([...catalogue.keys()].map((key) => [key, [null]]))
  for (const [wireName, payload] of config) {
    const spec = catalogue.get(findItemByWireName(wireName, payload, itemKeys) ?? '')
    if (spec === undefined) continue
    const shown = restoreShape(spec, payload, undefined)
    if (!isObject(shown) && isUnset(shown)) continue
    const { value } = parseItem(spec, shown, 'wire')
    if (value === null || !isUnset(value)) found.set(spec.key, [value ?? anyValue])
  }
  return found
}

/**
 * The candidates of a file `{"domain": D, "items": {ITEM: [candidate, …]}}`.
 *
 * @throws EdgewiseError `usage` for another shape, an unknown item or an invalid value
 */
export function readConfiguration(data: Json): { domain: Domain; items: Candidates } {
  if (!isObject(data) || typeof data['domain'] !== 'string' || !isObject(data['items']))
    throw refuse('expected {"domain": D, "items": {ITEM: [candidate, …]}}')
  const items = new Map<ItemKey, Candidate[]>()
  for (const [key, candidates] of Object.entries(data['items'])) {
    if (!catalogue.has(key)) throw refuse(`there is no item "${key.slice(0, 80)}"`)
    if (!Array.isArray(candidates) || candidates.length === 0)
      throw refuse(`${key} must be a list of at least one candidate`)
    items.set(
      key,
      candidates.map((candidate) => readCandidate(key, candidate)),
    )
  }
  return { domain: data['domain'].toLowerCase(), items }
}

function readCandidate(key: ItemKey, candidate: Json): Candidate {
  if (candidate === null) return null
  if (isObject(candidate) && candidate['$unknown'] === true) return anyValue
  const { value, problems } = parseItem(getItemSpec(key), candidate, 'manifest')
  if (value !== null) return isUnset(value) ? null : sealFixed(key, value)
  const [problem] = problems
  throw refuse(`${key}${problem?.pointer ?? ''}: ${problem?.detail ?? 'invalid value'}`)
}

function refuse(message: string): EdgewiseError {
  return new EdgewiseError('usage', `--of: ${message}`, 'See the guide "Trace".')
}

/** Answers of readings, over those of the workspace file. */
export interface Assumptions {
  assume?: JsonObject
}

/**
 * Settles readings by the workspace file and by what a command gives.
 *
 * @throws EdgewiseError `usage` for a reading or an answer that there is none of
 */
export function settleReadings(
  { config }: Configured,
  { assume = {} }: Assumptions = {},
): Settings {
  const answers = { ...(config.trace.assume as JsonObject), ...assume }
  try {
    return buildSettings(answers, config.service.timezone)
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error
    const hint = '"edgewise explain readings" lists readings and answers.'
    throw new EdgewiseError('usage', `--assume: ${error.message}`, hint)
  }
}
