import type { ApplyEvent } from '../../../core/model/events.ts'
import type { Sample, Verdict } from '../../../core/model/health.ts'
import { formatEnd, pluralize, formatTime } from '../../../core/model/text/words.ts'
import { formatPercent, formatCount } from '../stats/figures.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** Event between the waves of a rollout. */
export type RolloutEvent = Extract<
  ApplyEvent,
  {
    type:
      | 'wave.waiting'
      | 'wave.watched'
      | 'wave.judged'
      | 'rollout.taking-back'
      | 'rollout.waiting-for-approval'
  }
>

const reasons = {
  pause: 'pause before the next wave',
  health: 'collecting statistics',
  baseline: 'collecting the baseline',
}

/** Formats an event as a plain line for logs. */
export function formatRolloutEvent(event: RolloutEvent, paint: Paint): string {
  switch (event.type) {
    case 'wave.waiting': {
      return (
        `waiting    wave ${event.wave}/${event.waves} (${formatDomains(event.domains)}) until ` +
        `${formatTime(event.until)}: ${reasons[event.reason]}`
      )
    }
    case 'wave.watched':
      return `watching   wave ${event.wave}: ${formatShares(event)} so far`
    case 'wave.judged':
      return (
        `${formatVerdict(event.verdict, paint)} wave ${event.wave}: ` +
        (event.reason === null ? formatShares(event) : escapeInvisible(event.reason))
      )
    case 'rollout.taking-back':
      return (
        `${paint.yellow('rollback')}   rolling back the rollout with ` +
        pluralize(event.writes, 'write')
      )
    case 'rollout.waiting-for-approval':
      return (
        `${paint.yellow(event.reason === 'paused' ? 'paused    ' : 'approval  ')} ` +
        `wave ${event.wave}/${event.waves} (${formatDomains(event.domains)}) waits: ` +
        `"${event.command}"`
      )
  }
}

/** State of the countdown line while a wave waits. */
export interface LiveState {
  waiting: Extract<RolloutEvent, { type: 'wave.waiting' }>
  watched: Extract<RolloutEvent, { type: 'wave.watched' }> | null
}

/** Formats `wave 1/4 · health until 12:40:10 (4:31 left) · 5xx 0.41 % → 0.38 % of 8.20k`. */
export function formatLiveLine({ waiting, watched }: LiveState, now: number): string {
  const untilMs = Date.parse(waiting.until)
  const secondsLeft = Math.max(0, Math.ceil((untilMs - now) / 1000))
  const left = `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`
  const shares =
    watched === null
      ? formatDomains(waiting.domains)
      : `${watched.statuses.join(', ')} ${formatShare(watched.before)} → ` +
        `${formatShare(watched.after)} of ${formatCount(watched.after.requests)}`
  // A narrow terminal truncates the end.
  return [
    `wave ${waiting.wave}/${waiting.waves}`,
    `${waiting.reason} until ${formatEnd(untilMs, 0)} (${left} left)`,
    shares,
  ].join(' · ')
}

function formatVerdict(verdict: Verdict, paint: Paint): string {
  if (verdict === 'same-or-better') return paint.green('healthy   ')
  return verdict === 'worse' ? paint.red('worse     ') : paint.yellow('unclear   ')
}

function formatShares({ before, after }: { before: Sample; after: Sample }): string {
  return (
    `${formatShare(before)} errors in ${before.requests} requests before, ` +
    `${formatShare(after)} in ${after.requests} after`
  )
}

function formatShare({ requests, bad }: Sample): string {
  return requests === 0 ? '–' : `${formatPercent(bad / requests)} %`
}

function formatDomains(count: number): string {
  return pluralize(count, 'domain')
}
