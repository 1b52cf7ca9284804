/**
 * Lets 8 processes with 4 accounts apply at the same time with state in a PostgreSQL server of its
 * own: in half of the accounts each process has a workspace, in the others two have one, with other
 * targets. Kills and suspends applies, kills the server, cuts connections, and restores a back-up
 * once: `npm run chaos:postgres`. Prints figures, and exits with 1 on any violation.
 * `--domains 100` has fewer domains for each account; a seed repeats the choices, as far as
 * processes allow.
 */
import { parseArgs } from 'node:util'
import { runChaos } from '../test/long/chaos/chaos.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    accounts: { type: 'string', default: '4' },
    domains: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '2' },
    'calls-per-minute': { type: 'string', default: '30' },
    seconds: { type: 'string', default: '1800' },
  },
})

const tally = await runChaos(
  {
    seed: values.seed,
    accounts: parse('accounts'),
    workspaces: 2,
    targeted: Math.floor(parse('accounts') / 2),
    domains: parse('domains'),
    domainsPerWrite: 10,
    rounds: parse('rounds'),
    suspensions: parse('accounts'),
    perMinute: parse('calls-per-minute'),
    burst: { calls: 6, seconds: 10 },
    disturbances: {
      seconds: Infinity,
      pauseMs: [1000, 5000],
      downMs: [200, 5000],
      crash: 0.1,
      cut: 0.25,
    },
    // A minute: the back-up does not know the calls that still count.
    setBack: { restoreAt: 0.4, calmSeconds: 61, forgetful: 1 },
    lostAnswers: 0.05,
    maxSeconds: parse('seconds'),
  },
  (line) => console.log(line),
)
for (const fault of tally.faults) console.error(`violation: ${fault}`)
console.log(tally.describe())
if (tally.faults.length > 0) process.exitCode = 1

function parse(name: 'accounts' | 'domains' | 'rounds' | 'calls-per-minute' | 'seconds'): number {
  const number = Number(values[name])
  if (Number.isInteger(number) && number > 0) return number
  throw new Error(`expected --${name} to be a whole number from 1, got "${values[name]}"`)
}
