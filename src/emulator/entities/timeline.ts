/**
 * Values by the minute (since 1970) from which they apply, ascending; no value before the first
 * entry.
 */
export type Timeline<T> = readonly (readonly [minute: number, value: T])[]

/**
 * Returns a timeline on which `value` applies from `minute` on. Entries at that minute or later are
 * dropped: a minute is reported once it is over, so its last value counts; and if the clock was set
 * back, later entries have not happened.
 */
export function setValueFrom<T>(timeline: Timeline<T>, minute: number, value: T): Timeline<T> {
  const before = timeline.filter(([from]) => from < minute)
  const last = before.at(-1)
  return last !== undefined && JSON.stringify(last[1]) === JSON.stringify(value)
    ? before
    : [...before, [minute, value]]
}

/** Returns the value at a minute; undefined before the first entry. */
export function getValueAt<T>(timeline: Timeline<T>, minute: number): T | undefined {
  return timeline.findLast(([from]) => from <= minute)?.[1]
}
