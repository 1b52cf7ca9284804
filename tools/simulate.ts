/**
 * Runs the deterministic simulation. `--seeds N` simulates N seeds, starting `--from M`, and prints
 * the number of each fault and the seeds that broke a law. `--seed N` replays one seed and prints
 * its trace. `--store KIND` gives all of them one kind of store, such as postgres. Exits with 1 if
 * a law was broken.
 */
import { parseArgs } from 'node:util'
import { runSeeds } from '../test/simulation/run-seeds.ts'
import { simulate } from '../test/simulation/simulate.ts'
import { storeKinds } from '../test/simulation/state-world.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    store: { type: 'string' },
  },
})
const store = storeKinds.find((kind) => kind === values.store)
if (store === undefined && values.store !== undefined)
  throw new Error(`expected a store of ${storeKinds.join(', ')}, got "${values.store}"`)

if (values.seed === undefined)
  await simulateMany(parseNumber(values.from, 1), parseNumber(values.seeds, 1000))
else await simulateOne(parseNumber(values.seed, 1))

async function simulateOne(seed: number): Promise<void> {
  const { trace, violations } = await simulate(seed, store)
  console.log(trace.join('\n'))
  console.log(
    violations.length === 0
      ? `\nseed ${seed} holds all laws`
      : `\nseed ${seed} broke:\n${violations.join('\n')}`,
  )
  if (violations.length > 0) process.exitCode = 1
}

async function simulateMany(from: number, count: number): Promise<void> {
  const started = performance.now()
  const totals = new Map<string, number>()
  const rate = () => `${Math.round((done / (performance.now() - started)) * 1000)} seeds/s`
  let [done, lastReportedMs] = [0, started]
  const broken = await runSeeds({
    from,
    count,
    store,
    report: ({ seed, violations, counts }) => {
      done++
      for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times)
      if (violations.length > 0) console.log(`seed ${seed}: ${violations[0]}`)
      if (performance.now() - lastReportedMs < 5000) return
      lastReportedMs = performance.now()
      console.error(`${done} of ${count} seeds, ${rate()}`)
    },
  })
  for (const [what, times] of [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${what}`)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`\n${count} seeds in ${seconds} s (${rate()}), ${broken.length} broke a law`)
  if (broken.length === 0) return
  const again = store === undefined ? '' : ` --store "${store}"`
  console.log(`Replay one with: npm run simulate -- --seed ${broken[0]?.seed}${again}`)
  process.exitCode = 1
}

function parseNumber(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new Error(`expected a whole number from 1, got "${text}"`)
  return Number(text)
}
