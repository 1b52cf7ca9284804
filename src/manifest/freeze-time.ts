/**
 * A date (`2026-12-20`), or a date and time (`2026-12-20T18:00`, with `Z` or `+02:00` where it is not the service's own time
 * zone), in milliseconds as if it were UTC; null for anything else. Good for comparing two times of one zone.
 */
export function freezeTime(text: string): number | null {
  const match = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text)
  if (match === null) return null
  const time = Date.parse(`${match[1]}T${match[2] ?? '00:00'}${match[3] ?? 'Z'}`)
  // Date takes the 30th of February for the 2nd of March.
  const day = new Date(`${match[1]}T00:00Z`)
  return Number.isNaN(time) || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== match[1] ? null : time
}
