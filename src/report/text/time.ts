/** Formats an ISO time for people: without milliseconds. */
export function formatTime(time: string): string {
  return time.replace(/\.\d+(?=Z$)/, '')
}
