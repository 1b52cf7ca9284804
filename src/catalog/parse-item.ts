import type { Domain, Value, Wire } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { isSecret, mapSecrets } from '../model/secret.ts'
import type { ItemSpec } from './item-spec.ts'
import { coerce, type Scope } from './value/coerce.ts'
import { findSchemaProblems } from './value/schema-problems.ts'
import { findStringProblems } from './value/string-problems.ts'

/**
 * An item as it was given: what the service would store by, the canonical value, and what is wrong.
 */
export interface ParsedItem {
  /**
   * The value with the specification's types, order and letter case as given; what `reduce` takes.
   */
  payload: Wire
  /** The canonical value; null when there is an error. */
  value: Value | null
  problems: Problem[]
}

/**
 * Reads one item as somebody wrote it: in a manifest, or in a write. In a manifest, strings that
 * are secret (`{$secret}`) count as valid wherever a string may stand; on the wire there are none.
 * Never throws, whatever the value is.
 */
export function parseItem(spec: ItemSpec, raw: Json, scope: Scope, domain: Domain): ParsedItem {
  const payload = coerce(spec.schema, raw, scope) ?? null
  const secrets: string[] = []
  const plain =
    scope === 'wire'
      ? payload
      : mapSecrets(payload, (_secret, pointer) => {
          secrets.push(pointer)
          return 'secret'
        })
  // Whatever a secret is, a field that there is none of is wrong.
  const unseen = (problem: Problem): boolean => {
    return problem.code !== 'unknown-field' && secrets.includes(problem.pointer)
  }
  const shape = findSchemaProblems(spec.schema, plain).filter((problem) => !unseen(problem))
  const problems =
    shape.length > 0
      ? shape
      : [...findStringProblems(spec.schema, plain), ...spec.check(plain, domain)]
  const judged = problems.filter(
    (problem) => (problem.scope === 'both' || problem.scope === scope) && !unseen(problem),
  )
  const valid = !judged.some((problem) => problem.severity === 'error')
  return { payload, value: valid ? spec.canonicalize(payload) : null, problems: judged }
}

/**
 * The pointers of the fields that always hold a secret, in a value: the schema marks them
 * `writeOnly`.
 */
export function findSecretFields(
  spec: ItemSpec,
  value: Json,
): { pointer: string; literal: boolean }[] {
  const found: { pointer: string; literal: boolean }[] = []
  visit(spec.schema, value, '', found)
  return found
}

function visit(
  schema: ItemSpec['schema'],
  value: Json,
  pointer: string,
  found: { pointer: string; literal: boolean }[],
): void {
  if (schema.writeOnly === true) {
    if (typeof value === 'string' || isSecret(value))
      found.push({ pointer, literal: !isSecret(value) })
  } else if (Array.isArray(value)) {
    value.forEach((entry, i) => visit(schema.items ?? {}, entry, `${pointer}/${i}`, found))
  } else if (typeof value === 'object' && value !== null && !isSecret(value)) {
    for (const [key, field] of Object.entries(value)) {
      const known =
        schema.properties !== undefined && Object.hasOwn(schema.properties, key)
          ? schema.properties[key]
          : undefined
      if (known !== undefined) visit(known, field, `${pointer}/${key}`, found)
    }
  }
}
