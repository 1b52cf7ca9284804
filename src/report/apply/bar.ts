/** Progress of an apply. */
export interface ApplyProgress {
  done: number
  writes: number
  /** Remaining calls of the call budget in this minute. */
  callsLeft: number
  callsPerMinute: number
}

/** Minimum and maximum width of the bar without its text. */
const [minColumns, maxColumns] = [4, 24]

/**
 * Formats the text after the bar of an apply: `3/17 writes · 27 calls left this minute · less than
 * a minute left`.
 */
export function formatBarText({ done, writes, callsLeft, callsPerMinute }: ApplyProgress): string {
  return (
    `${done}/${writes} writes · ${callsLeft} calls left this minute · ` +
    formatTimeLeft(writes - done, callsLeft, callsPerMinute)
  )
}

/** Computes the columns for the bar, so that bar and text fit on one line. */
export function computeBarColumns(columns: number, writes: number, callsPerMinute: number): number {
  const text = Math.max(
    ...[callsPerMinute, 0].map(
      (callsLeft) => formatBarText({ done: writes - 1, writes, callsLeft, callsPerMinute }).length,
    ),
    formatBarText({ done: 0, writes, callsLeft: 0, callsPerMinute }).length,
  )
  return Math.max(minColumns, Math.min(maxColumns, columns - text - 2))
}

/** Formats the minimum remaining time by the call rate. */
function formatTimeLeft(writes: number, callsLeft: number, callsPerMinute: number): string {
  const minutes = Math.ceil(Math.max(0, writes - callsLeft) / callsPerMinute)
  return writes === 0
    ? 'done'
    : minutes === 0
      ? 'less than a minute left'
      : `about ${minutes} min left`
}
