import type { ApplyEvent } from '../../../core/model/events.ts'
import { formatLocalTime, listSome } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatPart, type Part } from './event-text.ts'
import { formatLiveLine, type LiveState } from './rollout-text.ts'

/** Calls that the budget still allows at once, and in a minute. */
export interface CallsLeft {
  callsLeft: number
  callsPerMinute: number
}

/** What an apply does at the moment. */
export interface Activity {
  report(event: ApplyEvent, now: number): void
  /** Formats one line for a terminal; a narrow one truncates its end. */
  format(now: number, calls: CallsLeft): string
}

const barColumns = 10

/** Creates the activity of an apply. */
export function createActivity(writes: number): Activity {
  let total = writes
  // A bisected write may end as refused, with an in-doubt rest.
  const done = new Set<number>()
  const sending = new Map<number, Part>()
  let bisecting: number | null = null
  let waiting: { untilMs: number; message: string } | null = null
  let wave: LiveState | null = null
  const describe = (now: number) => {
    if (waiting !== null && waiting.untilMs > now)
      return `waiting until ${formatLocalTime(waiting.untilMs)}: ${waiting.message}`
    if (bisecting !== null) return `bisecting write ${bisecting}`
    const [[id, part] = []] = sending
    if (id === undefined || part === undefined) return 'recording'
    return sending.size === 1
      ? `sending write ${id}: ${formatPart(part, Infinity)}`
      : `sending writes ${listSome([...sending.keys()].map(String), 4)}`
  }
  return {
    report: (event, now) => {
      if (event.type === 'wave.watched') {
        if (wave !== null) wave = { ...wave, watched: event }
        return
      }
      wave =
        event.type === 'wave.waiting' ? { waiting: event, watched: wave?.watched ?? null } : null
      // No event ends a bisection.
      if (/^write\.(started|confirmed|in-doubt)$/.test(event.type)) bisecting = null
      switch (event.type) {
        case 'write.started':
          sending.set(event.id, event)
          break
        case 'write.waiting':
          waiting = { untilMs: now + event.seconds * 1000, message: event.message }
          break
        case 'write.isolating':
          bisecting = event.id
          break
        case 'write.confirmed':
        case 'write.refused':
        case 'write.in-doubt':
          done.add(event.id)
          sending.delete(event.id)
          break
        case 'write.not-sent':
          if (event.reason === 'unchanged') done.add(event.id)
          sending.delete(event.id)
          break
        case 'rollout.taking-back':
          total = event.writes
          done.clear()
          break
        default:
      }
    },
    format: (now, { callsLeft, callsPerMinute }) => {
      if (wave !== null) return formatLiveLine(wave, now)
      const filled = Math.floor((barColumns * done.size) / Math.max(1, total))
      const bar = '█'.repeat(filled).padEnd(barColumns, '░')
      const left = formatTimeLeft(total - done.size, callsLeft, callsPerMinute)
      return `${bar} ${done.size}/${total} writes${left} · ` + escapeInvisible(describe(now))
    },
  }
}

/** Formats the minimum remaining time by the call rate. */
function formatTimeLeft(writes: number, callsLeft: number, callsPerMinute: number): string {
  const minutes = Math.ceil(Math.max(0, writes - callsLeft) / callsPerMinute)
  return minutes === 0 ? '' : ` · about ${minutes} min left`
}
