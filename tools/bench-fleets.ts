/**
 * Plans change mixes of whole fleets. Prints the writes, those of a plain greedy search, the fewest
 * known, the proven bound, wall and CPU seconds of all threads, and memory. Exits with 1 if a plan
 * misses its goal.
 *
 * --unseen 1500,10000 makes new mixes of so many domains, with --seed; --waves plans each mix in
 * waves too; --effort is that of `plan`; --threads is the number of threads beside the first one,
 * by default those of the machine.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadSolver } from '../src/operations/load-solver.ts'
import { countSpareThreads, createWorkerPool } from '../src/operations/worker-pool.ts'
import { efforts } from '../src/model/plan.ts'
import type { WriteProblem } from '../src/plan/group-writes.ts'
import { writeInWaves } from '../src/plan/write-in-waves.ts'
import { families, type Mix } from './fleet-mixes.ts'
import { countGreedyWrites } from './plain-greedy.ts'

interface Fleet {
  family: string
  mix: Mix
  /** Number of writes from which the mix was made; null if it was made otherwise. */
  planted: number | null
  greedy: number
  bestKnown: number
}

/** Maximum ratio of writes to those of the greedy search, over all families but planted. */
const maxRatio = 0.953

const { values: options } = parseArgs({
  options: {
    effort: { type: 'string', default: 'normal' },
    unseen: { type: 'string' },
    seed: { type: 'string', default: '1' },
    waves: { type: 'boolean', default: false },
    threads: { type: 'string', default: String(countSpareThreads()) },
  },
})
const effort = efforts.find((each) => each === options.effort) ?? 'normal'
const solver = await loadSolver()
const parallel = createWorkerPool(Number(options.threads))
const printLine = (...cells: (string | number)[]): void =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(16) : String(cell).padStart(9))).join(''),
  )
printLine(
  'fleet',
  'needs',
  'greedy',
  'best',
  'writes',
  'bound',
  '/greedy',
  '/bound',
  'wall s',
  'CPU s',
  'MB',
  'in waves',
)

const total = { needs: 0, greedy: 0, best: 0, writes: 0, bound: 0, wall: 0, cpu: 0 }
const notPlanted = { writes: 0, greedy: 0 }
const missed: string[] = []
for (const { family, mix, planted, greedy, bestKnown } of options.unseen === undefined
  ? loadPublicFleets()
  : makeUnseenFleets()) {
  const problem = toProblem(mix)
  const [started, cpuBefore] = [performance.now(), process.cpuUsage().user]
  const { writes, lowerBound } = writeInWaves(problem, { waveByDomain: new Map<string, number>() })
  const wall = (performance.now() - started) / 1e3
  const cpu = (process.cpuUsage().user - cpuBefore) / 1e6
  const waves = options.waves
    ? writeInWaves(problem, {
        amounts: [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }],
      }).writes.length
    : null
  const name = `${family} ${mix.length}`
  printLine(
    name,
    problem.needs.length,
    greedy,
    bestKnown,
    writes.length,
    lowerBound,
    (writes.length / greedy).toFixed(3),
    (writes.length / lowerBound).toFixed(3),
    wall.toFixed(1),
    cpu.toFixed(1),
    Math.round(process.resourceUsage().maxRSS / 1024),
    waves === null ? '-' : `+${((100 * waves) / writes.length - 100).toFixed(1)} %`,
  )
  if (planted === null || family !== 'planted') {
    notPlanted.writes += writes.length
    notPlanted.greedy += greedy
  } else if (writes.length > planted) missed.push(`${name}: expected at most ${planted} writes`)
  total.needs += problem.needs.length
  total.greedy += greedy
  total.best += bestKnown
  total.writes += writes.length
  total.bound += lowerBound
  total.wall += wall
  total.cpu += cpu
}
printLine(
  'total',
  total.needs,
  total.greedy,
  total.best,
  total.writes,
  total.bound,
  (total.writes / total.greedy).toFixed(3),
  (total.writes / total.bound).toFixed(3),
  total.wall.toFixed(1),
  total.cpu.toFixed(1),
)
await parallel.end()
const ratio = notPlanted.writes / notPlanted.greedy
console.log(
  `\nall but planted: ${notPlanted.writes} writes, ${ratio.toFixed(3)} × the greedy search`,
)
if (ratio > maxRatio)
  missed.push(`expected at most ${maxRatio} × the greedy search for all but planted`)
if (effort !== 'quick' && missed.length > 0) {
  for (const each of missed) console.error(each)
  process.exitCode = 1
}

function loadPublicFleets(): Fleet[] {
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

/** Decodes the values of a domain, by item; an empty field is an item without a change. */
function decodeRow(row: string, items: string[]): Mix[number] {
  return row
    .split(',')
    .flatMap((value, i): Mix[number] => (value === '' ? [] : [[items[i] ?? '', Number(value)]]))
}

function makeUnseenFleets(): Fleet[] {
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
  return {
    needs,
    grouping: { groups: 'all', together: [] },
    domainsPerWrite: 10,
    effort,
    solver,
    parallel,
  }
}
