/** Formats an instant (ISO 8601) to the second: `2026-11-20T12:00:00Z`. Other texts stay. */
export function formatTime(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/, '$1Z')
}
