/**
 * Measures the error rates of the health check: how many rollouts noise alone stops, and how often
 * a rise is detected. All draws are seeded, so that the figures are reproducible.
 */
import { judgeWave } from '../../src/core/health/judge.ts'
import type { HealthRule } from '../../src/core/model/health.ts'
import type { Counts } from '../../src/core/model/statistics.ts'
import { Draws } from '../../test/health/draws.ts'
import {
  badClasses,
  drawFleets,
  judgeFleetWave,
  raise,
  waves as fleetWaves,
} from '../../test/health/fleets.ts'
import type { BenchOptions } from './arguments.ts'
import { createRow, formatShare, formatTable, type Row } from './row.ts'
import { health as defaultRule } from './waves/simulate.ts'

type Wave = [before: Map<string, Counts>, after: Map<string, Counts>]

/** Four waves of 200 domains: 1 %, 5 %, 25 %, 100 %. */
const waves = [2, 8, 40, 150]
/** Rises of the share of errors, in percentage points. */
const rises = [1, 2, 3, 5, 10]

export async function measureHealth({ rollouts: wanted }: BenchOptions): Promise<Row[]> {
  const rollouts = wanted ?? 2000
  const fleets = Math.max(1, Math.round(rollouts / 10))
  const runs = Math.max(1, Math.round(rollouts / 4))
  print(`${fleets} rollouts of 200 domains of the emulator's traffic, margin 1 %`, [
    ['statuses', 'gusts', 'stopped without a change', 'longer window', 'found +5 points'],
    ...[null, 2].flatMap((gusts) => measureFleets(gusts, fleets)),
  ])
  const points = rises.map((rise) => `+${rise} points`)
  const rule = { ...defaultRule, minRequests: 100 }
  print(`One of 200 domains rises from 0.5 %: found, of ${runs} (minRequests 100, margin 1 %)`, [
    ['requests', ...points],
    ...[100, 300, 1000, 10_000].map((requests) => [
      String(requests),
      ...rises.map((rise) => measureDetected(requests, rise, rule, runs)),
    ]),
  ])
  print(`All of 200 domains with 100 requests rise from 0.5 %: found as a whole, of ${runs}`, [
    ['', ...points],
    ['found', ...rises.map((rise) => measureDetectedTogether(rise, runs))],
  ])
  return [
    defaultRule,
    { ...defaultRule, minRequests: 100, margin: 0.1 },
    { ...defaultRule, minRequests: 1, margin: 0 },
  ].map((each) => {
    const what = `stopped by noise, minRequests ${each.minRequests}, margin ${each.margin} %`
    const stopped = countStopped(each, rollouts)
    return createRow('health-noise', `${what}, of ${rollouts}`, '', stopped, rollouts / 200)
  })
}

function print(title: string, table: string[][]): void {
  console.log(`${title}:\n\n${formatTable(table)}\n`)
}

/** Counts the rollouts that noise stops. */
function countStopped(rule: HealthRule, rollouts: number): number {
  const draws = new Draws(2026)
  let stopped = 0
  for (let i = 0; i < rollouts; i++) {
    const verdicts = waves.map((domains) => judgeWave(...drawWave(draws, domains), rule).verdict)
    if (verdicts.includes('worse')) stopped++
  }
  return stopped
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
function measureFleets(gustFactor: number | null, fleets: number): string[][] {
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
  return totals.map(({ name, stopped, longer, found }) => [
    name,
    gustFactor === null ? 'none' : `up to ×${gustFactor}`,
    String(stopped),
    formatShare(longer / fleets / fleetWaves.length),
    formatShare(found / fleets),
  ])
}

function measureDetected(requests: number, rise: number, rule: HealthRule, runs: number): string {
  const draws = new Draws(requests + rise)
  const [before, after] = drawWave(draws, 199)
  let found = 0
  for (let i = 0; i < runs; i++) {
    before.set('rising', draws.window(requests, 0.005))
    after.set('rising', draws.window(requests, 0.005 + rise / 100))
    if (judgeWave(before, after, rule).domains.get('rising')?.verdict === 'worse') found++
  }
  return formatShare(found / runs)
}

function measureDetectedTogether(rise: number, runs: number): string {
  const draws = new Draws(rise)
  const names = Array.from({ length: 200 }, (_, i) => `d${i}`)
  const draw = (share: number) => new Map(names.map((name) => [name, draws.window(100, share)]))
  let found = 0
  for (let i = 0; i < runs; i++) {
    const { whole } = judgeWave(draw(0.005), draw(0.005 + rise / 100), defaultRule)
    if (whole.verdict === 'worse') found++
  }
  return formatShare(found / runs)
}
