import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import { parseItem } from '../../core/catalog/parse-item.ts'
import { listFieldNames } from '../../core/catalog/value/item-schema.ts'
import { holdsSecrets } from '../../core/catalog/value/schema-problems.ts'
import type { Unreadable } from '../../core/model/drift.ts'
import type { Value } from '../../core/model/item.ts'
import { formatPointerStep, isObject, parsePointer, type Json } from '../../core/model/json.ts'
import { problemSummaries, type Problem } from '../../core/model/problem.ts'
import { holdsSecret } from '../../core/model/secret.ts'
import type { Maker, SecretVault } from '../secrets/secret-vault.ts'

/** Limits of observed values in a message: characters of each part, and levels of nesting. */
const maxReason = 200
const maxPointer = 80
const maxDepth = 20

/**
 * Describes where and why an observed or imported payload is refused. Includes its texts only if
 * none can be a secret.
 *
 * @param values desired and recorded values of the item
 * @param known the secrets, and who made the payload
 */
export function describeProblem(
  spec: ItemSpec,
  problem: Problem,
  payload: Json,
  values: Value[],
  known: { vault: SecretVault; maker: Maker },
): Unreadable {
  const { pointer, detail } = problem
  const { vault, maker } = known
  return isSafeToShow(spec, values, vault) && !vault.isQuoted(`${pointer} ${detail}`, maker)
    ? { pointer: truncate(pointer, maxPointer), reason: truncate(detail, maxReason) }
    : describeUnsafe(spec, redactProblem(spec, problem, payload))
}

function isSafeToShow(spec: ItemSpec, values: Value[], vault: SecretVault): boolean {
  return (
    !holdsSecrets(spec.schema) && vault.listUnresolved().length === 0 && !values.some(holdsSecret)
  )
}

/**
 * Returns the same problem for the payload without its texts and numbers, any of which may be a
 * secret.
 */
function redactProblem(spec: ItemSpec, problem: Problem, payload: Json): Problem {
  const { problems } = parseItem(spec, redact(payload), 'wire')
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

/** Describes a problem of a payload with secrets, without unknown names of fields. */
function describeUnsafe(spec: ItemSpec, { code, pointer, detail }: Problem): Unreadable {
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
