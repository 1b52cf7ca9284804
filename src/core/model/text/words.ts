/** Formats a count with commas, the same in every locale: `2,000`. */
export function formatCount(count: number): string {
  // `toLocaleString` takes 20 ms to load what it knows.
  let text = String(count)
  for (let at = text.length - 3; at > 0 && text[at - 1] !== '-'; at -= 3)
    text = `${text.slice(0, at)},${text.slice(at)}`
  return text
}

/** Formats a count with its noun: `1 write`, `2,000 writes`. */
export function pluralize(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`
}

/** Lists counts with their words, which may have a plural; those of nothing are left out. */
export function listCounts(counts: [count: number, words: string, plural?: string][]): string[] {
  return counts.flatMap(([count, words, plural = words]) =>
    count > 0 ? [pluralize(count, words, plural)] : [],
  )
}

/** Lists the first names, and the number of the rest: `a, b, c and 2 more`. */
export function listSome(names: string[], max = 3): string {
  const rest = names.length - max
  if (rest <= 0) return names.join(', ')
  return `${names.slice(0, max).join(', ')} ${countMore(rest)}`
}

/** Counts the rest of a list: `and 2 more`. */
export function countMore(rest: number): string {
  return `and ${formatCount(rest)} more`
}

/** Maps the first entries of a list; what is made of the number of the rest, if any, is last. */
export function mapSome<T, U>(
  list: readonly T[],
  max: number,
  map: (entry: T, index: number) => U,
  mapRest: (rest: number) => U,
): U[] {
  const rest = list.length - max
  return [...list.slice(0, max).map(map), ...(rest > 0 ? [mapRest(rest)] : [])]
}

/** Lists all names: `a, b or c`. */
export function listAll(names: string[], word: 'and' | 'or'): string {
  const last = names.slice(-1)
  return [names.slice(0, -1).join(', '), ...last].filter((part) => part !== '').join(` ${word} `)
}

/** Formats a length of time in hours and minutes. */
export function formatLength(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours === 0) return `${rest} min`
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`
}

/** Formats an instant (ISO 8601) to the second: `2026-11-20T12:00:00Z`. Other texts stay. */
export function formatTime(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/, '$1Z')
}

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** Formats the day of an instant (ISO 8601, UTC): `20 November 2026`. Other texts stay. */
export function formatDay(iso: string): string {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)T/.exec(iso) ?? []
  const name = months[Number(month) - 1]
  return year === undefined || name === undefined ? iso : `${Number(day)} ${name} ${year}`
}

/** Formats an instant (ISO 8601, UTC) to the minute. Other texts stay. */
export function formatInstant(iso: string): string {
  const time = /T(\d\d:\d\d)/.exec(iso)?.[1]
  return time === undefined ? iso : `${formatDay(iso)}, ${time} UTC`
}

/** Prints a note while an operation runs, such as the reason and the end of a long wait. */
export type Note = (text: string) => void

/** Formats the end of a wait: `hh:mm:ss` in local time, from an hour on with date and length. */
export function formatEnd(nowMs: number, waitMs: number): string {
  const end = new Date(nowMs + waitMs)
  if (waitMs < 3_600_000) return end.toTimeString().slice(0, 8)
  return `${formatTime(end.toISOString())} (in ${formatLength(waitMs)})`
}
