/**
 * What held from which minute (since 1970) on, ascending; before the first entry, nothing had been
 * said.
 */
export type Timeline<T> = readonly (readonly [minute: number, value: T])[]

/**
 * A timeline on which `value` holds from `minute` on. What stood at that minute or later is
 * forgotten: a minute is reported once it is over, so that its last word counts; and where the
 * clock was set back, what came after has not happened.
 */
export function setValueFrom<T>(timeline: Timeline<T>, minute: number, value: T): Timeline<T> {
  const before = timeline.filter(([from]) => from < minute)
  const last = before.at(-1)
  return last !== undefined && JSON.stringify(last[1]) === JSON.stringify(value)
    ? before
    : [...before, [minute, value]]
}

/** What holds at a minute, or undefined before the first entry. */
export function getValueAt<T>(timeline: Timeline<T>, minute: number): T | undefined {
  return timeline.findLast(([from]) => from <= minute)?.[1]
}
