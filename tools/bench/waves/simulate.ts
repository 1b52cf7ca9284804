/** Rolls changes out over drawn series, with the planner's waves and the rollouts' health check. */
import { diffSnapshots } from '../../../src/core/diff/diff-snapshots.ts'
import { createDetector, emptySum } from '../../../src/core/health/detectable.ts'
import { createWeek } from '../../../src/core/health/summarize-week.ts'
import type { HealthConfig } from '../../../src/core/model/config.ts'
import type { ApplyEvent, UntimedEvent } from '../../../src/core/model/events.ts'
import type { Window } from '../../../src/core/model/health.ts'
import type { Domain, Snapshot } from '../../../src/core/model/item.ts'
import type { Plan, PlanWave } from '../../../src/core/model/plan.ts'
import type { Counts, Point } from '../../../src/core/model/statistics.ts'
import { createTimeZone } from '../../../src/core/model/time/time-zone.ts'
import type { DomainTraffic, TrafficProfile } from '../../../src/core/model/traffic.ts'
import { makePlan } from '../../../src/core/plan/make-plan.ts'
import { createEmptyResult } from '../../../src/engine/apply/results.ts'
import type { RolloutContext, StatusCounts } from '../../../src/engine/rollout/ports.ts'
import { rollOut } from '../../../src/engine/rollout/roll-out.ts'
import { createRollout } from '../../../src/engine/rollout/waves.ts'
import type { RecordedState } from '../../../src/state/store/store.ts'
import { Dice } from './dice.ts'
import { drawFleet, periodMs, type Count, type Family, type SeriesDomain } from './series.ts'

/** Day 0, a Monday, ms since 1970. */
export const epoch = Date.UTC(2026, 10, 2)
const [hourMs, dayMs] = [3_600_000, 86_400_000]
const zone = createTimeZone('UTC')

export const health: HealthConfig = {
  area: 'all',
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
  onLittleData: 'wait',
  onFailure: 'stop',
  after: 3600,
}
const amounts = [{ percent: 1 }, { percent: 10 }, { percent: 100 }]

/** A simulated rollout and its end. */
export interface Simulated {
  waves: PlanWave[]
  /** Rise on all changed domains, percentage points; 0 without a fault. */
  rise: number
  /** Number of the wave that was judged worse; null if none was. */
  worse: number | null
  /** Number of the last wave that was sent. */
  sent: number
  /** Share of the requests of the changed domains that were changed in the end. */
  exposed: number
  /** Share of the smallest domain whose check detects what that of a first wave should. */
  smallest: number
}

/** Simulates a rollout; 2 of 5 have no fault, 3 of 10 the least rise that should be detected. */
export async function simulate(seed: number, family: Family): Promise<Simulated> {
  const dice = new Dice(seed, 1)
  const fleet = drawFleet(seed, family, Math.round(dice.logBetween([20, 150])))
  const changed = fleet.filter((_, i) => i === 0 || dice.next() < 0.9)
  const start = epoch + 7 * dayMs + Math.floor(dice.next() * 6.5 * dayMs)
  const traffic = countTraffic(fleet, start)
  const recorded = record(fleet, '10')
  const plan = planWaves(recorded, record(changed, '20'), traffic)
  const waves = plan.waves ?? []
  const least = waves.find((wave) => wave.traffic?.detects !== undefined)?.traffic?.detects
  const kind = dice.next()
  const times = kind < 0.4 ? 0 : kind < 0.7 ? 1 : dice.logBetween([0.5, 3])
  const rise = Math.min(90, (least?.rise ?? 5) * times)
  const fail: Failing = (i, period, since, { requests, bad }) => {
    if (rise === 0 || since <= 0) return { requests, bad }
    const own = new Dice(seed + i, period)
    return { requests, bad: bad + own.binomial(requests - bad, rise / 100) }
  }
  const { worse, sent } = await roll(plan, recorded, start, {
    fleet,
    fail,
    rule: health,
    status: 502,
  })
  const requests = waves.map((wave) => wave.traffic?.requests ?? 0)
  const sum = (list: number[]) => list.reduce((all, each) => all + each, 0)
  const exposed = sum(requests.slice(0, sent)) / sum(requests)
  const detector = createDetector(traffic.domains.values(), health)
  const eligible = changed.flatMap(({ name }) => {
    const own = traffic.domains.get(name)
    const isEligible =
      own !== undefined && detector.detects(detector.add(emptySum, own), 2 * health.margin)
    return isEligible ? [own.requests] : []
  })
  const smallest = eligible.length === 0 ? 1 : Math.min(...eligible) / sum(requests)
  return { waves, rise, worse, sent, exposed, smallest }
}

/** Counts the figures of the last whole day. */
export function countTraffic(
  fleet: SeriesDomain[],
  at: number,
  statuses: string[] = [],
  status = 502,
): TrafficProfile {
  const to = epoch + Math.floor((at - epoch) / dayMs) * dayMs
  const { week, add, summarize } = createWeek({ from: to - dayMs, to }, statuses)
  for (const domain of fleet) {
    for (let time = week.from; time < week.to; time += hourMs)
      add(domain.name, [
        { time, counts: toCounts(sumPeriods(domain, time, time + hourMs), status) },
      ])
  }
  const figures = summarize(fleet.map(({ name }) => name))
  const domains = new Map(
    [...figures].map(([name, figure]): [Domain, DomainTraffic] => [name, { ...figure, at }]),
  )
  return { domains, account: null, at }
}

