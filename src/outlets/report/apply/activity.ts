import type { ApplyEvent } from '../../../core/model/events.ts'
import { formatEnd, listSome } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import { formatPart, type Part } from './event-text.ts'
import { formatLiveLine, type LiveState } from './rollout-text.ts'

/** Calls that the budget still allows at once, and in a minute. */
export interface CallsLeft {
  callsLeft: number
  callsPerMinute: number
}

/** Activity of an apply: the writes that are done, and what it does at the moment. */
export interface Activity {
  /** Number of writes. */
  total: number
  /** Numbers of the writes that are done. A bisected one may end as refused, then in-doubt. */
  done: ReadonlySet<number>
  sending: ReadonlyMap<number, Part>
  bisecting: number | null
  waiting: { untilMs: number; message: string } | null
  /** The wait of a wave; null outside of one. */
  wave: LiveState | null
}

const barColumns = 10

/** Creates the activity of an apply that begins. */
export function createActivity(writes: number): Activity {
  const sending = new Map<number, Part>()
  return { total: writes, done: new Set(), sending, bisecting: null, waiting: null, wave: null }
}

/** Returns the activity after an event, which occurs `now` (ms). */
export function advanceActivity(activity: Activity, event: ApplyEvent, now: number): Activity {
  const { wave } = activity
  if (event.type === 'wave.watched')
    return wave === null ? activity : { ...activity, wave: { ...wave, watched: event } }
  const next = { ...activity, wave: null }
  switch (event.type) {
    case 'wave.waiting':
      return { ...next, wave: { waiting: event, watched: wave?.watched ?? null } }
    case 'write.started':
      return { ...next, sending: new Map(next.sending).set(event.id, event), bisecting: null }
    case 'write.waiting':
      return {
        ...next,
        waiting: { untilMs: now + event.seconds * 1000, message: event.message },
      }
    case 'write.isolating':
      return { ...next, bisecting: event.id }
    // No event ends a bisection.
    case 'write.confirmed':
    case 'write.in-doubt':
      return { ...endWrite(next, event.id, true), bisecting: null }
    case 'write.refused':
      return endWrite(next, event.id, true)
    case 'write.not-sent':
      return endWrite(next, event.id, event.reason === 'unchanged')
    case 'rollout.taking-back':
      return { ...next, total: event.writes, done: new Set() }
    default:
      return next
  }
}

function endWrite(activity: Activity, id: number, isDone: boolean): Activity {
  const sending = new Map(activity.sending)
  sending.delete(id)
  return { ...activity, sending, done: isDone ? new Set(activity.done).add(id) : activity.done }
}

/** Formats an activity as one line for a terminal; a narrow one truncates its end. */
export function formatActivity(
  activity: Activity,
  now: number,
  { callsLeft, callsPerMinute }: CallsLeft,
): string {
  const { total, done, wave } = activity
  if (wave !== null) return formatLiveLine(wave, now)
  const filled = Math.floor((barColumns * done.size) / Math.max(1, total))
  const bar = '█'.repeat(filled).padEnd(barColumns, '░')
  const left = formatTimeLeft(total - done.size, callsLeft, callsPerMinute)
  const step = escapeInvisible(describeStep(activity, now))
  return `${bar} ${done.size}/${total} writes${left} · ${step}`
}

function describeStep({ sending, bisecting, waiting }: Activity, now: number): string {
  if (waiting !== null && waiting.untilMs > now)
    return `waiting until ${formatEnd(now, waiting.untilMs - now)}: ${waiting.message}`
  if (bisecting !== null) return `bisecting write ${bisecting}`
  const [[id, part] = []] = sending
  if (id === undefined || part === undefined) return 'recording'
  return sending.size === 1
    ? `sending write ${id}: ${formatPart(part, Infinity)}`
    : `sending writes ${listSome([...sending.keys()].map(String), 4)}`
}

/** Formats the minimum remaining time by the call rate. */
function formatTimeLeft(writes: number, callsLeft: number, callsPerMinute: number): string {
  const minutes = Math.ceil(Math.max(0, writes - callsLeft) / callsPerMinute)
  return minutes === 0 ? '' : ` · about ${minutes} min left`
}
