import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { describeRefusal } from '../../core/catalog/problems.ts'
import { type ItemSchema, chooseAlternative } from '../../core/catalog/value/item-schema.ts'
import { didYouMean } from '../../core/catalog/value/nearest.ts'
import type { ItemWrite } from '../entities/configure.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { type Json, type JsonObject, isObject, parsePointer } from '../../core/model/json.ts'
import { append } from '../../core/model/lists.ts'
import type { Problem } from '../../core/model/problem.ts'
import { mapSecrets } from '../../core/model/secret.ts'

/** Maximum number of problems in one message. */
const maxProblemsShown = 10

/**
 * Parses the items of a write with their wire names, in its order. Throws a Refusal unless `config`
 * is an object of known items.
 */
export function parseNamedItems(
  config: Json | undefined,
  names: WireNames,
): Omit<ItemWrite, 'payload' | 'value'>[] {
  if (!isObject(config))
    throw new Refusal(
      'config-invalid',
      'expected "config" to be an object with an item for each key',
    )
  const entries = Object.entries(config)
  if (entries.length === 0)
    throw new Refusal(
      'config-invalid',
      'expected "config" to name at least one item, got an empty object',
    )
  return entries.map(([wireName, submitted]) => {
    const spec = names.find(wireName, submitted)
    if (spec === undefined)
      throw new Refusal(
        'item-unknown',
        `item(${wireName}) is unknown.${didYouMean(wireName, names.list())}`,
      )
    return { wireName, spec, submitted, cleared: names.listCleared(spec.key) }
  })
}

/**
 * Validates the items of a write. Lenient rules drop unknown fields; these
 * and extended ones take what clients send beyond the specification. Throws a Refusal that names
 * every invalid item with its fields.
 */
export function validateItems(
  items: ReturnType<typeof parseNamedItems>,
  { lenient, extended = false }: { lenient: boolean; extended?: boolean },
): ItemWrite[] {
  const problems: string[] = []
  const writes = items.map((item) => {
    const isTolerant = lenient || extended
    const known = extended ? acceptReturned(item.spec, item.submitted) : item.submitted
    const written = lenient ? dropUnknown(item.spec.schema, known) : known
    const raw = isTolerant ? tolerate(item.spec.key, written) : written
    const { payload, value, problems: own } = parseItem(item.spec, raw, 'wire')
    const found = [...own, ...findSecretProblems(raw)].filter(
      ({ severity }) => severity === 'error',
    )
    append(
      problems,
      found.map((problem) => formatProblem(item.wireName, problem)),
    )
    if (!isTolerant || value === null) return { ...item, payload, value }
    const restored = restoreTolerated(item.spec.key, written, payload)
    return { ...item, payload: restored, value: item.spec.canonicalize(restored) }
  })
  if (problems.length > 0) throw createItemsRefusal(problems)
  return writes
}

/** Creates the refusal of items that are invalid together with the stored ones of a domain. */
export function createResultRefusal(
  write: ItemWrite,
  problems: Problem[],
  domain: Domain,
): Refusal {
  return createItemsRefusal(
    problems.map(
      (problem) => `${formatProblem(write.wireName, problem)} (together with what ${domain} holds)`,
    ),
  )
}

/**
 * Finds unresolved secrets: `{"$secret": …}` is a string in manifests and plans; on the wire it is
 * an unexpected object.
 */
function findSecretProblems(raw: Json): Problem[] {
  const problems: Problem[] = []
  mapSecrets(raw, (_secret, pointer) => {
    const detail = 'expected a string, got an object with "$secret"'
    problems.push(describeRefusal(pointer, detail, 'unresolved-secret'))
    return null
  })
  return problems
}

function formatProblem(wireName: string, { pointer, detail }: Problem): string {
  const field = parsePointer(pointer).join('.')
  return field === ''
    ? `item(${wireName}) is invalid: ${detail}`
    : `item(${wireName}) field(${field}) is invalid: ${detail}`
}

