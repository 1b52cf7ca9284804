import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchWrites, type Place } from '../steps/cli.ts'

export const [old, now] = ['old.example.com', 'new.example.com']
export const moved = `moved: [{from: ${old}, to: ${now}}]\n`

/** Renames the domain in its manifest, and says so in the workspace file. */
export function rename(place: Place, config: JsonObject = { timeout: { time: 60 } }): void {
  rmSync(join(place.root, `domains/${old}.yaml`))
  place.manifest(now, config)
  place.write('edgewise.yaml', place.read('edgewise.yaml') + moved)
}

/** A renamed domain keeps its state and its history, and nothing is written or released. */
export async function handOver(place: Place, emulator: Emulator): Promise<void> {
  place.manifest(old, { timeout: { time: 59 } })
  place.manifest('www.example.com', { timeout: { time: 30 } })
  await place.settle()
  await place.manifest(old, { timeout: { time: 60 } }).settle()
  const before = await fetchWrites(emulator)
  const history = (await place.json('state', 'history', old))['applies']
  const known = await place.recorded(old)

  rename(place)
  for (const args of [[], ['--target', now]]) {
    const { code, out, err } = await place.cli('plan', '--detailed-exitcode', ...args)
    expect([code, out]).toEqual([0, expect.stringContaining('No changes.')])
    expect(err.replace(/\s+/g, ' ')).toContain(`${old} was renamed to ${now}: its state is handed`)
  }
  // The plan has recorded nothing.
  place.write('edgewise.yaml', place.read('edgewise.yaml').replace(moved, ''))
  expect((await place.json('plan'))['summary']).toMatchObject({ set: 1, release: 1 })
  place.write('edgewise.yaml', place.read('edgewise.yaml') + moved)

  expect((await place.cli('apply', '--yes')).err).toContain(`Moved the state of ${old} to ${now}.`)
  expect(await fetchWrites(emulator)).toEqual(before)
  expect(await place.recorded(now)).toEqual(known)
  expect((await place.json('state', 'history', now))['applies']).toEqual(history)
  expect((await place.cli('plan')).err.replace(/\s+/g, ' ')).toContain('remove the entry under')

  place.write('edgewise.yaml', place.read('edgewise.yaml').replace(moved, ''))
  const { code, err } = await place.cli('plan', '--detailed-exitcode')
  expect([code, err.replace(/^note: manifests have uncommitted .*\n/, '')]).toEqual([0, ''])
  await place.manifest(now, { timeout: { time: 61 } }).settle()
  expect((await place.json('state', 'history', now))['applies']).toHaveLength(3)
}
