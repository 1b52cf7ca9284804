import { parseItem } from '../../catalog/parse-item.ts'
import type { ItemSpec } from '../../catalog/item-spec.ts'
import { refuse } from '../../catalog/problems.ts'
import { didYouMean } from '../../catalog/value/nearest.ts'
import type { Domain } from '../../model/item.ts'
import { isObject, parsePointer, type Json } from '../../model/json.ts'
import type { Problem } from '../../model/problem.ts'
import { mapSecrets } from '../../model/secret.ts'
import type { ItemWrite } from '../entities/configure.ts'
import { dropUnknown } from './drop-unknown.ts'
import { Refusal } from './refusal.ts'
import type { WireNames } from './wire-names.ts'

/** Problems that one message lists. */
const problemsShown = 10

/**
 * The items of a write with their wire names, in its order. Throws a Refusal unless `config` is an
 * object that names known items.
 */
export function parseNamedItems(
  config: Json | undefined,
  names: WireNames,
): { wireName: string; spec: ItemSpec; submitted: Json }[] {
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
    const spec = names.get(wireName)
    if (spec === undefined)
      throw new Refusal(
        'item-unknown',
        `item(${wireName}) is unknown.${didYouMean(wireName, names.keys())}`,
      )
    return { wireName, spec, submitted }
  })
}

/**
 * The items of a write, read for each of its domains. Throws a Refusal that names every invalid
 * item with its fields.
 */
export function validateItems(
  items: ReturnType<typeof parseNamedItems>,
  domains: Domain[],
  lenient: boolean,
): ItemWrite[] {
  const problems: string[] = []
  const writes = items.map((item) => {
    const raw = lenient ? dropUnknown(item.spec.schema, item.submitted) : item.submitted
    const reads = domains.map((domain) => parseItem(item.spec, raw, 'wire', domain))
    const found = [...reads.flatMap((read) => read.problems), ...secretProblems(raw)].filter(
      (problem) => problem.severity === 'error',
    )
    problems.push(...found.map((problem) => sentence(item.wireName, problem)))
    return { ...item, payload: reads[0]?.payload ?? null, value: reads[0]?.value ?? null }
  })
  if (problems.length > 0) throw invalidItems(problems)
  return writes
}

/** The refusal of items that are invalid together with what a domain holds. */
export function createResultRefusal(
  write: ItemWrite,
  problems: Problem[],
  domain: Domain,
): Refusal {
  return invalidItems(
    problems.map(
      (problem) => `${sentence(write.wireName, problem)} (together with what ${domain} holds)`,
    ),
  )
}

/**
 * `{"$secret": …}` is a string in manifests and plans; on the wire it is an object like any other,
 * where none belongs.
 */
function secretProblems(raw: Json): Problem[] {
  const problems: Problem[] = []
  mapSecrets(raw, (_secret, pointer) => {
    const detail = 'expected a string, got an object with "$secret"'
    problems.push(refuse(pointer, detail, 'unresolved-secret'))
    return null
  })
  return problems
}

function sentence(wireName: string, { pointer, detail }: Problem): string {
  const field = parsePointer(pointer).join('.')
  return field === ''
    ? `item(${wireName}) is invalid: ${detail}`
    : `item(${wireName}) field(${field}) is invalid: ${detail}`
}

function invalidItems(sentences: string[]): Refusal {
  const distinct = [...new Set(sentences)]
  const more =
    distinct.length > problemsShown ? `; and ${distinct.length - problemsShown} more` : ''
  return new Refusal('item-invalid', distinct.slice(0, problemsShown).join('; ') + more)
}
