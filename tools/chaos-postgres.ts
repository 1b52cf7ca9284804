/**
 * Lets 8 processes with 4 accounts apply at the same time with state in a PostgreSQL server of its
 * own: in half of the accounts each process has a workspace, in the others two have one, with other
 * targets. Kills and suspends applies, kills the server, cuts connections, and restores a back-up
 * once: `npm run chaos:postgres`. Prints figures, and exits with 1 on any violation.
 * `--domains 100` has fewer domains for each account; a seed repeats the choices, as far as
 * processes allow.
 */
import { runChaos } from '../test/long/chaos/chaos.ts'
import { parseOptions, reportViolations } from './launch.ts'

const { accounts, ...options } = parseOptions({
  seed: 1,
  accounts: 4,
  domains: 500,
  rounds: 2,
  'calls-per-minute': 30,
  seconds: 1800,
})
const tally = await runChaos(
  {
    seed: String(options.seed),
    accounts,
    workspaces: 2,
    targeted: Math.floor(accounts / 2),
    domains: options.domains,
    domainsPerWrite: 10,
    rounds: options.rounds,
    suspensions: accounts,
    perMinute: options['calls-per-minute'],
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
    maxSeconds: options.seconds,
  },
  (line) => console.log(line),
)
console.log(tally.describe())
reportViolations(tally.faults, `${options.rounds} rounds`)
