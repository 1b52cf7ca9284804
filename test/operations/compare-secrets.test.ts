import { describe, expect, it } from 'vitest'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import type { Change, Write } from '../../src/core/model/change.ts'
import { compareSecrets, reportUnchanged } from '../../src/operations/submission/compare-secrets.ts'
import { settleConditional } from '../../src/core/plan/selection.ts'
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
const write = (id: number, domains: string[]) =>
  buildWrite({ id, domains, items: { ip_black_list: replaceWith(list('unresolved:x')) } })
/** Compares the secrets of a plan that is made again with the changes alone. */
const compare = (changes: Change[], writes: Write[]) =>
  compareSecrets(
    workspace,
    buildPlan(changes, { writes }),
    (differs) => Promise.resolve(buildPlan(settleConditional(changes, differs))),
    new AbortController().signal,
  )
const listDomains = (changes: Change[]) => changes.map(({ domain }) => domain)

describe('comparing the secrets of conditional changes', () => {
  it('leaves a plan without them as it is', async () => {
    const plan = buildPlan()
    const found = await compareSecrets(workspace, plan, undefined, new AbortController().signal)
    expect(found.plan).toBe(plan)
  })

  it('gives the plan without them if all secrets are recorded', async () => {
    const found = await compare([conditional(a), conditional(b)], [write(1, [a, b])])
    expect([found.plan.changes, found.plan.writes]).toEqual([[], []])
    expect(found.unchanged.map(({ id }) => id)).toEqual([1])
  })

  it('makes the plan again if some differ, and numbers the others after its writes', async () => {
    const c = 'c.example.com'
    const changes = [conditional(a), conditional(b, 'scrypt:old'), conditional(c), buildChange()]
    const found = await compare(changes, [write(1, [c]), write(2, [a, b])])
    expect(found.plan.changes).toMatchObject([{ domain: b, reason: 'differs' }, {}])
    expect(found.plan.definite).toBeUndefined()
    expect([listDomains(found.differing), listDomains(found.same)]).toEqual([[b], [a, c]])
    expect(found.unchanged).toMatchObject([{ id: 3, domains: [c] }])
  })

  it('keeps the writes if all differ', async () => {
    const writes = [write(1, [a, b])]
    const changes = [conditional(a, 'scrypt:1'), conditional(b, 'scrypt:2')]
    const found = await compare(changes, writes)
    expect([found.plan.writes, found.unchanged]).toEqual([writes, []])
    expect(found.plan).toMatchObject({
      changes: [{ reason: 'differs' }, { reason: 'differs' }],
      summary: { conditional: 0 },
    })
  })

  it('releases an item that a dropped change would have emptied', () => {
    const emptied = buildChange({
      domain: a,
      item: 'ip_white_list',
      action: 'unset',
      reason: 'cleared',
      by: 'ip_black_list',
      after: null,
    })
    const { by: _, ...rest } = emptied
    expect(settleConditional([conditional(a), emptied], () => false)).toEqual([
      { ...rest, action: 'release', reason: 'differs' },
    ])
    expect(settleConditional([conditional(a), emptied], () => true)).toContain(emptied)
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
