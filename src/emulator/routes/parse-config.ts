import { parseItem } from '../../catalog/parse-item.ts'
import { refuse } from '../../catalog/problems.ts'
import { didYouMean } from '../../catalog/value/nearest.ts'
import { append } from '../../model/append.ts'
import type { Domain } from '../../model/item.ts'
import { isObject, parsePointer, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { mapSecrets } from '../../model/secret.ts'
import type { ItemWrite } from '../entities/configure.ts'
import { restoreTolerated, tolerate } from '../entities/tolerate.ts'
import { dropUnknown } from './drop-unknown.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'

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
 * Validates the items of a write for each of its domains. Lenient rules drop unknown fields; these
 * and extended ones take what clients send beyond the specification. Throws a Refusal that names
 * every invalid item with its fields.
 */
export function validateItems(
  items: ReturnType<typeof parseNamedItems>,
  domains: Domain[],
  { lenient, extended = false }: { lenient: boolean; extended?: boolean },
): ItemWrite[] {
  const problems: string[] = []
  const writes = items.map((item) => {
    const known = lenient ? dropUnknown(item.spec.schema, item.submitted) : item.submitted
    const isTolerant = lenient || extended
    const raw = isTolerant ? tolerate(item.spec.key, known) : known
    const reads = domains.map((domain) => parseItem(item.spec, raw, 'wire', domain))
    const found = [...reads.flatMap((read) => read.problems), ...findSecretProblems(raw)].filter(
      (problem) => problem.severity === 'error',
    )
    append(
      problems,
      found.map((problem) => formatProblem(item.wireName, problem)),
    )
    const { payload = null, value = null } = reads[0] ?? {}
    if (!isTolerant || value === null) return { ...item, payload, value }
    const restored = restoreTolerated(item.spec.key, known, payload)
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
    problems.push(refuse(pointer, detail, 'unresolved-secret'))
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
