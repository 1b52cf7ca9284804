import type { WaveStatistics } from '../../src/core/model/events.ts'

const minuteMs = 60_000

/** Formats a time so many minutes after noon. */
export function formatMinute(minute: number): string {
  return new Date(Date.UTC(2026, 10, 20, 12) + minute * minuteMs).toISOString()
}

/**
 * Builds the statistics of a wave that was written at noon, with a point of 1,000 requests for each
 * share of errors in percent, in periods of five minutes.
 */
export function buildStatistics(
  before: number[] = [1, 1, 1],
  after: number[] = [1, 1, 1],
): WaveStatistics {
  const build = (shares: number[], minute: number): WaveStatistics['points'] =>
    shares.map((share, i) => ({
      time: formatMinute(minute + 5 * i),
      requests: 1000,
      bad: 10 * share,
      '2xx': 990 - 10 * share,
      '3xx': 6,
      '4xx': 3,
      '5xx': 10 * share,
      other: 1,
    }))
  const start = -5 * before.length
  return {
    statuses: ['5xx'],
    margin: 1,
    minRequests: 500,
    written: { from: formatMinute(0), to: formatMinute(1) },
    before: { from: formatMinute(start), to: formatMinute(0) },
    after: { from: formatMinute(10), to: formatMinute(10 + 5 * after.length) },
    seconds: 300,
    points: [...build(before, start), ...build(after, 10)],
  }
}