/** Builds the state of domains that were configured long before. */
export function record(fleet: SeriesDomain[], time: string): RecordedState {
  const at = new Date(epoch).toISOString()
  const item = { status: 'confirmed', candidates: [{ time }], at, serviceAt: at } as const
  return new Map(
    fleet.map(({ name }) => [
      name,
      new Map([['timeout', { ...item, candidates: [{ time }], apply: 'before', origin: 'write' }]]),
    ]),
  )
}

export function planWaves(
  recorded: RecordedState,
  desired: Snapshot,
  traffic: TrafficProfile,
  rule = health,
): Plan {
  const before = new Map([...recorded].filter(([domain]) => desired.has(domain)))
  return makePlan({
    ...diffSnapshots(before, desired),
    recorded: before,
    desired,
    grouping: { groups: 'all', together: [] },
    limits: { domainsPerWrite: 10, callsPerMinute: 30 },
    target: [],
    items: [],
    commit: null,
    effort: 'quick',
    rollout: { pause: 0, health: rule },
    waves: { amounts, by: 'traffic' },
    traffic,
  })
}

/** Sums the periods that begin in [from, to). */
function sumPeriods(domain: Pick<SeriesDomain, 'count'>, from: number, to: number): Count {
  const sum = { requests: 0, bad: 0 }
  for (let time = Math.ceil(from / periodMs) * periodMs; time < to; time += periodMs) {
    const { requests, bad } = domain.count((time - epoch) / periodMs)
    sum.requests += requests
    sum.bad += bad
  }
  return sum
}

function toCounts({ requests, bad }: Count, status = 502): Counts {
  return { 200: requests - bad, [status]: bad }
}

/**
 * Changes what a domain has in a period.
 *
 * @param i number of the domain
 * @param since periods since its write, from the first whole one; negative before
 */
export type Failing = (i: number, period: number, since: number, usual: Count) => Count

/** Domains with their series, what happens to them, and how they are watched. */
interface Faulty {
  fleet: SeriesDomain[]
  fail: Failing
  rule: HealthConfig
  /** Status of the answers that are counted as bad. */
  status: number
}

/** Rolls a plan out; returns the wave that was worse, and the last that was sent. */
export async function roll(
  plan: Plan,
  recorded: RecordedState,
  start: number,
  faulty: Faulty,
): Promise<Pick<Simulated, 'worse' | 'sent'>> {
  let [now, sent] = [start, 0]
  let worse: number | null = null
  let state = recorded
  const changedAt = new Map<Domain, number>()
  const about = { id: 'simulated', startedAt: new Date(start).toISOString(), author: null }
  let rollout = createRollout(plan, { hashDomain: (name) => name, hashItem: () => '' }, about)
  const execute = (part: Plan, apply: string) => {
    sent++
    const before = now
    now += 2000 * part.writes.length
    const at = new Date(now).toISOString()
    state = new Map(state)
    for (const domain of part.writes.flatMap(({ domains }) => domains)) {
      changedAt.set(domain, before)
      const items = [...(state.get(domain) ?? [])]
      state.set(
        domain,
        new Map(items.map(([key, item]) => [key, { ...item, at, serviceAt: at, apply }])),
      )
    }
    return { ...createEmptyResult(state), sent: true }
  }
  const report = (event: UntimedEvent | ApplyEvent) => {
    if (event.type === 'wave.judged' && event.verdict === 'worse') worse = event.wave
  }
  const context: RolloutContext = {
    clock: {
      now: () => now,
      monotonic: () => now,
      sleep: async (ms) => void (now += Math.ceil(ms)),
    },
    time: { now: () => now, ask: async () => now },
    service: createService(faulty, changedAt),
    applying: {
      prepare: async (part) => part,
      execute: async (part, id) => execute(part, id),
      rollBack: () => Promise.reject(new TypeError('expected no rollback')),
      whileUnlocked: (work) => work(),
      isAccountStopped: () => false,
    },
    store: {
      load: async () => state,
      listRollouts: async () => (rollout.state === 'open' ? [rollout] : []),
      saveRollout: async (saved) => void (rollout = saved),
      listEnded: async () => [],
    },
    settings: { pauseMs: 0, rule: faulty.rule, zone },
    suspends: false,
    looksBack: true,
    signal: new AbortController().signal,
    report,
  }
  await rollOut(plan, rollout, recorded, context)
  if (rollout.state === 'open')
    await rollOut({ ...plan, changes: [], writes: [] }, rollout, state, context)
  return { worse, sent }
}

/** Creates the statistics of a fleet whose changed domains may fail more often. */
function createService(
  { fleet, fail, status }: Faulty,
  changedAt: ReadonlyMap<Domain, number>,
): StatusCounts {
  const byName = new Map(fleet.map((domain, i) => [domain.name, { domain, i }]))
  const find = (name: Domain): Pick<SeriesDomain, 'count'> => {
    const { domain, i } = byName.get(name) ?? { domain: null, i: -1 }
    const since = ((changedAt.get(name) ?? Infinity) - epoch) / periodMs - 1
    return {
      count: (period) =>
        fail(i, period, period - since, domain?.count(period) ?? { requests: 0, bad: 0 }),
    }
  }
  const list = (name: Domain, { from, to }: Window): Point[] => {
    const domain = find(name)
    const times = Array.from({ length: (to - from) / periodMs }, (_, i) => from + i * periodMs)
    return times.map((time) => ({
      time,
      counts: toCounts(sumPeriods(domain, time, time + 1), status),
    }))
  }
  return {
    count: async (names, window, use) =>
      new Map(
        names.map((name) => {
          use?.(list(name, window))
          return [name, toCounts(sumPeriods(find(name), window.from, window.to), status)]
        }),
      ),
    list: async (names, window, use) => {
      for (const name of names) use(name, list(name, window))
    },
  }
}
