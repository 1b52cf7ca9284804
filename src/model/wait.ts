/** Prints a note while an operation runs, such as the reason and the end of a long wait. */
export type Note = (text: string) => void

/** Formats an instant as local time, `hh:mm:ss`. */
export function formatLocalTime(atMs: number): string {
  return new Date(atMs).toTimeString().slice(0, 8)
}
