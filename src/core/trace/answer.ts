/**
 * An answer that is not decided, with every reason: `unmanaged ITEM`, `in-doubt ITEM`, `not-given
 * FACT`, `undecidable ITEM/POINTER`.
 */
export class Unknown {
  /** Sorted, unique, and never empty. */
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    this.reasons = isSorted(reasons) ? reasons : [...new Set(reasons)].toSorted()
  }

  /** Unites the reasons of both; one of them if it has all. */
  unite(other: Unknown): Unknown {
    if (other === this) return this
    const [a, b] = [this.reasons, other.reasons]
    const merged: string[] = []
    let i = 0
    let j = 0
    while (i < a.length || j < b.length) {
      const [left, right] = [a[i], b[j]]
      if (right === undefined || (left !== undefined && left <= right)) {
        if (left === right) j++
        i++
        merged.push(left ?? '')
      } else {
        j++
        merged.push(right)
      }
    }
    if (merged.length === a.length) return this
    return merged.length === b.length ? other : new Unknown(merged)
  }

  /** An answer that is unknown for one reason. */
  static of(reason: string): Unknown {
    return new Unknown([reason])
  }
}

function isSorted(reasons: readonly string[]): boolean {
  for (let i = 1; i < reasons.length; i++)
    if ((reasons[i - 1] ?? '') >= (reasons[i] ?? '')) return false
  return true
}

/** A value, or why it is not known. Values themselves are never `Unknown`. */
export type Answer<T> = T | Unknown

/** Unites the reasons of the parts that are unknown; null if all are known. */
export function uniteUnknown(parts: readonly unknown[]): Unknown | null {
  let united: Unknown | null = null
  for (const part of parts)
    if (part instanceof Unknown) united = united === null ? part : united.unite(part)
  return united
}

/** Negates a condition. */
export function not(condition: Answer<boolean>): Answer<boolean> {
  return condition instanceof Unknown ? condition : !condition
}

/** Strong Kleene conjunction of parts that are evaluated in turn; ends at the first `no`. */
export function all(...parts: (() => Answer<boolean>)[]): Answer<boolean> {
  return combine(parts, false)
}

/** Strong Kleene disjunction of parts that are evaluated in turn; ends at the first `yes`. */
export function any(...parts: (() => Answer<boolean>)[]): Answer<boolean> {
  return combine(parts, true)
}

/** Tests whether some entry holds. */
export function some<T>(
  entries: readonly T[],
  holds: (entry: T, i: number) => Answer<boolean>,
): Answer<boolean> {
  let unknown: Unknown[] | undefined
  for (let i = 0; i < entries.length; i++) {
    const found = holds(entries[i] as T, i)
    if (found === true) return true
    if (found !== false) (unknown ??= []).push(found)
  }
  return unknown === undefined ? false : (uniteUnknown(unknown) ?? false)
}

function combine(parts: (() => Answer<boolean>)[], absorbing: boolean): Answer<boolean> {
  let unknown: Unknown[] | undefined
  for (const part of parts) {
    const found = part()
    if (found === absorbing) return absorbing
    if (found instanceof Unknown) (unknown ??= []).push(found)
  }
  return unknown === undefined ? !absorbing : (uniteUnknown(unknown) ?? !absorbing)
}

/**
 * Chooses a branch; of an unknown condition both, which decide only if they are equal. Otherwise
 * the result is a new object, also if its reasons are those of a part.
 */
export function choose<T>(
  condition: Answer<boolean>,
  yes: () => Answer<T>,
  no: () => Answer<T>,
): Answer<T> {
  if (!(condition instanceof Unknown)) return condition ? yes() : no()
  const a = yes()
  const b = no()
  if (!(a instanceof Unknown) && isSameAnswer(a, b)) return a
  return new Unknown([condition, ...[a, b].filter(isUnknown)].flatMap(({ reasons }) => reasons))
}

/** Tests whether an answer is not null. */
export function isSet(answer: Answer<unknown>): Answer<boolean> {
  return map(answer, (value) => value !== null)
}

/** Returns an answer, or another one where it is null. */
export function orElse<T>(answer: Answer<T>, other: () => Answer<T>): Answer<T> {
  return choose(isSet(answer), () => answer, other)
}

function isUnknown(answer: unknown): answer is Unknown {
  return answer instanceof Unknown
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
  if (a instanceof Unknown) return uniteUnknown([a, b]) ?? a
  return b instanceof Unknown ? b : change(a, b)
}

/** Compares two answers: equal values (as JSON, keys in equal order), or equal reasons. */
export function isSameAnswer(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Unknown || b instanceof Unknown)
    return a instanceof Unknown && b instanceof Unknown && isSameList(a.reasons, b.reasons)
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b)
  if (Array.isArray(b)) return false
  const left = Object.entries(a)
  const right = Object.entries(b)
  return (
    left.length === right.length &&
    left.every(([key, value], i) => right[i]?.[0] === key && isSameAnswer(value, right[i]?.[1]))
  )
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, i) => isSameAnswer(entry, b[i]))
}
