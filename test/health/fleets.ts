import { countRequests } from '../../src/emulator/entities/statistics.ts'
import { areas, statuses } from '../../src/emulator/entities/traffic.ts'
import { decidingWindows, judgeWave } from '../../src/core/health/judge.ts'
import type { Sample, Verdict } from '../../src/core/model/health.ts'
import type { Domain } from '../../src/core/model/item.ts'
import type { Counts } from '../../src/core/model/statistics.ts'
import type { Draws } from './draws.ts'

/** Requests of a domain in windows of 15 minutes: before a change, latest first, and after it. */
interface FleetDomain {
  earlier: Sample[]
  later: Sample[]
}

/** Domains of the emulator's traffic around a change that has no effect on them. */
export type Fleet = ReadonlyMap<Domain, FleetDomain>

/** Four waves of 200 domains: 1 %, 5 %, 25 %, 100 %. */
export const waves: [from: number, to: number][] = [
  [0, 2],
  [2, 10],
  [10, 50],
  [50, 200],
]

const minute = 60_000
const window = 15
/** Three days, as the product compares. */
const earlierWindows = 288
/** Minutes from the end of the baseline to the first window after the change. */
const between = 10

const classes = statuses.map((status) => Math.floor(status / 100))

/** Classes of bad statuses. */
export const badClasses = ['4xx', '5xx'] as const

/**
 * Draws the traffic of 200 domains at any time of a week: a fleet for each class of bad statuses.
 *
 * @param gustFactor largest factor of gusts; null for none
 */
export function drawFleets(
  draws: Draws,
  gustFactor: number | null,
): Record<(typeof badClasses)[number], Fleet> {
  const start = Math.floor((Date.UTC(2026, 10, 2) + draws.next() * 7 * 86_400_000) / minute)
  const seed = String(draws.next())
  const starts = [
    ...Array.from({ length: earlierWindows }, (_, i) => start - (earlierWindows - i) * window),
    ...Array.from({ length: decidingWindows }, (_, i) => start + between + i * window),
  ]
  const periods = starts.map((from) => ({ label: 0, from, to: from + window }))
  const counted = Array.from({ length: 200 }, (_, i): [Domain, Float64Array] => {
    const domain = `d${i}.example.com`
    const histories = new Map([[domain, { behaviour: [], dead: [] }]])
    return [domain, countRequests(seed, histories, periods, areas, gustFactor)]
  })
  const select = (hundreds: number): Fleet =>
    new Map(
      counted.map(([domain, counts]) => {
        const samples = periods.map((_period, p) =>
          sumStatuses(counts.subarray(p * statuses.length, (p + 1) * statuses.length), hundreds),
        )
        const earlier = samples.slice(0, earlierWindows).toReversed()
        return [domain, { earlier, later: samples.slice(earlierWindows) }]
      }),
    )
  return { '4xx': select(4), '5xx': select(5) }
}

function sumStatuses(counts: Float64Array, hundreds: number): Sample {
  let [requests, bad] = [0, 0]
  for (let i = 0; i < classes.length; i++) {
    requests += counts[i] ?? 0
    if (classes[i] === hundreds) bad += counts[i] ?? 0
  }
  return { requests, bad }
}

/** Raises the share of bad answers of one domain after the change, by percentage points. */
export function raise(fleet: Fleet, domain: Domain, points: number, draws: Draws): Fleet {
  const { earlier = [], later = [] } = fleet.get(domain) ?? {}
  const risen = later.map(({ requests, bad }) => ({
    requests,
    bad: bad + draws.binomial(requests - bad, points / 100),
  }))
  return new Map([...fleet, [domain, { earlier, later: risen }]])
}

/** Judges a wave as a rollout does: by one window, and by a longer one if that is uncertain. */
export function judgeFleetWave(
  fleet: Fleet,
  [from, to]: [number, number],
  margin = 1,
): { verdict: Verdict; windows: number; worse: Domain[] } {
  for (const windows of [1, decidingWindows]) {
    const { verdict, domains, isUncertain } = judgeFleet(fleet, [from, to], windows, margin)
    if (isUncertain && windows === 1) continue
    const worse = [...domains].filter(([, each]) => each.verdict === 'worse')
    return { verdict, windows, worse: worse.map(([domain]) => domain) }
  }
  throw new Error('expected the longer window to decide')
}

function judgeFleet(fleet: Fleet, [from, to]: [number, number], windows: number, margin: number) {
  const names = [...fleet.keys()]
  const wave = names.slice(from, to)
  const controls = [...names.slice(0, from), ...names.slice(to)].slice(0, 30)
  const domains = new Map(
    [...wave, ...controls].map((domain) => {
      const { earlier = [], later = [] } = fleet.get(domain) ?? {}
      return [domain, { earlier: mergeOnce(earlier, windows), later: merge(later, windows)[0] }]
    }),
  )
  const select = (selected: Domain[], when: 'earlier' | 'later') =>
    new Map(
      selected.map((domain) => {
        const { earlier = [], later } = domains.get(domain) ?? {}
        return [domain, toCounts(when === 'later' ? later : earlier[0])]
      }),
    )
  return judgeWave(
    select(wave, 'earlier'),
    select(wave, 'later'),
    { statuses: ['5xx'], minRequests: 500, margin },
    {
      windows: new Map([...domains].map(([domain, { earlier }]) => [domain, earlier])),
      controls: select(controls, 'later'),
    },
  )
}

const merged = new WeakMap<Sample[], Map<number, Sample[]>>()

/** Merges the windows of a baseline, which several waves are judged by, once. */
function mergeOnce(samples: Sample[], count: number): Sample[] {
  const known = merged.get(samples) ?? new Map<number, Sample[]>()
  merged.set(samples, known)
  const windows = known.get(count) ?? merge(samples, count)
  known.set(count, windows)
  return windows
}

/** Merges each `count` neighbouring windows. */
function merge(samples: Sample[], count: number): Sample[] {
  return Array.from({ length: Math.floor(samples.length / count) }, (_, i) => {
    let [requests, bad] = [0, 0]
    for (const sample of samples.slice(i * count, (i + 1) * count)) {
      requests += sample.requests
      bad += sample.bad
    }
    return { requests, bad }
  })
}

function toCounts(sample: Sample | undefined): Counts {
  return sample === undefined ? {} : { '200': sample.requests - sample.bad, '502': sample.bad }
}
