import type { Sample, Verdict } from '../../model/health.ts'
import { pluralize } from '../../model/words.ts'
import { formatPercent, formatCount } from '../stats/figures.ts'
import type { Paint } from '../text/paint.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

/** What happens between the waves of a rollout. */
export type RolloutEvent =
  | {
      type: 'wave.waiting'
      wave: number
      waves: number
      domains: number
      until: string
      reason: 'pause' | 'health' | 'baseline'
    }
  | { type: 'wave.watched'; wave: number; statuses: string[]; before: Sample; after: Sample }
  | {
      type: 'wave.judged'
      wave: number
      verdict: Verdict
      reason: string | null
      before: Sample
      after: Sample
    }
  | { type: 'rollout.taking-back'; reason: string; writes: number }

const reasons = {
  pause: 'before the next',
  health: 'to see how it does',
  baseline: 'for figures of the time before it',
}

/** An event as a plain line for logs. */
export function formatRolloutEvent(event: RolloutEvent, paint: Paint): string {
  switch (event.type) {
    case 'wave.waiting': {
      return `waiting    wave ${event.wave} of ${event.waves} (${domainsText(event.domains)}) until ${event.until}, ${reasons[event.reason]}`
    }
    case 'wave.watched':
      return `watching   wave ${event.wave}: ${sharesText(event)} so far`
    case 'wave.judged':
      return `${verdictText(event.verdict, paint)} wave ${event.wave}: ${event.reason === null ? sharesText(event) : escapeInvisible(event.reason)}`
    case 'rollout.taking-back':
      return `${paint.yellow('back')}       what the rollout changed is taken back with ${pluralize(event.writes, 'write')}`
  }
}

/** What a terminal shows while a wave is waited for: one line that is drawn again and again. */
export interface LiveState {
  waiting: Extract<RolloutEvent, { type: 'wave.waiting' }>
  watched: Extract<RolloutEvent, { type: 'wave.watched' }> | null
}

/** `wave 1 of 4 · next step in 12:40 · 2 domains · 5xx 0.41 % → 0.38 % of 8.20k`. */
export function formatLiveLine({ waiting, watched }: LiveState, now: number): string {
  const left = Math.max(0, Math.ceil((Date.parse(waiting.until) - now) / 1000))
  const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
  const nothing = waiting.reason === 'health' ? 'no figures yet' : reasons[waiting.reason]
  const shares =
    watched === null
      ? nothing
      : `${watched.statuses.join(', ')} ${share(watched.before)} → ${share(watched.after)} of ${formatCount(watched.after.requests)}`
  // What a narrow terminal cuts is the end.
  return [
    `wave ${waiting.wave} of ${waiting.waves}`,
    `next step in ${clock}`,
    domainsText(waiting.domains),
    shares,
  ].join(' · ')
}

function verdictText(verdict: Verdict, paint: Paint): string {
  if (verdict === 'same-or-better') return paint.green('healthy   ')
  return verdict === 'worse' ? paint.red('worse     ') : paint.yellow('unclear   ')
}

function sharesText({ before, after }: { before: Sample; after: Sample }): string {
  return `${share(before)} bad of ${before.requests} requests before, ${share(after)} of ${after.requests} after`
}

function share({ requests, bad }: Sample): string {
  return requests === 0 ? '–' : `${formatPercent(bad / requests)} %`
}

function domainsText(count: number): string {
  return pluralize(count, 'domain')
}
