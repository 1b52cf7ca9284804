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
