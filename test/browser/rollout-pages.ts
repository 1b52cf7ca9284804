import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { Verdict } from '../../src/core/model/health.ts'
import type { Page } from '../../src/core/model/page/page.ts'
import { addHealth } from '../../src/outlets/report/page/build-rollout.ts'
import { Draws } from '../health/draws.ts'
import { buildStatistics, formatMinute } from '../health/statistics.ts'
import { buildFleetPage } from './pages.ts'

const time = formatMinute(0)
export const worseReason =
  '5xx rose on 2 of 4 domains: api-1.us.example.com from 0.4 % to 27.5 %, ' +
  'canary-with-a-long-name.shop-1.de.example.com from 0.2 % to 9.1 %'

/** Builds the event of a verdict, with a point for each share of errors in percent. */
export function buildVerdict(
  wave: number,
  verdict: Verdict,
  shares: [before: number[], after: number[]],
  given: Partial<Extract<ApplyEvent, { type: 'wave.judged' }>> = {},
): ApplyEvent {
  const statistics = buildStatistics(...shares)
  const sum = (from: number, to: number) => {
    const points = statistics.points.slice(from, to)
    return {
      requests: points.reduce((all, { requests }) => all + requests, 0),
      bad: points.reduce((all, { bad }) => all + bad, 0),
    }
  }
  const [before, after] = [sum(0, shares[0].length), sum(shares[0].length, Infinity)]
  const about = { reason: null, before, after, worse: [], statistics }
  return { type: 'wave.judged', time, wave, verdict, ...about, ...given }
}

/** Builds the page of an apply whose events these are, with five waves of three domains each. */
export function buildRolloutPage(events: ApplyEvent[], count = 5): Page {
  const page = buildFleetPage(3 * count, count)
  const started: ApplyEvent = {
    type: 'apply.started',
    time,
    apply: 'a1',
    writes: page.writes.length,
    releases: 0,
    waves: count,
  }
  const rollout = addHealth([started, ...events], page.writes, page.waves, (text) => text)
  if (rollout === null) throw new Error('the events are those of a rollout')
  const { waves, rollback } = rollout
  const own = { ...page, title: 'Apply of the workspace storefront', waves }
  return rollback === null ? own : { ...own, rollback }
}

export const written = (wave: number): ApplyEvent => ({ type: 'wave.finished', time, wave })
export const watching = (wave: number): ApplyEvent => ({
  type: 'wave.waiting',
  time,
  wave,
  waves: 5,
  domains: 3,
  until: formatMinute(35),
  reason: 'health',
})
const noise = (draws: Draws, level: number, count: number) =>
  Array.from({ length: count }, () => Math.round((level + draws.next() * 0.4) * 10) / 10)

/** Builds a page of a rollout with a wave of each kind, which was rolled back. */
export function buildWorsePage(): Page {
  const draws = new Draws(3)
  const calm = (): [number[], number[]] => [noise(draws, 0.2, 12), noise(draws, 0.2, 12)]
  const sample = { requests: 4000, bad: 16 }
  const page = buildRolloutPage([
    written(1),
    buildVerdict(1, 'same-or-better', calm()),
    written(2),
    buildVerdict(2, 'too-little-data', calm(), {
      reason:
        'too little data: 240 requests before and 198 after, and health.minRequests ' +
        'requires 500 in both',
    }),
    written(3),
    buildVerdict(3, 'worse', [noise(draws, 0.2, 12), [0.4, 3.1, 14.2, 22.9, 27.1, 26.5]], {
      reason: worseReason,
      worse: [
        { domain: 'api-1.us.example.com', before: sample, after: { requests: 3800, bad: 1045 } },
        {
          domain: 'canary-with-a-long-name.shop-1.de.example.com',
          before: { requests: 4000, bad: 8 },
          after: { requests: 3700, bad: 337 },
        },
      ],
    }),
    {
      type: 'rollout.taking-back',
      time,
      apply: 'a1',
      reason: `wave 3 of 5: ${worseReason}; rolled back`,
      writes: 3,
    },
    { type: 'wave.finished', time, wave: 1 },
  ])
  return { ...page, sentence: `Rolled back; writes: 6 confirmed, 4 not sent. ${worseReason}.` }
}

/** Builds a page of so many healthy waves, the last of which is being checked. */
export function buildManyWavesPage(waves: number, points: number): Page {
  const draws = new Draws(waves)
  const half = points / 2
  const events = Array.from({ length: waves - 1 }, (_, i) => [
    written(i + 1),
    buildVerdict(i + 1, 'same-or-better', [noise(draws, 0.2, half), noise(draws, 0.2, half)]),
  ])
  return buildRolloutPage([...events.flat(), written(waves), watching(waves)], waves)
}
