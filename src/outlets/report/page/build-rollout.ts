import type { ApplyEvent, UntimedEvent, WaveStatistics } from '../../../core/model/events.ts'
import type { Sample } from '../../../core/model/health.ts'
import { formatCount } from '../../../core/model/page/page-words.ts'
import {
  waveStates,
  type PageCurve,
  type PageRollout,
  type PageSpan,
  type PageWave,
  type WaveHealth,
  type WaveState,
} from '../../../core/model/page/page-rollout.ts'
import type { Judged } from '../../../core/model/rollout.ts'
import { splitEvents } from '../apply/markdown.ts'
import { formatPercent } from '../stats/figures.ts'
import { fitText } from './fit-page.ts'

type Waiting = Extract<UntimedEvent, { type: 'wave.waiting' }>
type Watched = Extract<UntimedEvent, { type: 'wave.watched' }>

/** Facts about a wave, from its events or from the state of its rollout. */
export interface Seen {
  isBegun: boolean
  isWritten: boolean
  /** The latest wait, and the statistics so far, of a health check that has not ended. */
  waiting: Waiting | null
  watched: Watched | null
  judged: Judged | null
  checks: number
  /** Command that approves the wave, empty for a button; null unless it waits for an approval. */
  approval: string | null
}

/** Creates the events seen of a wave that was not begun: none. */
export function createSeen(given: Partial<Seen> = {}): Seen {
  return {
    isBegun: false,
    isWritten: false,
    waiting: null,
    watched: null,
    judged: null,
    checks: 0,
    approval: null,
    ...given,
  }
}

/**
 * Adds the health of the waves of a rollout from the events of its apply; null for an apply that is
 * no rollout. If a wave was judged several times, the last verdict counts. The writes of the
 * rollback are not those of a wave.
 *
 * @param planned waves of the planned writes; those of a resumed rollout are the rest
 * @param redact replaces the secrets in a text
 */
export function addHealth(
  events: ApplyEvent[],
  writes: { id: number; wave: number }[],
  planned: PageWave[],
  redact: (text: string) => string,
): Pick<PageRollout, 'waves' | 'rollback'> | null {
  const { own, back } = splitEvents(events)
  const isRollout = own.some((event) => event.type === 'apply.started' && event.waves !== undefined)
  if (!isRollout) return null
  const clean = (text: string) => fitText(redact(text))
  const isFinished = events.some(({ type }) => type === 'apply.finished')
  const waves = [...collectWaves(own, writes)].map(([wave, seen]): PageWave => {
    const none = { wave, domains: null, times: null, approval: null, names: [] }
    const known = planned.find((each) => each.wave === wave) ?? none
    return { ...known, health: describeHealth(seen, isFinished, clean) }
  })
  const event = back.find((each) => each.type === 'rollout.taking-back')
  const rollback = event ? { reason: clean(event.reason), writes: event.writes } : null
  return { waves: sortWaves(waves), rollback }
}

/** Sorts waves: those that need attention first. */
export function sortWaves(waves: PageWave[]): PageWave[] {
  const rank = ({ health }: PageWave) => (health === null ? 0 : waveStates[health.state][2])
  return waves.toSorted((a, b) => rank(a) - rank(b) || a.wave - b.wave)
}

function collectWaves(
  events: ApplyEvent[],
  writes: { id: number; wave: number }[],
): Map<number, Seen> {
  const waveByWrite = new Map(writes.map(({ id, wave }) => [id, wave]))
  const seen = new Map<number, Seen>()
  const find = (wave: number): Seen => {
    const known = seen.get(wave) ?? createSeen()
    seen.set(wave, known)
    return known
  }
  for (const { wave } of writes) find(wave)
  for (const event of events) {
    if (event.type === 'write.started') {
      const wave = waveByWrite.get(event.id)
      if (wave !== undefined) Object.assign(find(wave), { isBegun: true, waiting: null })
    } else if ('wave' in event) addEvent(find(event.wave), event)
  }
  return seen
}

