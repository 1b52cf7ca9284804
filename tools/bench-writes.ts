/**
 * Plans change mixes and prints the number of writes of each: with one call a resource, domains
 * with an equal patch together, one item a write, the better of both (plain), Edgewise, the best
 * known cover, and the proven bound. Exits with 1 if the planner misses the figures in
 * docs/concepts.md.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadSolver } from '../src/operations/load-solver.ts'
import { efforts, type Effort } from '../src/model/plan.ts'
import { groupWrites } from '../src/plan/group-writes.ts'
import type { Need } from '../src/plan/needs.ts'
import { countPlain } from './bench/plain.ts'

/**
 * A change mix. `needs[d]` lists the items of domain d with value numbers: equal means same
 * payload.
 */
interface Instance {
  family: string
  domains: number
  bestKnown: number
  equalPatchGrouping: number
  itemByItem: number
  needs: [item: string, value: number][][]
}

const { values: options, positionals } = parseArgs({
  options: { effort: { type: 'string', default: 'normal' } },
  allowPositionals: true,
})
const effort = efforts.find((each): each is Effort => each === options.effort) ?? 'normal'
const files =
  positionals.length > 0 ? positionals : [new URL('../test/bench/instances.json', import.meta.url)]
const instances = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')) as Instance[])

const solver = await loadSolver()
const printLine = (...cells: (string | number)[]): void =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(18) : String(cell).padStart(9))).join(''),
  )
printLine(
  'instance',
  'single',
  'equal',
  'item',
  'plain',
  'edgewise',
  'best',
  'bound',
  '/best',
  '/bound',
  'seconds',
)

const total = { single: 0, equal: 0, item: 0, plain: 0, edgewise: 0, best: 0, bound: 0, seconds: 0 }
let [worst, slowest] = [0, 0]
for (const instance of instances) {
  const { family, domains, bestKnown, equalPatchGrouping, itemByItem, needs } = instance
  const started = performance.now()
  const problem = needs.flatMap((own, i) => own.map(([item, value]) => createNeed(i, item, value)))
  const { writes, lowerBound } = groupWrites({
    needs: problem,
    grouping: { groups: 'all', together: [] },
    domainsPerWrite: 10,
    effort,
    solver,
  })
  const seconds = (performance.now() - started) / 1000
  assertValid(problem, writes)
  const ratio = writes.length / bestKnown
  printLine(
    `${family} ${domains}`,
    problem.length,
    equalPatchGrouping,
    itemByItem,
    countPlain(instance),
    writes.length,
    bestKnown,
    lowerBound,
    ratio.toFixed(3),
    (writes.length / lowerBound).toFixed(3),
    seconds.toFixed(1),
  )
  ;[worst, slowest] = [Math.max(worst, ratio), Math.max(slowest, seconds)]
  total.single += problem.length
  total.equal += equalPatchGrouping
  total.item += itemByItem
  total.plain += countPlain(instance)
  total.edgewise += writes.length
  total.best += bestKnown
  total.bound += lowerBound
  total.seconds += seconds
}
const ratio = total.edgewise / total.best
printLine(
  'total',
  total.single,
  total.equal,
  total.item,
  total.plain,
  total.edgewise,
  total.best,
  total.bound,
  ratio.toFixed(3),
  (total.edgewise / total.bound).toFixed(3),
  total.seconds.toFixed(1),
)
console.log(
  `\nworst instance ${worst.toFixed(3)} × the best known, slowest ${slowest.toFixed(1)} s`,
)
if (effort !== 'quick' && (ratio > 1.03 || worst > 1.1)) {
  console.error('expected at most 1.03 × the best known in total, and 1.10 for each')
  process.exitCode = 1
}

function createNeed(i: number, item: string, value: number): Need {
  return {
    domain: `d${String(i).padStart(6, '0')}.example.com`,
    item,
    whole: { name: 'replace', payload: { value } },
    parts: [],
  }
}

/**
 * Checks that the writes meet every need and send nothing else.
 *
 * @throws Error otherwise
 */
function assertValid(problem: Need[], writes: ReturnType<typeof groupWrites>['writes']): void {
  const needed = new Map(
    problem.map((need) => [`${need.domain} ${need.item}`, JSON.stringify(need.whole)]),
  )
  const met = new Set<string>()
  for (const { domains, items } of writes) {
    if (domains.length > 10) throw new Error(`a write has ${domains.length} domains`)
    for (const domain of domains) {
      for (const [item, form] of Object.entries(items)) {
        if (needed.get(`${domain} ${item}`) !== JSON.stringify(form))
          throw new Error(`${domain} gets an ${item} that it does not need`)
        met.add(`${domain} ${item}`)
      }
    }
  }
  if (met.size !== needed.size) throw new Error(`${needed.size - met.size} needs are not met`)
}
