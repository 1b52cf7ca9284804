/**
 * Kills the real program at random moments of an apply against the real emulator and a real bare
 * remote, and runs one apply to its end after each kill: `npm run kill-runs -- --runs 200`. With
 * `--waves`, rolls out in waves and also kills the program between them. With `--postgres`, the
 * state is in a new schema of the database of DATABASE_URL, which stays.
 */
import { parseArgs } from 'node:util'
import { killRuns, waves } from '../test/long/kill-runs.ts'
import { Chance } from '../test/simulation/chance.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    waves: { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1)
  throw new Error(`expected --runs to be a whole number from 1, got "${values.runs}"`)

const url = process.env['DATABASE_URL']
if (values.postgres && url === undefined) throw new Error('expected DATABASE_URL to be set')
const schema = `kill_runs_${Date.now()}`

const chance = new Chance(`kill ${values.seed}`)
const started = performance.now()
const counts = await killRuns(
  runs,
  () => chance.draw(),
  (line) => console.log(line),
  values.waves ? waves : '',
  values.postgres && url !== undefined ? { url, schema } : undefined,
)
const seconds = Math.round((performance.now() - started) / 1000)
console.log(
  `${counts.runs} runs in ${seconds} s: ${counts.killed} killed, ` +
    `${counts.midway} of them after a call, ` +
    `${counts.doubted} left in-doubt items; each was finished by the next apply.`,
)