/** Adds an event of a wave to what is seen of it. */
export function addEvent(seen: Seen, event: Extract<UntimedEvent, { wave: number }>): void {
  switch (event.type) {
    case 'wave.finished':
      Object.assign(seen, { isBegun: true, isWritten: true, waiting: null })
      break
    case 'wave.waiting':
      seen.waiting = event.reason === 'pause' ? null : event
      break
    case 'wave.watched':
      seen.watched = event
      break
    case 'wave.judged':
      Object.assign(seen, { judged: event, waiting: null, watched: null })
      seen.checks++
      break
    case 'rollout.waiting-for-approval':
      seen.approval = event.command
      break
  }
}

/** Describes the health of a wave. `isFinished`: its apply has ended. */
export function describeHealth(
  seen: Seen,
  isFinished: boolean,
  clean: (text: string) => string,
): WaveHealth {
  const { judged, watched, checks } = seen
  const state = findState(seen)
  const last = state === 'running' ? null : judged
  const statuses = watched?.statuses ?? judged?.statistics.statuses ?? []
  const sums = state === 'running' && watched !== null ? watched : judged
  return {
    state,
    reason: clean(describeReason(state, seen, isFinished)) || null,
    figures: sums === null ? null : clean(formatFigures(statuses, sums)),
    rule: last === null ? null : clean(formatRule(last.statistics)),
    checks,
    worse: (last?.worse ?? []).map((each) => ({ ...each, domain: clean(each.domain) })),
    curve: judged === null ? null : buildCurve(judged, clean),
  }
}

function findState({ isBegun, isWritten, waiting, watched, judged, approval }: Seen): WaveState {
  if (waiting?.reason === 'baseline') return 'waiting'
  if (waiting !== null || watched !== null) return 'running'
  if (judged !== null)
    return judged.verdict === 'same-or-better'
      ? 'healthy'
      : judged.verdict === 'worse'
        ? 'worse'
        : 'unclear'
  if (isWritten) return 'unchecked'
  if (isBegun) return 'begun'
  return approval === null ? 'not-begun' : 'waiting'
}

/** Describes what a wave waits for, or what its health check found; empty if all is well. */
function describeReason(
  state: WaveState,
  { waiting, judged, approval }: Seen,
  isFinished: boolean,
): string {
  const until = waiting === null ? '' : formatMinute(waiting.until)
  if (state === 'running') {
    const earlier = judged?.reason ?? null
    const found = earlier === null ? '' : ` The check before it found: ${earlier}.`
    return isFinished
      ? `The health check has not ended: a later apply resumes it.${found}`
      : `Collecting statistics${until === '' ? '' : ` until ${until}`}.${found}`
  }
  if (state === 'waiting')
    return waiting === null
      ? approval === '' || approval === null
        ? ''
        : `It waits: "${approval}".`
      : `Collecting the baseline until ${until}.`
  return judged?.reason ?? ''
}

function formatFigures(
  statuses: string[],
  { before, after }: { before: Sample; after: Sample },
): string {
  const each = ({ requests, bad }: Sample) =>
    requests === 0
      ? 'no requests'
      : `${formatPercent(bad / requests)} % of ${formatCount(requests)} requests`
  const list = statuses.join(', ')
  return `${list === '' ? 'Errors' : list}: ${each(before)} before, ${each(after)} after.`
}

function formatRule({ statuses, margin, minRequests }: WaveStatistics): string {
  const points = `${margin} percentage point${margin === 1 ? '' : 's'}`
  return (
    `Worse if the share of ${statuses.join(', ')} rises by more than ${points} and by more than ` +
    `chance explains, with ${formatCount(minRequests)} requests or more in each window.`
  )
}

function buildCurve({ statistics, before }: Judged, clean: (text: string) => string): PageCurve {
  const { statuses, written, seconds, points } = statistics
  const span = ({ from, to }: { from: string; to: string }): PageSpan => [
    parseSeconds(from),
    parseSeconds(to),
  ]
  return {
    statuses: clean(statuses.join(', ')),
    written: span(written),
    before: span(statistics.before),
    after: span(statistics.after),
    seconds,
    baseline: before,
    points: points.map((point) => [
      parseSeconds(point.time),
      point.requests,
      point.bad,
      point['2xx'],
      point['3xx'],
      point['4xx'],
      point['5xx'],
      point.other,
    ]),
  }
}

/** Formats a time of ISO 8601 in UTC to the minute: `2026-11-20 12:35 UTC`. */
function formatMinute(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

function parseSeconds(time: string): number {
  return Date.parse(time) / 1000
}
