/** Plans change mixes, and compares the number of writes with other ways and with the bound. */
import { readFileSync } from 'node:fs'
import { loadSolver } from '../../src/operations/runtime/load-solver.ts'
import { countSpareThreads, createWorkerPool } from '../../src/operations/runtime/worker-pool.ts'
import { writeInWaves } from '../../src/core/plan/write-in-waves.ts'
import type { BenchOptions } from './arguments.ts'
import { families, type Mix } from '../../test/plan/fleet-mixes.ts'
import { countGreedyWrites } from '../../test/plan/plain-greedy.ts'
import { compareFigures, createRow, formatShare, formatTable, type Row } from './row.ts'

/** A change mix of 50 to 300 domains, with the calls of simple groupings. */
export interface Instance {
  family: string
  domains: number
  bestKnown: number
  /** Domains with equal changes together. */
  equalPatchGrouping: number
  /** One item in each call, domains with its same value together. */
  itemByItem: number
  /** The items of each domain with value numbers: equal means same payload. */
  needs: Mix
}

interface Fleet {
  family: string
  mix: Mix
  /** Number of writes from which the mix was made; null if it was made otherwise. */
  planted: number | null
  greedy: number
  bestKnown: number
}

/** Waves of `--waves`, and the maximum share of writes that they may add. */
const amounts = [{ count: 1 }, { percent: 5 }, { percent: 25 }, { percent: 100 }]
const maxWaveShare = 0.15
/** The same for planted mixes: any choice of waves cuts many of their full rectangles. */
const maxPlantedWaveShare = 0.5

/** Loads the 16 change mixes. */
export function loadInstances(): Instance[] {
  return load('instances') as Instance[]
}

/** Counts the calls of a careful script: of the simple groupings, it takes the better one. */
export function countPlain({ equalPatchGrouping, itemByItem }: Instance): number {
  return Math.min(equalPatchGrouping, itemByItem)
}

/** Measures the writes of the 16 mixes; docs/concepts.md has these figures. */
export async function measureMixes(): Promise<Row[]> {
  const planner = await openPlanner()
  const lines = loadInstances().map((instance) => {
    const { needs, writes, lowerBound, wall } = planner.plan(instance.needs, false)
    return {
      name: `${instance.family} ${instance.domains}`,
      counts: {
        'one each': needs,
        equal: instance.equalPatchGrouping,
        item: instance.itemByItem,
        plain: countPlain(instance),
        writes,
        best: instance.bestKnown,
        bound: lowerBound,
        seconds: wall,
      },
    }
  })
  await planner.end()
  const total = printCounts(lines)
  const worst = Math.max(...lines.map(({ counts }) => counts.writes / counts.best))
  return [
    compareFigures('writes', 'writes of 16 mixes / best known', total.writes, total.best, 1.03),
    compareFigures('writes-bound', 'the same / proven bound', total.writes, total.bound, null),
    createRow('writes-worst', 'the worst mix / best known', '', worst, 1.1),
  ]
}

/** Measures the writes and the time of whole fleets: stored ones, or new ones. */
export async function measureFleets(options: BenchOptions): Promise<Row[]> {
  const planner = await openPlanner()
  const fleets = options.unseen.length === 0 ? loadFleets() : makeFleets(options)
  const lines = fleets.map(({ family, mix, planted, greedy, bestKnown }) => {
    const { inWaves, lowerBound, needs, writes, wall, cpu } = planner.plan(mix, options.waves)
    const name = `${family} ${mix.length}`
    console.error(`${name}: ${writes} writes, ${wall.toFixed(1)} s`)
    const mb = process.resourceUsage().maxRSS / 1024
    return {
      name,
      isPlanted: family === 'planted',
      planted,
      counts: { needs, greedy, best: bestKnown, writes, bound: lowerBound, inWaves, wall, cpu, mb },
    }
  })
  await planner.end()
  const total = printCounts(lines)
  const others = sumCounts(lines.filter(({ isPlanted }) => !isPlanted))
  const planted = lines.filter((line) => line.planted !== null && line.isPlanted)
  const rows = [
    compareFigures('fleets-bound', 'writes / proven bound', total.writes, total.bound, null),
    ...planted.map(({ name, counts, planted: most }) =>
      compareFigures('fleets-planted', `${name}: writes / planted`, counts.writes, most ?? 0, 1),
    ),
    ...(options.waves ? lines : []).map(({ name, isPlanted, counts: { inWaves, writes } }) => {
      const goal = 1 + (isPlanted ? maxPlantedWaveShare : maxWaveShare)
      const what = `${name}: waves add ${formatShare(inWaves / writes - 1)}`
      return compareFigures('fleets-waves', what, inWaves, writes, goal)
    }),
  ]
  if (others.writes > 0 && !options.skipGreedy) {
    const what = 'writes of all but planted / greedy search'
    rows.unshift(compareFigures('fleets', what, others.writes, others.greedy, 0.953))
  }
  return rows
}

