import { simulate } from './simulate.ts'
const [from = 1, count = 1] = process.argv.slice(2).map(Number)
const totals = new Map<string, number>()
const t = performance.now()
let events = 0
for (let seed = from; seed < from + count; seed++) {
  const { violations, counts, trace } = await simulate(seed)
  events += trace.length
  for (const [k, v] of counts) totals.set(k, (totals.get(k) ?? 0) + v)
  if (violations.length > 0) console.log(`seed ${seed}: ${violations[0]?.slice(0, 900)}`)
  if (count === 1) console.log(trace.join('\n'))
}
if (count > 1) console.log(totals, events / count, 'lines', (performance.now() - t) / count, 'ms a seed')
