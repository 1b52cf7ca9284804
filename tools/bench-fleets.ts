/**
 * Plans change mixes of whole fleets. Prints the writes, those of a plain greedy search, the fewest
 * known, the proven bound, wall and CPU seconds of all threads, and memory. Exits with 1 if a plan
 * misses its goal.
 *
 * --unseen 1500,10000 makes new mixes of so many domains, with --seed, of --families or all;
 * --skip-greedy leaves the greedy search out, which is slow. --effort is that of `plan`.
 * --waves plans each mix in the waves 1, 5%, 25%, 100%, and prints how many writes they add; the
 * seconds include the waves. --threads is the number of threads beside the first one, by default
 * those of the machine.
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

/** Waves of `--waves`, and the maximum share of writes that they may add. */
const amounts = [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }]
const maxWaveShare = 0.15
/** The same for planted mixes: any choice of waves cuts many of their full rectangles. */
const maxPlantedWaveShare = 0.5

const { values: options } = parseArgs({
  options: {
    effort: { type: 'string', default: 'normal' },
    unseen: { type: 'string' },
    seed: { type: 'string', default: '1' },
    waves: { type: 'boolean', default: false },
    families: { type: 'string' },
    'skip-greedy': { type: 'boolean', default: false },
    threads: { type: 'string', default: String(countSpareThreads()) },
  },
})
const effort = efforts.find((each) => each === options.effort) ?? 'normal'
const solver = await loadSolver()
// Node 20 starts no thread from a TypeScript file while this one waits.
const worker = new URL('../dist/operations/worker.cjs', import.meta.url)
const parallel = createWorkerPool(Number(options.threads), worker)
const printLine = (...cells: (string | number)[]): void =>
  console.log(
    cells
      .map((cell) => String(cell).replace('NaN', '-'))
      .map((cell, i) => (i === 0 ? cell.padEnd(16) : cell.padStart(9)))
      .join(''),
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

const total = { needs: 0, greedy: 0, best: 0, writes: 0, inWaves: 0, bound: 0, wall: 0, cpu: 0 }
const notPlanted = { writes: 0, greedy: 0 }
const missed: string[] = []
for (const { family, mix, planted, greedy, bestKnown } of options.unseen === undefined
  ? loadPublicFleets()
  : makeUnseenFleets()) {
  const problem = toProblem(mix)
  const [started, cpuBefore] = [performance.now(), process.cpuUsage().user]
  const {
    writes: writesInWaves,
    writesAtOnce: writes,
    lowerBound,
  } = writeInWaves(problem, { amounts: options.waves ? amounts : [{ percent: 100 }] })
  const wall = (performance.now() - started) / 1e3
  const cpu = (process.cpuUsage().user - cpuBefore) / 1e6
  const waveShare = writesInWaves.length / writes - 1
  const name = `${family} ${mix.length}`
  printLine(
    name,
    problem.needs.length,
    greedy,
    bestKnown,
    writes,
    lowerBound,
    (writes / greedy).toFixed(3),
    (writes / lowerBound).toFixed(3),
    wall.toFixed(1),
    cpu.toFixed(1),
    Math.round(process.resourceUsage().maxRSS / 1024),
    options.waves ? formatShare(waveShare) : '-',
  )
  if (planted === null || family !== 'planted') {
    notPlanted.writes += writes
    notPlanted.greedy += greedy
  } else if (writes > planted) missed.push(`${name}: expected at most ${planted} writes`)
  const maxShare = family === 'planted' ? maxPlantedWaveShare : maxWaveShare
  if (waveShare > maxShare)
    missed.push(`${name}: expected the waves to add at most ${formatShare(maxShare)} writes`)
  total.needs += problem.needs.length
  total.greedy += greedy
  total.best += bestKnown
  total.writes += writes
  total.inWaves += writesInWaves.length
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
  '',
  options.waves ? formatShare(total.inWaves / total.writes - 1) : '-',
)
await parallel.end()
const ratio = notPlanted.writes / notPlanted.greedy
if (!Number.isNaN(ratio))
  console.log(
    `\nall but planted: ${notPlanted.writes} writes, ${ratio.toFixed(3)} × the greedy search`,
  )
if (ratio > maxRatio)
  missed.push(`expected at most ${maxRatio} × the greedy search for all but planted`)
if (effort !== 'quick' && missed.length > 0) {
  for (const each of missed) console.error(each)
  process.exitCode = 1
}

/** Formats a share such as 0.15 as `+15.0 %`. */
function formatShare(share: number): string {
  return `+${(100 * share).toFixed(1)} %`
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
  const named = options.families?.split(',')
  const chosen = Object.entries(families).filter(([family]) => named?.includes(family) ?? true)
  return (options.unseen ?? '').split(',').flatMap((domains) =>
    chosen.map(([family, make]) => {
      const mix = make(Number(domains), Number(options.seed))
      const greedy = options['skip-greedy'] ? NaN : countGreedyWrites(mix)
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
