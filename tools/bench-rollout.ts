/**
 * Rolls changes out in waves on the emulator with a virtual clock, and prints the result of each: a
 * good change, one that breaks some domains, one that breaks all, and many that do not affect the
 * requests, so that only noise can stop them. Exits with 1 if a rollout has an unexpected result.
 */
import { parseArgs } from 'node:util'
import type { Emulator } from '../src/emulator/emulator.ts'
import { Place, startService, type ManualTime } from '../test/steps/cli.ts'

const { values: options } = parseArgs({
  options: {
    rollouts: { type: 'string', default: '200' },
    domains: { type: 'string', default: '200' },
  },
})
const domains = Number(options.domains)
const [good, alsoGood, dead] = ['192.0.2.10', '192.0.2.11', '192.0.2.66']

interface Ended {
  code: number
  wave: number
  /** First wave with a broken domain; null if none is broken. */
  brokenWave: number | null
  takenBack: boolean
  writes: number
  /** Minutes of the virtual clock. */
  minutes: number
  changed: number
  seconds: number
}

const faults: string[] = []
const printLine = (...cells: (string | number)[]): void =>
  console.log(
    cells
      .map((cell, i) =>
        i === 0 ? String(cell).padEnd(26) : String(cell).padStart(i === 7 ? 12 : 9),
      )
      .join(''),
  )
printLine('rollout', 'domains', 'ended in', 'changed', 'writes', 'minutes', 'seconds', 'outcome')
report(
  'good change',
  await runRollout('a', domains, () => alsoGood),
  ({ code, wave }) => code === 0 && wave === 4,
)
const isBroken = (i: number) => i % 33 === 7
report(
  '3 in 100 domains broken',
  await runRollout('a', domains, (i) => (isBroken(i) ? dead : alsoGood)),
  ({ code, wave, brokenWave, takenBack, changed }) =>
    code === 3 && wave === brokenWave && takenBack && changed === 0,
)
report(
  'all domains broken',
  await runRollout('a', domains, () => dead),
  ({ code, wave, takenBack, changed }) => {
    return code === 3 && wave === 1 && takenBack && changed === 0
  },
)

const rollouts = Number(options.rollouts)
let stopped = 0
for (let i = 0; i < rollouts; i++) {
  const { code } = await runRollout(`noise ${i}`, 20, () => alsoGood)
  if (code !== 0) stopped++
}
console.log(`\nnoise alone stopped ${stopped} of ${rollouts} rollouts of 20 domains in 3 waves`)
if (stopped > Math.ceil(rollouts / 200)) faults.push('noise stops more than 1 rollout in 200')
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

function report(name: string, ended: Ended, isExpected: (ended: Ended) => boolean): void {
  const { code, wave, takenBack, changed, writes, minutes, seconds } = ended
  const outcome = code === 0 ? 'complete' : takenBack ? 'rolled back' : 'stopped'
  printLine(name, domains, `wave ${wave}`, changed, writes, minutes, seconds.toFixed(1), outcome)
  if (!isExpected(ended)) faults.push(`${name}: exit ${code} in wave ${wave}`)
}

/** Rolls another origin out to domains that have been configured for two hours. */
async function runRollout(
  seed: string,
  count: number,
  chooseOrigin: (i: number) => string,
): Promise<Ended> {
  const startedAt = performance.now()
  const time: ManualTime = { now: Date.UTC(2026, 10, 18, 9) }
  const emulator = await startService({ seed, now: () => time.now, deadOrigins: [dead] })
  const place = new Place(
    emulator.url,
    'rollout: {waves: [1, 5%, 25%, 100%], pause: 10m, health: {onFailure: rollback}}\n',
  )
  place.time = time
  try {
    writeManifests(place, count, () => good)
    await place.cli('apply', '--yes', '--no-waves')
    const before = await fetchState(emulator)
    time.now += 2 * 3_600_000
    writeManifests(place, count, chooseOrigin)
    const { out: plan } = await place.cli('plan', '--json')
    const { writes } = JSON.parse(plan) as { writes: { wave: number; domains: string[] }[] }
    const broken = writes.filter(({ domains: names }) =>
      names.some((name) => chooseOrigin(Number(name.slice(1, 5))) === dead),
    )
    const start = time.now
    const { code, out } = await place.cli('apply', '--yes', '--json')
    const events = out
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each) as { type: string; wave?: number; takenBack?: boolean })
    const after = await fetchState(emulator)
    return {
      code,
      wave: Math.max(
        0,
        ...events.map((event) => (event.type === 'wave.judged' ? (event.wave ?? 0) : 0)),
      ),
      brokenWave: broken.length === 0 ? null : Math.min(...broken.map((write) => write.wave)),
      takenBack: events.at(-1)?.takenBack === true,
      writes: events.filter(({ type }) => type === 'write.confirmed').length,
      minutes: Math.round((time.now - start) / 60_000),
      changed: Object.keys(after).filter(
        (domain) => JSON.stringify(after[domain]) !== JSON.stringify(before[domain]),
      ).length,
      seconds: (performance.now() - startedAt) / 1000,
    }
  } finally {
    place.remove()
    await emulator.close()
  }
}

function writeManifests(place: Place, count: number, chooseOrigin: (i: number) => string): void {
  for (let i = 0; i < count; i++) {
    place.manifest(`d${String(i).padStart(4, '0')}.example.com`, {
      origin: { default_master: chooseOrigin(i) },
    })
  }
}

async function fetchState(emulator: Emulator): Promise<Record<string, unknown>> {
  const answer = (await (await fetch(`${emulator.url}/_emulator/state`)).json()) as {
    domains: Record<string, unknown>
  }
  return answer.domains
}
