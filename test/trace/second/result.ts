/**
 * Values that may be unknown, and their strong Kleene combination (request semantics, 2). An
 * unknown carries the set of its reasons and is never without one.
 */
export type Result<T> = { known: true; value: T } | { known: false; reasons: ReadonlySet<string> }

/** A condition: yes, no or unknown. */
export type Cond = Result<boolean>

export const yes: Cond = { known: true, value: true }
export const no: Cond = { known: true, value: false }

export function known<T>(value: T): Result<T> {
  return { known: true, value }
}

export function unknown<T>(...reasons: string[]): Result<T> {
  return unknownOf(new Set(reasons))
}

export function unknownOf<T>(reasons: ReadonlySet<string>): Result<T> {
  if (reasons.size === 0) throw new Error('an unknown without a reason')
  return { known: false, reasons }
}

export function isYes(cond: Cond): boolean {
  return cond.known && cond.value
}

export function isNo(cond: Cond): boolean {
  return cond.known && !cond.value
}

/** The reasons of those results that are unknown. */
export function reasonsOf(...results: Result<unknown>[]): Set<string> {
  return new Set(results.flatMap((result) => (result.known ? [] : [...result.reasons])))
}

export function not(cond: Cond): Cond {
  return cond.known ? known(!cond.value) : cond
}

/** A result, or what finds it once it is needed. */
export type Lazy<T> = Result<T> | (() => Result<T>)

/** The result itself. */
export function find<T>(result: Lazy<T>): Result<T> {
  return typeof result === 'function' ? result() : result
}

/** `∧`: no if a part is no; else unknown if a part is; else yes. */
export function all(...parts: Lazy<boolean>[]): Cond {
  const conds: Cond[] = []
  for (const part of parts) {
    const cond = find(part)
    if (isNo(cond)) return no
    conds.push(cond)
  }
  return map(collect(conds), () => true)
}

/** `∨`, the dual of `∧`. */
export function some(...parts: Lazy<boolean>[]): Cond {
  return not(all(...parts.map((part) => () => not(find(part)))))
}

/** `if c then a else b`. */
export function choose<T>(cond: Cond, a: Lazy<T>, b: Lazy<T>): Result<T> {
  if (cond.known) return find(cond.value ? a : b)
  const [left, right] = [find(a), find(b)]
  if (left.known && right.known && isSame(left.value, right.value)) return left
  return unknownOf(reasonsOf(cond, left, right))
}

/** A function of one value. */
export function map<T, U>(result: Result<T>, change: (value: T) => U): Result<U> {
  return result.known ? known(change(result.value)) : result
}

/** A function of one value whose own result may be unknown. */
export function bind<T, U>(result: Result<T>, change: (value: T) => Result<U>): Result<U> {
  return result.known ? change(result.value) : result
}

/** A function of two values: unknown with the reasons of both. */
export function both<A, B, U>(
  a: Result<A>,
  b: Result<B>,
  join: (a: A, b: B) => Result<U>,
): Result<U> {
  return a.known && b.known ? join(a.value, b.value) : unknownOf(reasonsOf(a, b))
}

/** A function of several values: unknown with the reasons of all. */
export function collect<T>(results: Result<T>[]): Result<T[]> {
  const values = results.flatMap((result) => (result.known ? [result.value] : []))
  return values.length === results.length ? known(values) : unknownOf(reasonsOf(...results))
}

/** Text that is equal for equal values, whatever the order of keys. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || canonical(a) === canonical(b)
}

export function sortTexts(texts: Iterable<string>): string[] {
  return [...texts].toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** Text that is equal for equal results. */
export function canonicalResult(result: Result<unknown>): string {
  return result.known ? `=${canonical(result.value)}` : `?${sortTexts(result.reasons).join('\n')}`
}

/** A rule of a first-match list. */
export interface Candidate<T> {
  match: Cond
  field: () => Result<T>
}

/** First match with possible deciders (request semantics, 2). */
export function firstMatch<T>(rules: Candidate<T>[], none: Lazy<T>): Result<T> {
  const fields: Result<T>[] = []
  const unknownMatches: Cond[] = []
  let isDecided = false
  for (const { match, field } of rules) {
    if (isNo(match)) continue
    fields.push(field())
    if (!match.known) unknownMatches.push(match)
    isDecided = isYes(match)
    if (isDecided) break
  }
  if (!isDecided) fields.push(find(none))
  const [first, ...rest] = fields
  if (first === undefined) throw new Error('a list without deciders')
  if (first.known && rest.every((field) => field.known && isSame(field.value, first.value)))
    return first
  if (rest.length === 0) return first
  return unknownOf(reasonsOf(...unknownMatches, ...fields))
}