function createItemsRefusal(sentences: string[]): Refusal {
  const distinct = [...new Set(sentences)]
  const more =
    distinct.length > maxProblemsShown ? `; and ${distinct.length - maxProblemsShown} more` : ''
  return new Refusal('item-invalid', distinct.slice(0, maxProblemsShown).join('; ') + more)
}

/** Fields with a unit, which clients also send in lower case. */
const units: ReadonlyMap<ItemKey, string[]> = new Map([
  ['compress_response', ['min_size_unit']],
  ['rate_limit', ['max_rate_unit', 'leading_flow_unit']],
  ['smart_compression', ['gzip_compression_unit', 'brotli_compression_unit']],
])

/** Order of a rule of headers whose order was never given. */
const defaultOrder = 1

/** Value of `match_method` in `cache_rule_list` that only clients know. */
const anyMethod = 'all'

/**
 * Converts what clients send beyond the specification to what it allows: units in lower case, and
 * cache rules that match all, which become regular expressions. Returns anything else as it is.
 */
function tolerate(item: ItemKey, value: Json): Json {
  if (item === 'cache_rule_list')
    return mapRules(value, (rule) =>
      rule['match_method'] === anyMethod ? { ...rule, match_method: 'regex' } : rule,
    )
  const names = units.get(item)
  if (names === undefined || !isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      names.includes(name) && (field === 'kb' || field === 'mb') ? field.toUpperCase() : field,
    ]),
  )
}

/**
 * Converts what a query returned to what a write has: clients read an item, change a field and post
 * the whole. A rule of headers without an order has the default one.
 */
function acceptReturned(spec: ItemSpec, value: Json, stored?: Value): Json {
  // The units of a query are in lower case, which is tolerated anyway.
  const { payload } = units.has(spec.key) ? { payload: value } : spec.observe(stored, value)
  if (spec.key !== 'head_control' || !isObject(payload)) return payload
  const list = mapRules(payload['list'] ?? null, (rule) => ({ order: defaultOrder, ...rule }))
  return { ...payload, list }
}

/**
 * Completes a valid write for a domain: rules of headers without an order, which no query shows,
 * keep the stored ones.
 */
export function keepOrders(write: ItemWrite, stored: Value | undefined): ItemWrite {
  if (write.spec.key !== 'head_control' || stored === undefined) return write
  const { payload } = parseItem(
    write.spec,
    dropUnknown(write.spec.schema, acceptReturned(write.spec, write.submitted, stored)),
    'wire',
  )
  return { ...write, payload, value: write.spec.canonicalize(payload) }
}

/** Restores in a payload what has no equal in the specification: rules that match all. */
function restoreTolerated(item: ItemKey, sent: Json, payload: Json): Json {
  if (item !== 'cache_rule_list' || !Array.isArray(sent)) return payload
  return mapRules(payload, (rule, i) => {
    const before = sent[i]
    return before !== undefined && isObject(before) && before['match_method'] === anyMethod
      ? { ...rule, match_method: anyMethod }
      : rule
  })
}

function mapRules(value: Json, map: (rule: JsonObject, i: number) => JsonObject): Json {
  return Array.isArray(value)
    ? value.map((rule, i) => (isObject(rule) ? map(rule, i) : rule))
    : value
}

/** Copies the value of an item without unknown fields. */
function dropUnknown(schema: ItemSchema, value: Json): Json {
  const chosen = chooseAlternative(schema, value)
  if (Array.isArray(value)) return value.map((entry) => dropUnknown(chosen.items ?? {}, entry))
  const properties = chosen.properties
  if (!isObject(value) || properties === undefined) return value
  const known = Object.entries(value).filter(([key]) => Object.hasOwn(properties, key))
  return Object.fromEntries(
    known.map(([key, field]) => [key, dropUnknown(properties[key] ?? {}, field)]),
  )
}
