/**
 * Measures the error rates of the health check: `npm run bench:health`. Prints how many rollouts
 * noise alone stops, and how often a rise is detected. All draws are seeded, so that the figures
 * are reproducible. `-- --rollouts N` sets the number of rollouts (default 2,000).
 */
import { parseArgs } from 'node:util'
import { judgeWave, significance } from '../src/health/judge.ts'
import type { HealthRule } from '../src/model/health.ts'
import type { Counts } from '../src/model/statistics.ts'
import { Draws } from '../test/health/draws.ts'
import {
  badClasses,
  drawFleets,
  judgeFleetWave,
  raise,
  waves as fleetWaves,
} from '../test/health/fleets.ts'

type Wave = [before: Map<string, Counts>, after: Map<string, Counts>]

const { values } = parseArgs({ options: { rollouts: { type: 'string', default: '2000' } } })
const rollouts = Math.max(1, Math.floor(Number(values.rollouts)) || 0)
const defaultRule: HealthRule = {
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
}
/** Four waves of 200 domains: 1 %, 5 %, 25 %, 100 %. */
const waves = [2, 8, 40, 150]

console.log(
  `Significance ${significance} per wave; ${rollouts} rollouts of ${waves.join(' + ')} domains ` +
    'without a change\n',
)
console.log(formatNoiseRow('noise', 'rule', 'stopped', 'of', 'share'))
/** Fleets with the emulator's traffic. */
const fleets = Math.max(1, Math.round(rollouts / 10))
measureNoise('binomial', defaultRule, rollouts, drawWave)
measureNoise('binomial', { ...defaultRule, minRequests: 100, margin: 0.1 }, rollouts, drawWave)
measureNoise('binomial', { ...defaultRule, minRequests: 1, margin: 0 }, rollouts, drawWave)

console.log(
  `\n${fleets} rollouts of 200 domains of the emulator's traffic, margin 1 %: stopped without a ` +
    'change; waves that a longer window decided; found +5 points on one of 200 domains\n',
)
console.log(formatRow('statuses', 'gusts', 'stopped', 'longer', 'found'))
for (const gustFactor of [null, 2]) measureFleets(gustFactor)

const runs = Math.max(1, Math.round(rollouts / 4))
const rises = [1, 2, 3, 5, 10]
const sizes = [100, 300, 1000, 10_000]
console.log(
  `\nOne domain of 200 rises from 0.5 %, the other 199 are noise; detected in percent of ${runs} ` +
    '(minRequests 100, margin 1 %)\n',
)
console.log(formatRow('requests', ...rises.map((rise) => `+${rise} points`)))
for (const requests of sizes)
  console.log(
    formatRow(
      String(requests),
      ...rises.map((rise) => measureDetected(requests, rise, { ...defaultRule, minRequests: 100 })),
    ),
  )
console.log(
  '\nAll of 200 domains with 100 requests each rise from 0.5 %; the wave detected as a whole ' +
    `in percent of ${runs} (minRequests 500)\n`,
)
console.log(formatRow('', ...rises.map((rise) => `+${rise} points`)))
console.log(formatRow('detected', ...rises.map((rise) => measureDetectedTogether(rise))))

function formatRow(first: string, ...cells: string[]): string {
  return [first.padEnd(10), ...cells.map((cell) => cell.padStart(11))].join(' ')
}

function formatNoiseRow(kind: string, rule: string, ...cells: string[]): string {
  return [kind.padEnd(10), rule.padEnd(44), ...cells.map((cell) => cell.padStart(8))].join(' ')
}

function measureNoise(
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
  console.log(
    formatNoiseRow(kind, words, String(stopped), String(count), formatPercent(stopped / count)),
  )
}

/** Draws a wave of domains of all sizes and error shares, whose traffic differs between windows. */
function drawWave(draws: Draws, domains: number): Wave {
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

/** Measures the rollouts of fleets whose errors come in gusts, or not. */
function measureFleets(gustFactor: number | null): void {
  const draws = new Draws(2026)
  const totals = badClasses.map((name) => ({ name, stopped: 0, longer: 0, found: 0 }))
  for (let i = 0; i < fleets; i++) {
    const drawn = drawFleets(draws, gustFactor)
    const domain = `d${50 + (i % 150)}.example.com`
    for (const total of totals) {
      const fleet = drawn[total.name]
      const judged = fleetWaves.map((wave) => judgeFleetWave(fleet, wave))
      if (judged.some(({ verdict }) => verdict === 'worse')) total.stopped++
      total.longer += judged.filter(({ windows }) => windows > 1).length
      const risen = judgeFleetWave(raise(fleet, domain, 5, draws), [50, 200])
      if (risen.worse.includes(domain)) total.found++
    }
  }
  for (const { name, stopped, longer, found } of totals)
    console.log(
      formatRow(
        name,
        gustFactor === null ? 'none' : `up to ×${gustFactor}`,
        `${stopped} of ${fleets}`,
        formatPercent(longer / fleets / fleetWaves.length),
        formatPercent(found / fleets),
      ),
    )
}

function measureDetected(requests: number, rise: number, rule: HealthRule): string {
  const draws = new Draws(requests + rise)
  const [before, after] = drawWave(draws, 199)
  let found = 0
  for (let i = 0; i < runs; i++) {
    before.set('rising', draws.window(requests, 0.005))
    after.set('rising', draws.window(requests, 0.005 + rise / 100))
    if (judgeWave(before, after, rule).domains.get('rising')?.verdict === 'worse') found++
  }
  return formatPercent(found / runs)
}

function measureDetectedTogether(rise: number): string {
  const draws = new Draws(rise)
  const names = Array.from({ length: 200 }, (_, i) => `d${i}`)
  const windows = (share: number) => new Map(names.map((name) => [name, draws.window(100, share)]))
  let found = 0
  for (let i = 0; i < runs; i++)
    if (
      judgeWave(windows(0.005), windows(0.005 + rise / 100), defaultRule).whole.verdict === 'worse'
    )
      found++
  return formatPercent(found / runs)
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
