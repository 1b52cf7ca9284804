/**
 * Rolls changes out in waves on the emulator with a virtual clock: a good change, one that breaks
 * some domains, one that breaks all, and many that do not affect the requests, so that only noise
 * can stop them.
 */
import type { Emulator } from '../../src/emulator/emulator.ts'
import { Place, startService, type ManualTime } from '../../test/steps/cli.ts'
import type { BenchOptions } from './arguments.ts'
import { createRow, formatTable, type Row } from './row.ts'

const [good, alsoGood, dead] = ['192.0.2.10', '192.0.2.11', '192.0.2.66']

interface Ended {
  code: number
  wave: number
  /** First wave with a broken domain; null if none is broken. */
  brokenWave: number | null
  isRolledBack: boolean
  writes: number
  /** Minutes of the virtual clock. */
  minutes: number
  changed: number
}

interface Case {
  name: string
  chooseOrigin: (i: number) => string
  isExpected: (ended: Ended) => boolean
}

const isUndone = ({ code, isRolledBack, changed }: Ended) =>
  code === 3 && isRolledBack && changed === 0
const cases: Case[] = [
  {
    name: 'good change',
    chooseOrigin: () => alsoGood,
    isExpected: ({ code, wave }) => code === 0 && wave === 4,
  },
  {
    name: '3 in 100 domains broken',
    chooseOrigin: (i) => (i % 33 === 7 ? dead : alsoGood),
    isExpected: (ended) => isUndone(ended) && ended.wave === ended.brokenWave,
  },
  {
    name: 'all domains broken',
    chooseOrigin: () => dead,
    isExpected: (ended) => isUndone(ended) && ended.wave === 1,
  },
]

export async function measureRollouts(options: BenchOptions): Promise<Row[]> {
  const domains = options.domains ?? 200
  const ends = []
  for (const each of cases)
    ends.push({ ...each, ended: await runRollout('a', domains, each.chooseOrigin) })
  const lines = ends.map(({ name, ended }) => [
    name,
    ...[ended.wave, ended.changed, ended.writes, ended.minutes].map(String),
    ended.code === 0 ? 'complete' : ended.isRolledBack ? 'rolled back' : 'stopped',
  ])
  const head = ['rollout', 'ended in wave', 'changed domains', 'writes', 'minutes', 'result']
  console.log(`${formatTable([head, ...lines])}\n`)
  const unexpected = ends.filter(({ ended, isExpected }) => !isExpected(ended)).length
  const rollouts = options.rollouts ?? 200
  let stopped = 0
  for (let i = 0; i < rollouts; i++)
    if ((await runRollout(`noise ${i}`, 20, () => alsoGood)).code !== 0) stopped++
  const what = `stopped by noise, of ${rollouts} rollouts of 20 domains in 3 waves`
  return [
    createRow('rollout', `rollouts of ${domains} domains with another result`, '', unexpected, 0),
    createRow('rollout-noise', what, '', stopped, Math.ceil(rollouts / 200)),
  ]
}

/** Rolls another origin out to domains that have been configured for two hours. */
async function runRollout(
  seed: string,
  count: number,
  chooseOrigin: (i: number) => string,
): Promise<Ended> {
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
      isRolledBack: events.at(-1)?.takenBack === true,
      writes: events.filter(({ type }) => type === 'write.confirmed').length,
      minutes: Math.round((time.now - start) / 60_000),
      changed: Object.keys(after).filter(
        (domain) => JSON.stringify(after[domain]) !== JSON.stringify(before[domain]),
      ).length,
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
