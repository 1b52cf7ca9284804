import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { fetchWrites } from '../steps/cli.ts'
import type { SharedState } from './shared-state.ts'

const domains = ['bank', 'banking', 'm', 'mbank', 'www'].map((name) => `${name}.example.com`)
const shorten = (names: string[]) => names.map((name) => name.replace(/\..*/, '')).toSorted()

/** A pattern with "!" takes domains out of a selection and of the first wave. */
export async function takeOut(shared: SharedState, emulator: Emulator): Promise<void> {
  const rollout = 'rollout: {waves: [2, 100%], pause: 0m, first: ["m*", www*, "!m.*"]}\n'
  const place = shared.build(emulator.url, 'clone', rollout)
  const declare = (time: number) => {
    for (const domain of domains) place.manifest(domain, { timeout: { time } })
  }
  const listChanged = async (...args: string[]) => {
    const { changes } = await place.json('plan', ...args)
    return shorten((changes as { domain: string }[]).map(({ domain }) => domain))
  }
  const apply = async (...args: string[]) =>
    expect((await place.cli('apply', '--yes', '--no-waves', ...args)).code).toBe(0)
  declare(60)
  const { writes } = (await place.json('plan')) as { writes: { wave: number; domains: string[] }[] }
  const inFirst = writes.filter(({ wave }) => wave === 1).flatMap((write) => write.domains)
  expect(shorten(inFirst)).toEqual(['mbank', 'www'])
  for (const args of [
    ['--target', '*.example.com', '--target', '!bank*'],
    ['--target', '!bank*'],
    ['--exclude', 'bank*'],
    ['--exclude', 'bank*', '--target', '*.example.com'],
  ])
    expect([args, await listChanged(...args)]).toEqual([args, ['m', 'mbank', 'www']])
  await apply('--target', '*.example.com', '--target', '!bank*')
  expect(await listChanged()).toEqual(['bank', 'banking'])
  await apply('--exclude', 'banking*')
  expect(await listChanged()).toEqual(['banking'])

  declare(61)
  await apply('--target', '!bank*')
  const drift = await place.json('drift', '--exclude', '*bank*')
  const items = drift['items'] as { domain: string }[]
  expect(shorten(items.map(({ domain }) => domain))).toEqual(['m', 'www'])
  const before = (await fetchWrites(emulator)).length
  expect((await place.cli('rollback', '--yes', '--exclude', 'm*')).code).toBe(0)
  const sent = (await fetchWrites(emulator)).slice(before)
  expect(sent.map((write) => shorten(write.domains))).toEqual([['www']])
}
