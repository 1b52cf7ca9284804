import { formatDay, formatTime } from '../model/format-time.ts'

export { formatDay }

/** Formats the time of day of an instant (ISO 8601, UTC): `10:00`. Other texts stay. */
export function formatTimeOfDay(iso: string): string {
  return /T(\d\d:\d\d)/.exec(iso)?.[1] ?? iso
}

/** Formats an instant (ISO 8601, UTC) to the second. Other texts stay. */
export function formatInstant(iso: string): string {
  const time = /T(\d\d:\d\d:\d\d)/.exec(iso)?.[1]
  return time === undefined ? formatTime(iso) : `${formatDay(iso)}, ${time} UTC`
}