interface Planned {
  needs: number
  writes: number
  inWaves: number
  lowerBound: number
  /** Seconds, and those of all threads. */
  wall: number
  cpu: number
}

async function openPlanner(): Promise<{
  plan: (mix: Mix, waves: boolean) => Planned
  end: () => Promise<void>
}> {
  const solver = await loadSolver()
  // Node 20 starts no thread from a TypeScript file while this one waits.
  const worker = new URL('../../dist/runtime/worker.cjs', import.meta.url)
  const parallel = createWorkerPool(countSpareThreads(), worker)
  return {
    plan: (mix, waves) => {
      const needs = mix.flatMap((own, i) =>
        own.map(([item, value]) => ({
          domain: `d${String(i).padStart(6, '0')}.example.com`,
          item,
          whole: { name: 'replace' as const, payload: { value } },
          parts: [],
        })),
      )
      const grouping = { groups: 'all' as const, together: [] }
      const [started, cpuBefore] = [performance.now(), process.cpuUsage().user]
      const { writes, writesAtOnce, lowerBound } = writeInWaves(
        { needs, grouping, domainsPerWrite: 10, effort: 'normal', solver, parallel },
        { amounts: waves ? amounts : [{ percent: 100 }] },
      )
      return {
        needs: needs.length,
        writes: writesAtOnce,
        inWaves: writes.length,
        lowerBound,
        wall: (performance.now() - started) / 1e3,
        cpu: (process.cpuUsage().user - cpuBefore) / 1e6,
      }
    },
    end: () => parallel.end(),
  }
}

interface Line<Name extends string> {
  name: string
  counts: Record<Name, number>
}

/** Prints a line for each mix and one for their sum, which it returns. */
function printCounts<Name extends string>(lines: Line<Name>[]): Record<Name, number> {
  const total = sumCounts(lines)
  const names = Object.keys(total) as Name[]
  const rows = [...lines, { name: 'total', counts: total }].map(({ name, counts }) => [
    name,
    ...names.map((each) => formatCount(counts[each])),
  ])
  console.log(`${formatTable([['mix', ...names], ...rows])}\n`)
  return total
}

function sumCounts<Name extends string>(lines: Line<Name>[]): Record<Name, number> {
  const names = Object.keys(lines[0]?.counts ?? {}) as Name[]
  const sum = (name: Name) => lines.reduce((all, { counts }) => all + counts[name], 0)
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Record<Name, number>
}

function formatCount(count: number): string {
  return Number.isNaN(count) ? '-' : Number.isInteger(count) ? String(count) : count.toFixed(1)
}

function loadFleets(): Fleet[] {
  const stored = load('fleets') as (Omit<Fleet, 'mix'> & { items: string[]; rows: string })[]
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

function makeFleets({ unseen, skipGreedy }: BenchOptions): Fleet[] {
  return unseen.flatMap((domains) =>
    Object.entries(families).map(([family, make]) => {
      const mix = make(domains, 1)
      const greedy = skipGreedy ? NaN : countGreedyWrites(mix)
      const planted = family === 'planted' && !skipGreedy ? greedy : null
      return { family, mix, planted, greedy, bestKnown: greedy }
    }),
  )
}

function load(name: 'fleets' | 'instances'): unknown {
  const file = new URL(`../../test/bench/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))
}
