import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig, fetchWrites, type ManualTime, type Place } from '../steps/cli.ts'
import { deadOrigin } from '../steps/stage.ts'

const hour = 3_600_000
export const goodOrigin = '192.0.2.10'
const domains = Array.from({ length: 8 }, (_, i) => `d${i}.example.com`)

/** Configures domains, lets two hours pass, and writes manifests that break their origin. */
export async function breakOrigins(
  place: Place,
  time: ManualTime,
  count = domains.length,
  more: JsonObject = {},
): Promise<void> {
  const write = (origin: string, others: JsonObject) => {
    for (const domain of domains.slice(0, count))
      place.manifest(domain, { origin: { default_master: origin }, ...others })
  }
  write(goodOrigin, {})
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 2 * hour
  write(deadOrigin, more)
}

/** Interrupts the next apply during its automatic rollback. */
export function interruptRollback(place: Place): void {
  const stop = new AbortController()
  place.signal = stop.signal
  place.onStderr = (line) => {
    if (line.includes('rolling back')) stop.abort()
  }
}

/** Leaves the rollback of four of eight domains unfinished, and returns the rollout's id. */
export async function leaveUnfinished(
  place: Place,
  emulator: Emulator,
  time: ManualTime,
): Promise<string> {
  await breakOrigins(place, time)
  interruptRollback(place)
  const { code, out } = await place.cli('apply', '--yes')
  place.signal = new AbortController().signal
  place.onStderr = null
  const id = /"edgewise rollback (\S+)"/.exec(out)?.[1] ?? ''
  expect([code, id, await fetchConfig(emulator, domains[0] ?? '')]).toMatchObject([
    3,
    expect.stringMatching(/./),
    { origin: { default_master: deadOrigin } },
  ])
  return id
}

/** Refuses commands with changed manifests while a rollback is unfinished; then finishes it. */
export async function refuseUntilRolledBack(
  place: Place,
  emulator: Emulator,
  id: string,
  commands: string[][],
): Promise<void> {
  // Changed manifests put no domain on hold any more.
  for (const domain of domains)
    place.manifest(domain, { origin: { default_master: '192.0.2.77' }, timeout: { time: 9 } })
  place.manifest('new.example.com', { timeout: { time: 9 } })
  const sent = (await fetchWrites(emulator)).length
  for (const command of commands) {
    const { code, err } = await place.cli(...command)
    expect([code, err]).toEqual([3, expect.stringContaining(`"edgewise rollback ${id}"`)])
  }
  expect((await fetchWrites(emulator)).length).toBe(sent)
  expect((await place.cli('rollback', id, '--yes')).code).toBe(0)
}
