/**
 * Kills the real program at random moments of an apply against the real emulator and a real bare
 * remote, and runs one apply to its end after each kill: `npm run kill-runs -- --runs 200`. With
 * `--waves`, rolls out in waves and also kills the program between them.
 */
import { parseArgs } from 'node:util'
import { killRuns, waves } from '../test/long/kill-runs.ts'
import { Chance } from '../test/simulation/chance.ts'

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    waves: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1)
  throw new Error(`expected --runs to be a whole number from 1, got "${values.runs}"`)

const chance = new Chance(`kill ${values.seed}`)
const started = performance.now()
const counts = await killRuns(
  runs,
  () => chance.draw(),
  (line) => console.log(line),
  values.waves ? waves : '',
)
const seconds = Math.round((performance.now() - started) / 1000)
console.log(
  `${counts.runs} runs in ${seconds} s: ${counts.killed} killed, ` +
    `${counts.midway} of them after a call, ` +
    `${counts.doubted} left in-doubt items; each was finished by the next apply.`,
)
