import type { ApplyEvent, WaveStatistics } from '../../model/events.ts'
import type { Sample } from '../../model/health.ts'
import type {
  PageCurve,
  PageRollout,
  PageSpan,
  PageWaveHealth,
  WaveState,
} from '../../model/page-rollout.ts'
import { splitEvents } from '../apply/markdown.ts'
import { formatPercent } from '../stats/figures.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

type Judged = Extract<ApplyEvent, { type: 'wave.judged' }>
type Waiting = Extract<ApplyEvent, { type: 'wave.waiting' }>
type Watched = Extract<ApplyEvent, { type: 'wave.watched' }>

/** What the events of a wave report. */
interface Seen {
  isBegun: boolean
  isWritten: boolean
  /** The latest wait, and the statistics so far, of a health check that has not ended. */
  waiting: Waiting | null
  watched: Watched | null
  judged: Judged | null
  checks: number
  /** Command that approves the wave; null unless it waits for an approval. */
  approval: string | null
}

/** States in the order in which waves are shown; those of one rank in their own order. */
const ranks: Record<WaveState, number> = {
  worse: 0,
  running: 1,
  unclear: 2,
  waiting: 3,
  begun: 3,
  healthy: 4,
  unchecked: 4,
  unseen: 4,
  'not-begun': 5,
}

/**
 * Builds what a page shows of a rollout from the events of its apply; null for an apply that is no
 * rollout. If a wave was judged several times, the last verdict counts. The writes of the rollback
 * are not those of a wave.
 *
 * @param writes waves of the planned writes; those of a resumed rollout are the rest
 * @param scrub replaces the secrets in a text
 */
export function buildRollout(
  events: ApplyEvent[],
  writes: { id: number; wave: number }[],
  scrub: (text: string) => string,
): PageRollout | null {
  const { own, back } = splitEvents(events)
  const isRollout = own.some((event) => event.type === 'apply.started' && event.waves !== undefined)
  if (!isRollout) return null
  const clean = (text: string) => escapeInvisible(scrub(text))
  const isFinished = events.some(({ type }) => type === 'apply.finished')
  const seen = collectWaves(own, writes)
  const waves = [...seen]
    .map(([wave, each]) => describeWave(wave, each, isFinished, clean))
    .toSorted((a, b) => ranks[a.state] - ranks[b.state] || a.wave - b.wave)
  const [rollback] = back
  return {
    waves,
    rollback:
      rollback?.type === 'rollout.taking-back'
        ? { reason: clean(rollback.reason), writes: rollback.writes }
        : null,
  }
}

function collectWaves(
  events: ApplyEvent[],
  writes: { id: number; wave: number }[],
): Map<number, Seen> {
  const waveByWrite = new Map(writes.map(({ id, wave }) => [id, wave]))
  const seen = new Map<number, Seen>()
  const find = (wave: number): Seen => {
    const known = seen.get(wave) ?? {
      isBegun: false,
      isWritten: false,
      waiting: null,
      watched: null,
      judged: null,
      checks: 0,
      approval: null,
    }
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

function addEvent(seen: Seen, event: Extract<ApplyEvent, { wave: number }>): void {
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

function describeWave(
  wave: number,
  seen: Seen,
  isFinished: boolean,
  clean: (text: string) => string,
): PageWaveHealth {
  const { judged, watched, checks } = seen
  const state = findState(seen)
  const last = state === 'running' ? null : judged
  const statuses = watched?.statuses ?? judged?.statistics.statuses ?? []
  const sums = state === 'running' && watched !== null ? watched : judged
  return {
    wave,
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
      ? `It waits: "${approval ?? ''}".`
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
      : `${formatPercent(bad / requests)} % of ${formatWhole(requests)} requests`
  const list = statuses.join(', ')
  return `${list === '' ? 'Errors' : list}: ${each(before)} before, ${each(after)} after.`
}

function formatRule({ statuses, margin, minRequests }: WaveStatistics): string {
  const points = `${margin} percentage point${margin === 1 ? '' : 's'}`
  return (
    `Worse if the share of ${statuses.join(', ')} rises by more than ${points} and by more than ` +
    `chance explains, with ${formatWhole(minRequests)} requests or more in each window.`
  )
}

/** Formats a whole number with commas. */
function formatWhole(count: number): string {
  return count.toLocaleString('en-US')
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
