/**
 * Plans change mixes of whole fleets and prints writes, those of a plain greedy search, the fewest
 * known, the proven bound, CPU seconds and memory. Fails when a plan falls short of its goal.
 *
 * --unseen 1500,10000 makes mixes of that many domains instead, --seed others; --waves plans each
 * in waves too; --effort is that of `plan`.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadSolver } from '../src/operations/load-solver.ts'
import { efforts } from '../src/model/plan.ts'
import type { WriteProblem } from '../src/plan/group-writes.ts'
import { writeInWaves } from '../src/plan/write-in-waves.ts'
import { families, type Mix } from './fleet-mixes.ts'
import { countGreedyWrites } from './plain-greedy.ts'

interface Fleet {
  family: string
  mix: Mix
  /** Writes that the mix was made from; null where that says nothing. */
  planted: number | null
  greedy: number
  bestKnown: number
}

/** Writes for each of the greedy search's, over all families that do not say how few would do. */
const maxRatio = 0.965

const { values: options } = parseArgs({
  options: {
    effort: { type: 'string', default: 'normal' },
    unseen: { type: 'string' },
    seed: { type: 'string', default: '1' },
    waves: { type: 'boolean', default: false },
  },
})
const effort = efforts.find((each) => each === options.effort) ?? 'normal'
const solver = await loadSolver()
const line = (...cells: (string | number)[]): void =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(16) : String(cell).padStart(9))).join(''),
  )
line(
  'fleet',
  'needs',
  'greedy',
  'best',
  'writes',
  'bound',
  '/greedy',
  '/bound',
  'seconds',
  'MB',
  'in waves',
)

const total = { needs: 0, greedy: 0, best: 0, writes: 0, bound: 0, seconds: 0 }
const others = { writes: 0, greedy: 0 }
const short: string[] = []
for (const { family, mix, planted, greedy, bestKnown } of options.unseen === undefined
  ? publicFleets()
  : unseenFleets()) {
  const problem = toProblem(mix)
  const started = process.cpuUsage().user
  const { writes, lowerBound } = writeInWaves(problem, { waveOf: new Map<string, number>() })
  const seconds = (process.cpuUsage().user - started) / 1e6
  const waves = options.waves
    ? writeInWaves(problem, {
        amounts: [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }],
      }).writes.length
    : null
  const name = `${family} ${mix.length}`
  line(
    name,
    problem.needs.length,
    greedy,
    bestKnown,
    writes.length,
    lowerBound,
    (writes.length / greedy).toFixed(3),
    (writes.length / lowerBound).toFixed(3),
    seconds.toFixed(1),
    Math.round(process.resourceUsage().maxRSS / 1024),
    waves === null ? '-' : `+${((100 * waves) / writes.length - 100).toFixed(1)} %`,
  )
  if (planted === null || family !== 'planted') {
    others.writes += writes.length
    others.greedy += greedy
  } else if (writes.length > planted) short.push(`${name}: at most ${planted} writes are expected`)
  total.needs += problem.needs.length
  total.greedy += greedy
  total.best += bestKnown
  total.writes += writes.length
  total.bound += lowerBound
  total.seconds += seconds
}
line(
  'total',
  total.needs,
  total.greedy,
  total.best,
  total.writes,
  total.bound,
  (total.writes / total.greedy).toFixed(3),
  (total.writes / total.bound).toFixed(3),
  total.seconds.toFixed(1),
)
const ratio = others.writes / others.greedy
console.log(`\nall but planted: ${others.writes} writes, ${ratio.toFixed(3)} × the greedy search`)
if (ratio > maxRatio)
  short.push(`at most ${maxRatio} × the greedy search is expected of all but planted`)
if (effort !== 'quick' && short.length > 0) {
  for (const each of short) console.error(each)
  process.exitCode = 1
}

function publicFleets(): Fleet[] {
  const file = new URL('../test/bench/fleets.json', import.meta.url)
  const stored = JSON.parse(readFileSync(file, 'utf8')) as (Omit<Fleet, 'mix'> & {
    items: string[]
    rows: string
  })[]
  return stored.map(({ items, rows, ...fleet }) => ({
    ...fleet,
    mix: rows.split(' ').map((row) => decodeRow(row, items)),
  }))
}

/** Decodes the values of a domain, by item; an empty place is an item that does not change. */
function decodeRow(row: string, items: string[]): Mix[number] {
  return row
    .split(',')
    .flatMap((value, i): Mix[number] => (value === '' ? [] : [[items[i] ?? '', Number(value)]]))
}

function unseenFleets(): Fleet[] {
  return (options.unseen ?? '').split(',').flatMap((domains) =>
    Object.entries(families).map(([family, make]) => {
      const mix = make(Number(domains), Number(options.seed))
      const greedy = countGreedyWrites(mix)
      return {
        family,
        mix,
        planted: family === 'planted' ? greedy : null,
        greedy,
        bestKnown: greedy,
      }
    }),
  )
}

function toProblem(mix: Mix): WriteProblem {
  const needs = mix.flatMap((own, i) =>
    own.map(([item, value]) => ({
      domain: `d${String(i).padStart(6, '0')}.example.com`,
      item,
      whole: { name: 'replace' as const, payload: { value } },
      parts: [],
    })),
  )
  return { needs, grouping: { groups: 'all', together: [] }, domainsPerWrite: 10, effort, solver }
}
