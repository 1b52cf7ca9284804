import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { fetchWrites, type Place } from '../steps/cli.ts'

const fleet = ['www', 'api', 'img'].map((name) => `${name}.example.com`)

/**
 * A second workspace with the id of the first releases nothing by accident, and everything once
 * somebody says so; the first one goes on as before.
 */
export async function takeOver(first: Place, second: Place, emulator: Emulator): Promise<void> {
  for (const domain of fleet) first.manifest(domain, { timeout: { time: 60 } })
  second.manifest('new.example.com', { timeout: { time: 60 } })
  await first.settle()
  const before = await fetchWrites(emulator)

  const what = /3 items of 3 domains to release: .* applied\s+the\s+state of "default", and /
  const planned = await second.json('plan')
  expect(planned['warnings']).toEqual([expect.stringMatching(what), ...noOthers(planned)])
  for (const args of [[], ['--target', 'new.*'], ['--no-waves', '--force']]) {
    const { code, err } = await second.cli('apply', '--yes', ...args)
    expect([args, code, err.replace(/\s+/g, ' ')]).toEqual([
      args,
      1,
      expect.stringContaining('edgewise apply --allow-release') as string,
    ])
    expect(err.replace(/\s+/g, ' ')).toMatch(what)
  }
  expect(await fetchWrites(emulator)).toEqual(before)
  expect((await first.cli('plan', '--detailed-exitcode')).code).toBe(0)

  expect((await second.cli('apply', '--yes', '--allow-release')).code).toBe(0)
  expect(await fetchWrites(emulator)).toHaveLength(before.length + 1)
  // From now on both have applied this state.
  expect((await second.cli('plan', '--detailed-exitcode')).code).toBe(0)
  await first.settle()
  await second.settle()
}

/** Lists the warnings of a plan after the first one. */
function noOthers({ warnings }: { warnings?: unknown }): unknown[] {
  return Array.isArray(warnings) ? warnings.slice(1) : []
}
