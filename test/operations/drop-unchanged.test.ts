import { describe, expect, it } from 'vitest'
import { SecretVault } from '../../src/manifest/secret-vault.ts'
import type { Change } from '../../src/model/change.ts'
import {
  closeWaveGaps,
  dropUnchanged,
  reportUnchanged,
} from '../../src/operations/drop-unchanged.ts'
import { buildChange, buildPlan, buildWrite, replaceWith } from '../plans.ts'
import { createConfig } from '../simulation/config.ts'
import { Chance } from '../simulation/chance.ts'

const vault = new SecretVault('default', (name) => `the value of ${name}`)
const stateConfig = { store: 'dir', path: 'state', branch: '', remote: '' } as const
const workspace = {
  vault,
  config: createConfig(new Chance('drop'), stateConfig),
}
const [a, b] = ['a.example.com', 'b.example.com']
const list = (...secrets: string[]) => ({
  list: secrets.map(($secret) => ({ $secret })),
  mode: 'cover',
})
const known = vault.resolve('x').$secret

/** Builds a conditional change of a black list with one secret; `recorded` is its fingerprint. */
const conditional = (domain: string, recorded = known): Change =>
  buildChange({
    domain,
    item: 'ip_black_list',
    action: 'change',
    reason: 'secret-unknown',
    before: list(recorded),
    after: list('unresolved:x'),
  })
const write = (id: number, domains: string[], more = {}) =>
  buildWrite({
    id,
    wave: id,
    domains,
    items: { ip_black_list: replaceWith(list('unresolved:x')), ...more },
  })
const drop = (
  changes: Change[],
  writes = [
    write(
      1,
      changes.map(({ domain }) => domain),
    ),
  ],
) => dropUnchanged(workspace, buildPlan(changes, { writes }), new AbortController().signal)

describe('dropping writes after consent', () => {
  it('drops a write whose secrets are all recorded, with its changes', async () => {
    const { plan, unchanged } = await drop([conditional(a), conditional(b)])
    expect([plan.changes, plan.writes, unchanged.map(({ id }) => id)]).toEqual([[], [], [1]])
  })

  it('keeps a write whole if one secret differs, and leaves the others alone', async () => {
    const changes = [conditional(a), conditional(b, 'scrypt:old'), conditional('c.example.com')]
    const writes = [write(1, ['c.example.com']), write(2, [a, b])]
    const { plan, unchanged } = await drop(changes, writes)
    expect([plan.writes, unchanged]).toEqual([[writes[1]], [writes[0]]])
    expect(plan.changes.map(({ domain }) => domain)).toEqual([a, b])
    expect(closeWaveGaps(plan).writes).toMatchObject([{ id: 2, wave: 1 }])
  })

  it('keeps a write with a change that is not conditional', async () => {
    const changes = [conditional(a), buildChange()]
    const { plan, unchanged } = await drop(changes, [write(1, [a], buildWrite().items)])
    expect([plan.changes, unchanged]).toEqual([changes, []])
  })

  it('releases an item that the dropped write would have emptied', async () => {
    const emptied = buildChange({
      domain: a,
      item: 'ip_white_list',
      action: 'unset',
      reason: 'cleared',
      by: 'ip_black_list',
      after: null,
    })
    const { plan } = await drop([conditional(a), emptied], [write(1, [a])])
    const { by: _, ...rest } = emptied
    expect(plan.changes).toEqual([{ ...rest, action: 'release', reason: 'differs' }])
    const sent = await drop([conditional(a, 'scrypt:old'), emptied], [write(1, [a])])
    expect(sent.plan.changes).toContain(emptied)
  })

  it('is reported at the start, and in a separate count', () => {
    const time = '2026-11-20T03:00:00.000Z'
    const started = { type: 'apply.started', time, apply: 'a1', writes: 1, releases: 0 } as const
    expect(reportUnchanged(started, [write(2, [a])])).toMatchObject([
      { type: 'apply.started', writes: 2 },
      { type: 'write.not-sent', id: 2, reason: 'unchanged' },
    ])
    expect(reportUnchanged(started, [])).toEqual([started])
  })
})
