import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { fetchConfig, fetchWrites, type Place } from '../steps/cli.ts'
import { signed } from './secrets-through-ci.ts'

const count = 30
const listDomains = () => Array.from({ length: count }, (_, i) => `d${i}.example.com`)

/**
 * Guards a workspace whose plans know no secret: the apply that compares them is refused only for
 * those that differ.
 */
export async function compareGuarded(place: Place, emulator: Emulator): Promise<void> {
  const given = { ...place.env, SIGNING: 'first-signing-key', TWIN: 'first-twin-key' }
  const { SIGNING: _signing, TWIN: _twin, ...withheld } = given
  for (const [i, domain] of listDomains().entries())
    place.manifest(domain, signed(60, i === 0 ? 'twin' : 'signing'))
  place.env = given
  expect((await place.cli('apply', '--yes')).err).toContain('confirmed')
  const guards = 'guards: {protect: ["d0.*"], maxDomains: 10}\n'
  place.write('edgewise.yaml', place.read('edgewise.yaml') + guards)
  const before = (await fetchWrites(emulator)).length
  const countSent = async () => (await fetchWrites(emulator)).length - before

  place.env = withheld
  const planned = await place.cli('plan', '--out', 'plan.json', '--detailed-exitcode')
  expect([planned.code, planned.out.replace(/\s+/g, ' ')]).toEqual([
    0,
    'No changes but for 30 secrets that are compared at the apply (-v lists them). ',
  ])
  const err = planned.err.replace(/\s+/g, ' ')
  expect(err).toContain(
    'apply may refuse this plan, if secrets differ. maxDomains: 30 of 30 domains would change, ' +
      'more than 10.',
  )
  expect(err).toContain('apply may refuse this plan, if secrets differ. protect: d0.example.com')
  expect(err).not.toContain('apply will refuse')

  place.env = given
  const applied = await place.cli('apply', 'plan.json')
  expect([applied.code, applied.err, await countSent()]).toEqual([
    0,
    expect.stringContaining('All 30 secrets are as recorded.'),
    0,
  ])

  place.env = { ...given, TWIN: 'second-twin-key' }
  const refused = await place.cli('apply', 'plan.json', '--json')
  expect([refused.code, JSON.parse(refused.out), await countSent()]).toEqual([
    1,
    expect.objectContaining({
      code: 'guarded',
      message: expect.stringContaining('protect: d0.example.com is protected') as string,
    }),
    0,
  ])
  place.env = { ...given, SIGNING: 'second-signing-key' }
  const many = await place.cli('apply', 'plan.json')
  expect([many.code, many.err.replace(/\s+/g, ' '), await countSent()]).toEqual([
    1,
    expect.stringContaining('maxDomains: 29 of 30 domains would change, more than 10'),
    0,
  ])
  const forced = await place.cli('apply', 'plan.json', '--force')
  expect([forced.code, await countSent()]).toEqual([0, 3])
  expect(await fetchConfig(emulator, 'd1.example.com')).toMatchObject({
    visit_timestamp: { key: 'second-signing-key' },
  })
}
