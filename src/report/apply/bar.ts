/** How far an apply is. */
export interface ApplyProgress {
  done: number
  writes: number
  /** Calls that the call budget still lets through in this minute. */
  callsLeft: number
  callsPerMinute: number
}

/** Columns of the bar itself. */
const [shortest, widest] = [4, 24]

/**
 * What stands beside the bar of an apply: `3/17 writes · 27 calls left this minute · less than a
 * minute left`.
 */
export function formatBarText({ done, writes, callsLeft, callsPerMinute }: ApplyProgress): string {
  return `${done}/${writes} writes · ${callsLeft} calls left this minute · ${timeLeft(writes - done, callsLeft, callsPerMinute)}`
}

/**
 * Columns that the text leaves to the bar of a terminal: what is too long for a line is not seen.
 */
export function computeBarColumns(columns: number, writes: number, callsPerMinute: number): number {
  const text = Math.max(
    ...[callsPerMinute, 0].map(
      (callsLeft) => formatBarText({ done: writes - 1, writes, callsLeft, callsPerMinute }).length,
    ),
    formatBarText({ done: 0, writes, callsLeft: 0, callsPerMinute }).length,
  )
  return Math.max(shortest, Math.min(widest, columns - text - 2))
}

/** What the call rate leaves to wait for, at least. */
function timeLeft(writes: number, callsLeft: number, callsPerMinute: number): string {
  const minutes = Math.ceil(Math.max(0, writes - callsLeft) / callsPerMinute)
  return writes === 0
    ? 'done'
    : minutes === 0
      ? 'less than a minute left'
      : `about ${minutes} min left`
}
