import { isSameJson, type Json } from '../model/json.ts'

/**
 * An answer that is not decided, with every reason: `unmanaged ITEM`, `in-doubt ITEM`, `not-given
 * FACT`, `undecidable ITEM/POINTER`.
 */
export class Unknown {
  /** Sorted, unique, and never empty. */
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    this.reasons = reasons.length < 2 ? reasons : [...new Set(reasons)].toSorted()
  }

  /** An answer that is unknown for one reason. */
  static of(reason: string): Unknown {
    return new Unknown([reason])
  }
}

/** A value, or why it is not known. Values themselves are never `Unknown`. */
export type Answer<T> = T | Unknown

/** An answer, or what finds it when it is needed. */
export type Later<T> = Answer<T> | (() => Answer<T>)

function find<T>(answer: Later<T>): Answer<T> {
  return typeof answer === 'function' ? (answer as () => Answer<T>)() : answer
}

function isUnknown(answer: unknown): answer is Unknown {
  return answer instanceof Unknown
}

/** Unites the reasons of the parts that are unknown; null if all are known. */
export function uniteUnknown(parts: readonly unknown[]): Unknown | null {
  const [first = null, ...others] = parts.filter(isUnknown)
  return first === null || others.every((each) => each === first)
    ? first
    : new Unknown([first, ...others].flatMap(({ reasons }) => reasons))
}

/** Negates a condition. */
export function not(condition: Answer<boolean>): Answer<boolean> {
  return condition instanceof Unknown ? condition : !condition
}

/** Strong Kleene conjunction of parts that are found in turn; ends at the first `no`. */
export function all(...parts: Later<boolean>[]): Answer<boolean> {
  return combine(parts, find, false)
}

/** Strong Kleene disjunction of parts that are found in turn; ends at the first `yes`. */
export function any(...parts: Later<boolean>[]): Answer<boolean> {
  return combine(parts, find, true)
}

/** Tests whether some entry holds. */
export function some<T>(
  entries: readonly T[],
  holds: (entry: T, i: number) => Answer<boolean>,
): Answer<boolean> {
  return combine(entries, holds, true)
}

function combine<T>(
  entries: readonly T[],
  holds: (entry: T, i: number) => Answer<boolean>,
  absorbing: boolean,
): Answer<boolean> {
  const unknown: Unknown[] = []
  for (let i = 0; i < entries.length; i++) {
    const found = holds(entries[i] as T, i)
    if (found === absorbing) return absorbing
    if (found instanceof Unknown) unknown.push(found)
  }
  return uniteUnknown(unknown) ?? !absorbing
}

/** Chooses a branch; of an unknown condition both, which decide only if they are equal. */
export function choose<A, B>(
  condition: Answer<boolean>,
  yes: Later<A>,
  no: Later<B>,
): Answer<A | B> {
  if (!(condition instanceof Unknown)) return find<A | B>(condition ? yes : no)
  const [a, b] = [find(yes), find(no)]
  return !(a instanceof Unknown) && isSameAnswer(a, b) ? a : (uniteUnknown([condition, a, b]) ?? a)
}

/** Tests whether an answer is not null. */
export function isSet(answer: Answer<unknown>): Answer<boolean> {
  return map(answer, (value) => value !== null)
}

/** Returns an answer, or another one where it is null. */
export function orElse<T, U>(answer: Answer<T | null>, other: Later<U>): Answer<T | U> {
  return choose(isSet(answer), answer as Answer<T>, other)
}

/** Applies a function to a known value. */
export function map<T, U>(answer: Answer<T>, change: (value: T) => Answer<U>): Answer<U> {
  return answer instanceof Unknown ? answer : change(answer)
}

/** Applies a function to two known values; otherwise unknown with the reasons of both. */
export function mapBoth<T, S, U>(
  a: Answer<T>,
  b: Answer<S>,
  change: (a: T, b: S) => Answer<U>,
): Answer<U> {
  return uniteUnknown([a, b]) ?? change(a as T, b as S)
}

/** Compares two answers: equal values, or equal reasons. */
export function isSameAnswer(a: unknown, b: unknown): boolean {
  return isSameJson(a as Json, b as Json)
}
