/**
 * Runs two replicas of `edgewise serve` through a day of virtual time: commits, changes by hand,
 * dead origins, refusals, kills, suspensions, and restarts of the database. Prints the memory in
 * use after each hour, that of the simulated database and service included, and how often each
 * event happened. `--domains N` (3000), `--hours N` (24), `--seed N`. Exits with 1 if a law was
 * broken, or if something in the end is neither in sync nor named as different.
 */
import { parseArgs } from 'node:util'
import { groupBy } from '../src/model/group-by.ts'
import { measureHeap } from '../test/measure-heap.ts'
import { simulateDay } from '../test/simulation/serve/day.ts'

const { values } = parseArgs({
  options: {
    domains: { type: 'string', default: '3000' },
    hours: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
  },
})
const [domains, hours, seed] = [values.domains, values.hours, values.seed].map(parseNumber)
const started = performance.now()
console.log('hour  memory  database  state files')
const { violations, counts, named, log } = await simulateDay({
  domains: domains ?? 0,
  hours: hours ?? 0,
  seed: seed ?? 0,
  onHour: (hour, { rows, characters }) => {
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
    console.log(
      `${hour}`.padStart(4),
      megabytes(measureHeap()).padStart(8),
      megabytes(characters).padStart(8),
      `${rows['files']}`.padStart(12),
    )
  },
})
console.log('')
for (const [what, times] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(times).padStart(9)}  ${what}`)
const ways = groupBy(named, (name) => name.replace(/^.*?: /, ''))
for (const [how, names] of ways)
  console.log(`${String(names.length).padStart(9)}  in the end: ${how}`)
const seconds = ((performance.now() - started) / 1000).toFixed(0)
console.log(
  `\n${domains} domains for ${hours} hours in ${seconds} s: ${named.length} parts differ in the ` +
    `end and are named, ${violations.length} laws are broken`,
)
if (violations.length > 0) {
  console.log([...log, ...violations].join('\n'))
  process.exitCode = 1
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`expected a whole number from 1, got "${text}"`)
}
