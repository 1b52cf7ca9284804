/**
 * Runs the deterministic simulation: `--seeds N` simulates so many seeds, from `--from M` on, and
 * says how often each fault happened and which seeds broke a law; `--seed N` replays one and prints
 * its trace. Exits with 1 where a law was broken.
 */
import { parseArgs } from 'node:util'
import { runSeeds } from '../test/simulation/run-seeds.ts'
import { simulate } from '../test/simulation/simulate.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, seed: { type: 'string' } },
})

if (values.seed === undefined) await many(numberOf(values.from, 1), numberOf(values.seeds, 1000))
else await one(numberOf(values.seed, 1))

async function one(seed: number): Promise<void> {
  const { trace, violations } = await simulate(seed)
  console.log(trace.join('\n'))
  console.log(
    violations.length === 0
      ? `\nseed ${seed} holds all laws`
      : `\nseed ${seed} broke:\n${violations.join('\n')}`,
  )
  if (violations.length > 0) process.exitCode = 1
}

async function many(from: number, count: number): Promise<void> {
  const started = performance.now()
  const totals = new Map<string, number>()
  const rate = () => `${Math.round((done / (performance.now() - started)) * 1000)} seeds/s`
  let [done, lastTold] = [0, started]
  const broken = await runSeeds({
    from,
    count,
    report: ({ seed, violations, counts }) => {
      done++
      for (const [what, times] of counts) totals.set(what, (totals.get(what) ?? 0) + times)
      if (violations.length > 0) console.log(`seed ${seed}: ${violations[0]}`)
      if (performance.now() - lastTold < 5000) return
      lastTold = performance.now()
      console.error(`${done} of ${count} seeds, ${rate()}`)
    },
  })
  for (const [what, times] of [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${String(times).padStart(9)}  ${what}`)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`\n${count} seeds in ${seconds} s (${rate()}), ${broken.length} broke a law`)
  if (broken.length === 0) return
  console.log(`Replay one with: npm run simulate -- --seed ${broken[0]?.seed}`)
  process.exitCode = 1
}

function numberOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw new Error(`expected a whole number from 1, got "${text}"`)
  return Number(text)
}
