/**
 * Measures the judgement of health by chance: `npm run bench:health`. How many rollouts noise alone
 * stops, and how often a rise is caught. Everything is drawn from seeds, so that the figures are
 * the same each time. `-- --rollouts N` (2,000) says how many are drawn.
 */
import { parseArgs } from 'node:util'
import { judgeWave, significance } from '../src/health/judge.ts'
import { computeWindows } from '../src/health/windows.ts'
import { countRequests } from '../src/emulator/entities/statistics.ts'
import { areas, statuses } from '../src/emulator/entities/traffic.ts'
import type { HealthRule } from '../src/model/health.ts'
import type { Counts } from '../src/model/statistics.ts'
import { createTimeZone } from '../src/model/time-zone.ts'
import { Draws } from '../test/health/draws.ts'

type Wave = [before: Map<string, Counts>, after: Map<string, Counts>]

const { values } = parseArgs({ options: { rollouts: { type: 'string', default: '2000' } } })
const rollouts = Math.max(1, Math.floor(Number(values.rollouts)) || 0)
const usual: HealthRule = {
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
}
const zone = createTimeZone('UTC')
const minuteMs = 60_000
/** Four waves of 200 domains: 1 %, 5 %, 25 %, 100 %. */
const waves = [2, 8, 40, 150]

console.log(
  `Level ${significance} a wave; ${rollouts} rollouts of ${waves.join(' + ')} domains in which nothing changes\n`,
)
console.log(noiseRow('noise', 'rule', 'stopped', 'of', 'share'))
const emulated = Math.max(1, Math.round(rollouts / 10))
noise('binomial', usual, rollouts - emulated, drawnWave)
noise('binomial', { ...usual, minRequests: 100, margin: 0.1 }, rollouts - emulated, drawnWave)
noise('binomial', { ...usual, minRequests: 1, margin: 0 }, rollouts - emulated, drawnWave)
noise('emulator', usual, emulated, emulatedWave)
noise('emulator', { ...usual, statuses: ['4xx', '5xx'] }, emulated, emulatedWave)
noise('emulator', { ...usual, statuses: ['4xx', '5xx'], margin: 3 }, emulated, emulatedWave)
noise('emulator', { ...usual, margin: 0.1 }, emulated, emulatedWave)

const runs = Math.max(1, Math.round(rollouts / 4))
const rises = [1, 2, 3, 5, 10]
const sizes = [100, 300, 1000, 10_000]
console.log(
  `\nOne domain of 200 rises from 0.5 %; caught, in percent of ${runs} (minRequests 100, margin 1 %; the other 199 are noise)\n`,
)
console.log(row('requests', ...rises.map((rise) => `+${rise} points`)))
for (const requests of sizes)
  console.log(
    row(
      String(requests),
      ...rises.map((rise) => caught(requests, rise, { ...usual, minRequests: 100 })),
    ),
  )
console.log(
  `\nAll of 200 domains with 100 requests each rise from 0.5 %: the wave as a whole, in percent of ${runs} (minRequests 500)\n`,
)
console.log(row('', ...rises.map((rise) => `+${rise} points`)))
console.log(row('caught', ...rises.map((rise) => caughtTogether(rise))))

function row(first: string, ...cells: string[]): string {
  return [first.padEnd(10), ...cells.map((cell) => cell.padStart(11))].join(' ')
}

function noiseRow(kind: string, rule: string, ...cells: string[]): string {
  return [kind.padEnd(10), rule.padEnd(44), ...cells.map((cell) => cell.padStart(8))].join(' ')
}

function noise(
  kind: string,
  rule: HealthRule,
  count: number,
  waveOf: (draws: Draws, domains: number, rule: HealthRule) => Wave,
): void {
  const draws = new Draws(2026)
  let stopped = 0
  for (let i = 0; i < count; i++) {
    const verdicts = waves.map(
      (domains) => judgeWave(...waveOf(draws, domains, rule), rule).verdict,
    )
    if (verdicts.includes('worse')) stopped++
  }
  const { statuses: bad, minRequests, margin } = rule
  const words = `${bad.join(' ')}, minRequests ${minRequests}, margin ${margin} %`
  console.log(noiseRow(kind, words, String(stopped), String(count), percent(stopped / count)))
}

/**
 * Domains of all sizes and shares, whose windows differ by chance and by how much traffic there is.
 */
function drawnWave(draws: Draws, domains: number): Wave {
  const wave: Wave = [new Map(), new Map()]
  for (let i = 0; i < domains; i++) {
    const [requests, share] = [
      Math.round(draws.logUniform(20, 20_000)),
      draws.logUniform(0.0002, 0.02),
    ]
    wave[0].set(`d${i}`, draws.window(requests, share))
    wave[1].set(`d${i}`, draws.window(Math.round(requests * draws.logUniform(0.7, 1.4)), share))
  }
  return wave
}

/** The emulator's own traffic at any time of a week: its errors come in gusts from hour to hour. */
function emulatedWave(draws: Draws, domains: number, rule: HealthRule): Wave {
  const start = Date.UTC(2026, 10, 2) + Math.floor(draws.next() * 7 * 86_400) * 1000
  const { before, after } = computeWindows(
    start,
    start + Math.ceil(domains / 10) * 2000,
    rule,
    zone,
  )
  const seed = String(draws.next())
  const names = Array.from({ length: domains }, (_, i) => `d${i}.example.com`)
  const countsOf = ({ from, to }: { from: number; to: number }) =>
    new Map(names.map((name) => [name, emulatedCounts(seed, name, from / minuteMs, to / minuteMs)]))
  return [countsOf(before), countsOf(after)]
}

function emulatedCounts(seed: string, domain: string, from: number, to: number): Counts {
  const counts = countRequests(
    seed,
    new Map([[domain, { behaviour: [], dead: [] }]]),
    [{ label: from * 60, from, to }],
    areas,
  )
  return Object.fromEntries(
    statuses.flatMap((status, i) => (counts[i] === 0 ? [] : [[String(status), counts[i] ?? 0]])),
  )
}

function caught(requests: number, rise: number, rule: HealthRule): string {
  const draws = new Draws(requests + rise)
  const [before, after] = drawnWave(draws, 199)
  let found = 0
  for (let i = 0; i < runs; i++) {
    before.set('rising', draws.window(requests, 0.005))
    after.set('rising', draws.window(requests, 0.005 + rise / 100))
    if (judgeWave(before, after, rule).domains.get('rising')?.verdict === 'worse') found++
  }
  return percent(found / runs)
}

function caughtTogether(rise: number): string {
  const draws = new Draws(rise)
  const names = Array.from({ length: 200 }, (_, i) => `d${i}`)
  const windows = (share: number) => new Map(names.map((name) => [name, draws.window(100, share)]))
  let found = 0
  for (let i = 0; i < runs; i++)
    if (judgeWave(windows(0.005), windows(0.005 + rise / 100), usual).whole.verdict === 'worse')
      found++
  return percent(found / runs)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
