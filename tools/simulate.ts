/**
 * Runs the deterministic simulation. `--seeds N` simulates N seeds, starting `--from M`, and prints
 * the number of each fault and the seeds that broke a law. `--seed N` replays one seed and prints
 * its trace. `--store KIND` gives all of them one kind of store, such as postgres. Exits with 1 if
 * a law was broken.
 *
 * `--day` runs two replicas of `edgewise serve` through a day of virtual time instead: commits,
 * changes by hand, dead origins, refusals, kills, suspensions, and restarts of the database. It
 * prints the memory in use after each hour, that of the simulated database and service included,
 * and how often each event happened. `--domains N`, `--hours N`, `--seed N`. It exits with 1 also
 * if something in the end is neither in sync nor named as different.
 */
import { groupBy } from '../src/core/model/lists.ts'
import { measureHeap } from '../test/measure-heap.ts'
import { runSeeds } from '../test/simulation/run-seeds.ts'
import { simulateDay } from '../test/simulation/serve/day.ts'
import { simulate } from '../test/simulation/simulate.ts'
import { storeKinds } from '../test/simulation/state-world.ts'
import { choose, describeSeconds, parseOptions, printCounts, reportViolations } from './launch.ts'

const options = parseOptions(
  { seeds: 1000, from: 1, domains: 3000, hours: 24 },
  ['day'],
  ['seed', 'store'],
)
const store = choose(storeKinds, options.store)
const seed = options.seed === undefined ? null : Number(options.seed)
if (seed !== null && !(Number.isInteger(seed) && seed > 0))
  throw new Error(`expected --seed to be a whole number from 1, got "${options.seed}"`)

if (options.day) await runDay(seed ?? 1)
else if (seed === null) await simulateMany()
else {
  const { trace, violations } = await simulate(seed, store)
  console.log(trace.join('\n'))
  reportViolations(violations, `seed ${seed}`)
}

async function simulateMany(): Promise<void> {
  const { from, seeds: count } = options
  const totals = new Map<string, number>()
  const rate = () => `${Math.round((done / performance.now()) * 1000)} seeds/s`
  let [done, lastReportedMs] = [0, performance.now()]
  const broken = await runSeeds({
    from,
    count,
    store,
    report: ({ seed: own, violations, counts }) => {
      done++
      for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times)
      if (violations.length > 0) console.log(`seed ${own}: ${violations[0]}`)
      if (performance.now() - lastReportedMs < 5000) return
      lastReportedMs = performance.now()
      console.error(`${done} of ${count} seeds, ${rate()}`)
    },
  })
  printCounts(totals)
  console.log(`\n${count} seeds in ${describeSeconds()} (${rate()}), ${broken.length} broke a law`)
  if (broken.length === 0) return
  const again = store === undefined ? '' : ` --store "${store}"`
  console.log(`Replay one with: npm run simulate -- --seed ${broken[0]?.seed}${again}`)
  process.exitCode = 1
}

async function runDay(daySeed: number): Promise<void> {
  const { domains, hours } = options
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`.padStart(8)
  console.log('hour  memory  database  state files')
  const { violations, counts, named, log } = await simulateDay({
    domains,
    hours,
    seed: daySeed,
    onHour: (hour, { rows, characters }) => {
      const files = `${rows['files']}`.padStart(12)
      console.log(`${hour}`.padStart(4), megabytes(measureHeap()), megabytes(characters), files)
    },
  })
  console.log('')
  printCounts(counts)
  const ways = groupBy(named, (name) => name.replace(/^.*?: /, ''))
  printCounts(Array.from(ways, ([how, names]) => [`in the end: ${how}`, names.length]))
  if (violations.length > 0) console.log(log.join('\n'))
  reportViolations(violations, `${domains} domains for ${hours} hours`)
}
