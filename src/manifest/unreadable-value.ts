import type { ItemSpec } from '../catalog/item-spec.ts'
import { parseItem } from '../catalog/parse-item.ts'
import { listFieldNames } from '../catalog/value/item-schema.ts'
import { holdsSecrets } from '../catalog/value/schema-problems.ts'
import type { Unreadable } from '../model/drift.ts'
import type { Domain, Value } from '../model/item.ts'
import { formatPointerStep, isObject, parsePointer, type Json } from '../model/json.ts'
import { problemSummaries, type Problem } from '../model/problem.ts'
import { mapSecrets } from '../model/secret.ts'
import type { SecretVault } from './secret-vault.ts'

/** Limits of observed values in a message: characters of each part, and levels of nesting. */
const maxReason = 200
const maxPointer = 80
const maxDepth = 20

/** Tests whether messages may contain observed values: only if none can be an unknown secret. */
export function isSafeToShow(spec: ItemSpec, values: Value[], vault: SecretVault): boolean {
  let secret = holdsSecrets(spec.schema) || vault.listUnresolved().length > 0
  for (const value of values)
    mapSecrets(value, () => {
      secret = true
      return null
    })
  return !secret
}

/**
 * Returns the same problem for the payload without its texts and numbers, any of which may be a
 * secret.
 */
export function redactProblem(
  spec: ItemSpec,
  problem: Problem,
  payload: Json,
  domain: Domain,
): Problem {
  const { problems } = parseItem(spec, redact(payload), 'wire', domain)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const same = errors.find(({ pointer }) => pointer === problem.pointer)
  return same ?? { ...problem, detail: 'it is not valid (not shown: it may be a secret)' }
}

function redact(value: Json, depth = 0): Json {
  if (typeof value === 'string' || typeof value === 'number') return '(not shown)'
  // No item nests this deep.
  if (depth > maxDepth) return null
  if (Array.isArray(value)) return value.map((entry) => redact(entry, depth + 1))
  if (!isObject(value)) return value
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([key, field]) => [key, redact(field, depth + 1)]))
}

/** Describes where and why a value is refused; includes observed values only if they are safe. */
export function describeRefusal(
  spec: ItemSpec,
  problem: Problem,
  isSafe: boolean,
  vault: SecretVault,
): Unreadable {
  const { code, pointer, detail } = problem
  if (isSafe) {
    const reason = truncate(vault.scrub(detail), maxReason)
    return { pointer: truncate(vault.scrub(pointer), maxPointer), reason }
  }
  const names = listFieldNames(spec.schema)
  const steps = parsePointer(pointer)
  const foreign = steps.findIndex((step) => !names.has(step) && !/^\d{1,4}$/.test(step))
  const kept = foreign === -1 ? steps : steps.slice(0, foreign)
  // The detail would name a field that the item does not have.
  const summary = problemSummaries[code]
  const reason = foreign === -1 ? detail : `${summary.charAt(0).toLowerCase()}${summary.slice(1)}`
  return { pointer: kept.map(formatPointerStep).join(''), reason: truncate(reason, maxReason) }
}

function truncate(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
