import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../../../src/emulator/entities/call.ts'
import type { Chance } from '../../simulation/chance.ts'
import { domains, OutageStage, waves } from './stage.ts'

/** What fails during a rollout. */
export const outageKinds = [
  'stop',
  'stop at once',
  'cut',
  'silent',
  'leader cut',
  'leader suspended',
  'remote',
  'remote and stop',
] as const
export type OutageKind = (typeof outageKinds)[number]

/** An outage in the middle of a rollout. */
export interface Outage {
  kind: OutageKind
  /** From the first write of the rollout, ms. */
  afterMs: number
  lengthMs: number
}

/** What is allowed beside the pauses of a rollout after an outage, ms. */
const graceMs = 90_000
/** Longest time from the last word of a process to its end, ms. */
const maxLastWordMs = 15_000
/** Longest time from the arrival of a call to the suspension of its process, ms. */
const inFlightMs = 3000

/** Draws an outage of at least 5 s, at any moment of a rollout with these pauses. */
export function drawOutage(
  chance: Chance,
  kind: OutageKind,
  pauseSeconds: number,
  maxMs = 60_000,
): Outage {
  const afterMs = chance.between(0, (waves - 1) * pauseSeconds * 1000)
  return { kind, afterMs, lengthMs: chance.between(5000, maxMs) }
}

/**
 * Has a fleet rolled out once for each outage, and lets that happen meanwhile.
 *
 * @returns what was violated
 */
export async function runOutages(
  outages: Outage[],
  pauseSeconds: number,
  print: (line: string) => void,
): Promise<string[]> {
  const stage = await OutageStage.start(pauseSeconds)
  const violations: string[] = []
  try {
    await stage.push(10)
    for (const replica of stage.replicas) await replica.begin()
    await settle(stage, 10, 180_000)
    for (const [i, outage] of outages.entries()) {
      const found = await runOutage(stage, i + 11, outage, pauseSeconds, print)
      violations.push(...found)
      if (found.length > 0)
        for (const { name, current } of stage.replicas)
          print(`--- ${name}\n${current?.err.split('\n').slice(-60).join('\n') ?? '(between two)'}`)
    }
    violations.push(...(await endAll(stage)))
  } finally {
    await Promise.all(stage.replicas.map((replica) => replica.end()))
    await stage.close()
  }
  return violations
}

async function runOutage(
  stage: OutageStage,
  value: number,
  outage: Outage,
  pauseSeconds: number,
  print: (line: string) => void,
): Promise<string[]> {
  const { kind, afterMs, lengthMs } = outage
  const from = await stage.countCalls()
  await stage.push(value)
  const first = await waitFor(async () => (await stage.countEqual(value)) > 0, 120_000)
  const name = `${kind} for ${lengthMs} ms, ${afterMs} ms after the first write`
  if (first === null) return [`${name}: the rollout did not begin`]
  await sleep(afterMs)
  const causedMs = Date.now()
  await cause(stage, outage)
  const limitMs = (waves - 1) * pauseSeconds * 1000 + graceMs
  const endedMs = await settle(stage, value, limitMs + 60_000)
  const { count, twice, repeated } = countRepeats(await stage.listWrites(from), causedMs, kind)
  const words = stage.replicas.flatMap((each) => each.lastWordsMs.splice(0))
  const codes = stage.replicas.flatMap((each) => each.codes.splice(0))
  print(
    `${name}: ${endedMs === null ? 'HANGS' : `equal after ${Math.round(endedMs / 100) / 10} s`}` +
      `, ${count} domains, ${twice} twice, ${repeated} repeated after doubt` +
      `, ends ${codes.join(' ') || '-'}, after last words ` +
      `${words.map((ms) => Math.round(ms)).join(' ') || '-'} ms`,
  )
  return [
    ...(endedMs === null || endedMs > limitMs
      ? [`${name}: ${endedMs === null ? 'never' : `only after ${endedMs} ms`} equal`]
      : []),
    ...(twice > 0 ? [`${name}: ${twice} domains written twice`] : []),
    ...words.filter((ms) => ms > maxLastWordMs).map((ms) => `${name}: outlived by ${ms} ms`),
  ]
}

/**
 * Counts the domains that were written, and those written twice. Nobody has seen the answer of a
 * call whose process was suspended: its domains are in-doubt, and are written again once.
 */
function countRepeats(writes: Call[], causedMs: number, kind: OutageKind) {
  const times = new Map<string, number[]>()
  for (const { code, domains: written, time } of writes)
    if (code === 0)
      for (const domain of written) times.set(domain, [...(times.get(domain) ?? []), time])
  const again = [...times.values()].filter(({ length }) => length > 1)
  const repeated = again.filter(
    ([first = 0, ...more]) =>
      kind === 'leader suspended' && more.length === 1 && Math.abs(first - causedMs) < inFlightMs,
  ).length
  return { count: times.size, twice: again.length - repeated, repeated }
}

/** Causes an outage, and waits for its end. */
async function cause(stage: OutageStage, { kind, lengthMs }: Outage): Promise<void> {
  const { server, remote, gates } = stage
  if (kind === 'stop') return server.crash('SIGINT', lengthMs)
  if (kind === 'stop at once') return server.crash('SIGQUIT', lengthMs)
  const leader = await stage.findLeader()
  const index = leader === null ? 0 : stage.replicas.indexOf(leader)
  if (kind === 'leader suspended') {
    const process = leader?.current?.process
    process?.kill('SIGSTOP')
    await sleep(lengthMs)
    process?.kill('SIGCONT')
    return
  }
  if (kind === 'remote' || kind === 'remote and stop') {
    remote.behaviour = 'hang'
    if (kind === 'remote') await sleep(lengthMs)
    else await server.crash('SIGINT', lengthMs)
    remote.behaviour = 'serve'
    return
  }
  const cut = kind === 'leader cut' ? gates.filter((_, i) => i === index) : gates
  for (const gate of cut) gate.set(kind === 'silent' ? 'silent' : 'cut')
  await sleep(lengthMs)
  for (const gate of cut) gate.set('open')
}

/** Waits until the service has a value and the leader says so; returns the time, null if late. */
function settle(stage: OutageStage, value: number, maxMs: number): Promise<number | null> {
  return waitFor(async () => {
    if ((await stage.countEqual(value)) < domains.length) return false
    const status = await stage.findStatus()
    const applied = status?.['applied'] as { status: string; commit: string } | null | undefined
    return applied?.status === 'done' && applied.commit === status?.['commit']
  }, maxMs)
}

async function endAll(stage: OutageStage): Promise<string[]> {
  const times = await Promise.all(stage.replicas.map((replica) => replica.end()))
  return times.filter((ms) => ms > maxLastWordMs).map((ms) => `SIGTERM took ${Math.round(ms)} ms`)
}

async function waitFor(check: () => Promise<boolean>, maxMs: number): Promise<number | null> {
  const startMs = performance.now()
  while (performance.now() - startMs < maxMs) {
    if (await check()) return performance.now() - startMs
    await sleep(250)
  }
  return null
}
