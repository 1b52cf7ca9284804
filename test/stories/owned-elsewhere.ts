import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { fetchWrites, type Place } from '../steps/cli.ts'

const www = 'www.example.com'

const allCommands = [
  ['plan'],
  ['apply', '--yes'],
  ['drift', '--repair', '--yes', '--observed', 'live.json'],
  ['import', 'live.json'],
]

/** Refuses a domain of `place` in the workspace "staging", with its manifest and its owner. */
export async function refuseOwned(
  place: Place,
  other: Place,
  emulator: Emulator,
  commands = allCommands,
): Promise<void> {
  const before = (await fetchWrites(emulator)).length
  other.write('live.json', JSON.stringify({ [www]: { timeout: { time: 60 } } }))
  for (const args of commands) {
    const { code, out } = await other.cli(...args, '--json')
    expect([args, code]).toEqual([args, 1])
    const refusal = JSON.parse(out.split('\n').at(-2) ?? '') as JsonObject
    expect(listSchemaErrors('error', refusal)).toEqual([])
    expect(refusal).toMatchObject({
      code: 'owned-elsewhere',
      message: expect.stringContaining(
        `${www} (domains/${www}.yaml) belongs to the workspace "default"`,
      ) as string,
      hint: expect.stringContaining(
        `run "edgewise state move ${www} --to staging" in the workspace "default"`,
      ) as string,
    })
  }
  expect((await fetchWrites(emulator)).length).toBe(before)
  expect((await other.json('state', 'list'))['domains']).toEqual([])
  expect((await other.cli('validate')).code).toBe(0)
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
}
