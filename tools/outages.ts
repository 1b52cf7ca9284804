/**
 * Lets database, leader and git server fail during rollouts of two real replicas:
 * `npm run outages -- --runs 100`. Prints each, and exits with 1 on any violation. `--lanes 4` runs
 * so many at the same time, `--kind cut` only those, `--pause 20` has longer pauses between waves,
 * in seconds; a seed repeats the choices.
 */
import { drawOutage, outageKinds, runOutages } from '../test/long/outages/outages.ts'
import { Chance } from '../test/simulation/chance.ts'
import { choose, parseOptions, reportViolations } from './launch.ts'

const { runs, lanes, seed, pause, ...options } = parseOptions(
  { runs: 100, lanes: 4, seed: 1, pause: 10 },
  [],
  ['kind'],
)
const kind = choose(outageKinds, options.kind)
const kinds = kind === undefined ? outageKinds : [kind]
const chance = new Chance(`outages ${seed}`)
const drawn = Array.from({ length: Math.ceil(runs / kinds.length) }, () =>
  kinds.map((each) => drawOutage(chance, each, pause)),
)
  .flat()
  .slice(0, runs)
const found = await Promise.all(
  Array.from({ length: lanes }, (_, lane) =>
    runOutages(
      drawn.filter((_outage, i) => Math.floor(i / kinds.length) % lanes === lane),
      pause,
      (line) => console.log(`${lane + 1}: ${line}`),
    ),
  ),
)
reportViolations(found.flat(), `${runs} outages`)
