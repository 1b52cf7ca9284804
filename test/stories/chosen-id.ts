import { join } from 'node:path'
import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { SharedState } from './shared-state.ts'

/** A second workspace of a repository gets an id of its own, and so leaves the first one alone. */
export async function chooseOther(shared: SharedState, emulator: Emulator): Promise<void> {
  const first = shared.build(emulator.url).manifest('api.example.com', { timeout: { time: 60 } })
  await first.settle()
  const { code, out } = await first.cli('init', 'staging', '--ci', 'none')
  expect([code, out]).toEqual([0, expect.stringContaining('The id of this workspace is "staging"')])
  expect(first.read('staging/edgewise.yaml')).toContain('id: staging\n')

  const second = shared.build(emulator.url, join('clone', 'staging'), 'id: staging\n')
  await second.settle()
  expect((await first.cli('plan', '--detailed-exitcode')).code).toBe(0)
}
