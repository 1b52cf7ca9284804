/**
 * Kills the real program at random moments of an apply against the real emulator and a real bare
 * remote, and runs one apply to its end after each kill: `npm run kill-runs -- --runs 200`. With
 * `--waves`, rolls out in waves and also kills the program between them. With `--postgres`, the
 * state is in a new schema of the database of DATABASE_URL, which stays.
 */
import { killRuns, waves } from '../test/long/kill-runs.ts'
import { Chance } from '../test/simulation/chance.ts'
import { describeSeconds, parseOptions } from './launch.ts'

const options = parseOptions({ runs: 200, seed: 1 }, ['waves', 'postgres'])
const url = process.env['DATABASE_URL']
if (options.postgres && url === undefined) throw new Error('expected DATABASE_URL to be set')

const chance = new Chance(`kill ${options.seed}`)
const counts = await killRuns(
  options.runs,
  () => chance.draw(),
  (line) => console.log(line),
  options.waves ? waves : '',
  options.postgres && url !== undefined ? { url, schema: `kill_runs_${Date.now()}` } : undefined,
)
console.log(
  `${counts.runs} runs in ${describeSeconds()}: ${counts.killed} killed, ` +
    `${counts.midway} of them after a call, ` +
    `${counts.doubted} left in-doubt items; each was finished by the next apply.`,
)
