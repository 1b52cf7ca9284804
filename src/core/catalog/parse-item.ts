import type { Value, Wire } from '../model/item.ts'
import { parsePointer, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { holdsSecret, isSecret, mapSecrets, type Secret } from '../model/secret.ts'
import type { ItemSpec } from './item-spec.ts'
import { coerce, type Scope } from './value/coerce.ts'
import {
  chooseAlternative,
  findFieldSchema,
  isFreeText,
  listLeaves,
  type ItemSchema,
} from './value/item-schema.ts'
import { describeSchemaErrors } from './value/schema-problems.ts'
import { findControls, findStringProblems } from './value/string-problems.ts'

/** A parsed item: the payload, the canonical value, and the problems. */
export interface ParsedItem {
  /**
   * The value with the specification's types; order and letter case as given. Input of `reduce`.
   */
  payload: Wire
  /** The canonical value; null if there is an error. */
  value: Value | null
  problems: Problem[]
}

/**
 * Parses an item of a manifest or a write. In a manifest, secrets (`{$secret}`) are valid wherever
 * a string is; on the wire there are none. Never throws.
 */
export function parseItem(spec: ItemSpec, raw: Json, scope: Scope): ParsedItem {
  const payload = coerce(spec.schema, raw, scope) ?? null
  const secrets: string[] = []
  const hasSecret = scope === 'manifest' && holdsSecret(payload)
  const fill = (text: string) =>
    mapSecrets(payload, ($secret, pointer) => {
      // In place of a list or an object it is no secret, but wrong.
      if (expectsStructure(spec.schema, pointer)) return { $secret }
      secrets.push(pointer)
      return text
    })
  const plain = hasSecret ? fill('secret') : payload
  // An unknown field is wrong for any secret.
  const isHidden = (problem: Problem): boolean => {
    return problem.code !== 'unknown-field' && secrets.includes(problem.pointer)
  }
  const leaves = listLeaves(spec.schema, plain)
  const controls = scope === 'wire' ? [] : findControls(leaves)
  const shape = describeSchemaErrors(spec.findSchemaErrors(plain), spec.schema, plain).filter(
    (problem) => !isHidden(problem) && !controls.some(({ pointer }) => pointer === problem.pointer),
  )
  const form = [...controls, ...shape]
  const check = () => {
    const found = spec.check(plain)
    if (!hasSecret || found.length === 0) return found
    // What holds for one text only depends on the secret.
    const others = new Set(spec.check(fill('(.)'.repeat(9))).map(({ detail }) => detail))
    return found.filter(({ detail }) => others.has(detail))
  }
  const problems = form.length > 0 ? form : [...findStringProblems(leaves), ...check()]
  const found = problems.filter(
    (problem) => (problem.scope === 'both' || problem.scope === scope) && !isHidden(problem),
  )
  const valid = !found.some((problem) => problem.severity === 'error')
  return { payload, value: valid ? spec.canonicalize(payload) : null, problems: found }
}

/** Lists the secrets in a value that stand where only some texts are valid, or a number. */
export function listFixedSecrets({ schema }: ItemSpec, value: Value): Secret[] {
  const found: Secret[] = []
  if (holdsSecret(value))
    mapSecrets(value, ($secret, pointer) => {
      if (!isFreeText(findSchema(schema, pointer))) found.push({ $secret })
      return null
    })
  return found
}

/** Finds the schema of a scalar at a pointer. */
function findSchema(schema: ItemSchema, pointer: string): ItemSchema {
  return chooseAlternative(findFieldSchema(schema, parsePointer(pointer)) ?? {}, '')
}

/** Tests whether a schema has a list or an object, and no text, at a pointer. */
function expectsStructure(schema: ItemSchema, pointer: string): boolean {
  const { type, oneOf } = findSchema(schema, pointer)
  return type === 'array' || type === 'object' || (type === undefined && oneOf !== undefined)
}

/** Finds the secret fields of a value: those with `writeOnly` in the schema. */
export function findSecretFields(
  spec: ItemSpec,
  value: Json,
): { pointer: string; literal: boolean }[] {
  return listLeaves(spec.schema, value).flatMap(({ schema, value: found, pointer }) =>
    schema.writeOnly === true && (typeof found === 'string' || isSecret(found))
      ? [{ pointer, literal: !isSecret(found) }]
      : [],
  )
}
