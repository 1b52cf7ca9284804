/** Reports the reason and the end of a wait that would otherwise be silent, in one sentence. */
export type ReportWait = (text: string) => void

/** Formats an instant as local time, `hh:mm:ss`. */
export function formatLocalTime(atMs: number): string {
  return new Date(atMs).toTimeString().slice(0, 8)
}
