import { expect } from 'vitest'
import type { Emulator } from '../../src/emulator/emulator.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig, type CommandResult, type Place } from '../steps/cli.ts'

const www = 'www.example.com'

/** Lines of a workspace file with two secrets. */
export const secretSources = 'secrets: {signing: {env: SIGNING}, twin: {env: TWIN}}\n'

/** Builds items with a secret. */
export const signed = (deadtime = 60, secret = 'signing') => ({
  visit_timestamp: {
    pattern: '.*',
    time_format: 'timestamp',
    key: `\${secret:${secret}}`,
    deadtime,
    req_uri_type: 1,
  },
})

/** Plans in a job without secrets, and applies that plan in a job with them. */
export async function passPlan(
  planner: Place,
  applier: Place,
  withhold: () => void,
  give: () => void,
): Promise<{ planned: CommandResult; applied: CommandResult }> {
  withhold()
  const files = ['--out', 'plan.json', '--report', 'plan.md']
  const planned = await planner.cli('plan', '--detailed-exitcode', ...files)
  give()
  if (applier !== planner) applier.write('plan.json', planner.read('plan.json'))
  return { planned, applied: await applier.cli('apply', 'plan.json', '--json') }
}

/** Rotates a secret: the plan has a conditional change, which is sent. */
export async function rotateSecret(
  planner: Place,
  applier: Place,
  emulator: Emulator,
): Promise<void> {
  const given = applier.env
  for (const place of new Set([planner, applier])) place.manifest(www, signed())
  await applier.settle()
  const { EDGEWISE_TOKEN: _token, SIGNING: _signing, ...shared } = given
  const { planned, applied } = await passPlan(
    planner,
    applier,
    () => void (planner.env = shared),
    () => void (applier.env = { ...given, SIGNING: 'second-signing-key' }),
  )
  expect([planned.code, applied.code]).toEqual([0, 0])
  const compared = 'No changes but for 1 secret that is compared at the apply'
  expect(planned.out).toContain(compared)
  expect(planner.read('plan.md')).toContain(compared)
  expect(JSON.parse(planner.read('plan.json')) as JsonObject).toMatchObject({
    changes: [{ action: 'change', reason: 'secret-unknown' }],
    writes: [{ domains: [www], forms: { visit_timestamp: 'replace' } }],
    summary: { domains: 1, change: 1, unchanged: 0, conditional: 1, writes: 1 },
  })
  const { visit_timestamp: sent } = await fetchConfig(emulator, www)
  expect(sent).toMatchObject({ key: 'second-signing-key' })
  expect((await applier.json('plan'))['changes']).toEqual([])
}
