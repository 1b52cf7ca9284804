/** Clocks of time zones. Local times are written as milliseconds as if the clock were UTC. */
const formats = new Map<string, Intl.DateTimeFormat>()

function getFormat(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  formats.set(zone, format)
  return format
}

/** The local time at an instant, in seconds. */
export function toLocal(instant: number, zone: string): number {
  const parts = new Map<string, number>(
    getFormat(zone)
      .formatToParts(instant * 1000)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const get = (type: string): number => parts.get(type) ?? 0
  const date = new Date(0)
  date.setUTCFullYear(get('year'), get('month') - 1, get('day'))
  date.setUTCHours(get('hour'), get('minute'), get('second'))
  return date.getTime() / 1000
}

/**
 * The first instant at which the clock of a zone shows a local time; one that it skips is taken as
 * if the clock had not been set forward.
 */
export function toInstant(local: number, zone: string): number {
  const day = 86_400
  const guesses = [local - day, local + day].map((near) => local - (toLocal(near, zone) - near))
  const found = guesses.filter((instant) => toLocal(instant, zone) === local)
  return found.length === 0 ? (guesses[0] ?? local) : Math.min(...found)
}

/** Reads a date of the calendar, `YYYYmmddHHii`, as a local time; null if it is none. */
export function parseMinute(text: string): number | null {
  const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text)
  if (match === null) return null
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute)
  const isReal =
    date.getUTCFullYear() === year &&
    date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day &&
    hour < 24 &&
    minute < 60
  return isReal ? date.getTime() / 1000 : null
}
