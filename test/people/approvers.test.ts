import { describe, expect, it } from 'vitest'
import type { RoleRule } from '../../src/core/model/people/roles.ts'
import type { Given, Rollout } from '../../src/core/model/rollout.ts'
import {
  describeLacking,
  explainUncounted,
  listLacking,
} from '../../src/core/model/people/approvers.ts'
import {
  areShownDifferent,
  identify,
  tokenHolder,
  unidentified,
  type Actor,
  type Identity,
} from '../../src/core/model/people/identity.ts'
import { approve, listRollout, type ApprovalWeight } from '../../src/engine/rollout/decide.ts'
import { weighDecision } from '../../src/operations/people/decide.ts'
import { isApproved, markWaiting } from '../../src/engine/rollout/approvals.ts'
import { fc } from '../runs.ts'
import { buildRollout } from '../server/page-stage.ts'

const at = '2026-01-02T03:00:00.000Z'
const person = (...given: Parameters<typeof identify>): Identity => {
  const found = identify(...given)
  if (found === null) throw new TypeError('expected a person')
  return found
}
const issuer = 'https://login.example.com'
const ada = person('oidc', 'u1', { issuer, groups: ['video'], email: 'ada@example.com' })
const bob = person('oidc', 'bob', { issuer, groups: ['shop'] })
const give = (by: Identity): Given => ({ author: by.name, at, by, wave: 'h' })
const domains = ['shop.example.com', 'video.example.com']
const authors = new Set(['eve@example.com'])
const one = { by: 1, notAuthor: false }
const two = { by: 2, notAuthor: false }

describe('an approval', () => {
  it('of an author, or of somebody who could be one, does not count', () => {
    const needs = { by: 1, notAuthor: true }
    const own = new Set(['ada@example.com'])
    expect(explainUncounted(ada, authors, needs, [])).toBeNull()
    expect(explainUncounted(ada, own, needs, [])).toMatch(/wrote a part/)
    expect(explainUncounted(ada, 'why', needs, [])).toMatch(/are not known/)
    expect(explainUncounted(bob, authors, needs, [])).toMatch(/nothing proves an e-mail/)
    expect(explainUncounted(tokenHolder, authors, needs, [])).toMatch(/nothing proves/)
  })

  it('counts once, and not for those who are no person where several are needed', () => {
    const explain = (identity: Identity, ...before: Identity[]) =>
      explainUncounted(identity, authors, two, before.map(give))
    expect(explain(ada, ada)).toBe('ada@example.com has already approved the wave.')
    expect(explain(bob, ada)).toBeNull()
    // The same person under another address, at another issuer, and by what has no issuer.
    const renamed = person('oidc', 'u1', { ...ada, email: 'ada@example.org' })
    const recreated = person('oidc', 'another-account', ada)
    for (const other of [
      renamed,
      recreated,
      person('oidc', 'bob', { issuer: 'https://other.example.com', email: 'bob@example.com' }),
      person('database', 'bob'),
      person('proxy', 'bob@example.com', { email: 'bob@example.com' }),
    ])
      expect(explain(other, ada)).toMatch(
        /already approved|not shown to be another person than ada/,
      )
    expect(explain(person('database', 'bob'), person('database', 'ada'))).toBeNull()
    expect(explain(tokenHolder)).toMatch(/nobody's name/)
    expect(explain(unidentified)).toMatch(/nobody's name/)
    expect(explain(person('ci', 'job', { issuer: 'https://ci.example.com' }))).toMatch(/nobody's/)
    expect(explainUncounted(tokenHolder, authors, one, [])).toBeNull()
    // Where one is enough, another one may add the other domains.
    expect(explainUncounted(person('ci', 'job'), authors, one, [give(ada)])).toBeNull()
  })

  it('is enough once each domain has its approvers, who are shown to differ', () => {
    const part = { ...give(ada), domains: ['video.example.com'] }
    const other = give(bob)
    expect(listLacking(domains, [part], 1)).toEqual(['shop.example.com'])
    expect(listLacking(domains, [part, other], 1)).toEqual([])
    expect(listLacking(domains, [part, other], 2)).toEqual(['shop.example.com'])
    const unknown = { author: 'carl', at, wave: 'h' }
    for (const same of [give(person('database', 'ada')), unknown])
      expect(listLacking(['a'], [give(ada), same], 2)).toEqual(['a'])
    expect(listLacking(['a'], [unknown, { ...unknown, author: 'x' }], 2)).toEqual(['a'])
    expect(listLacking(['a'], [give(ada), give(bob)], 2)).toEqual([])
    expect(describeLacking(domains, ['shop.example.com'])).toBe(
      '1 of 2 domains needs another approver: shop.example.com',
    )
  })
})

it('nobody is shown to be another than himself, nor than who is known in another way', () => {
  const texts = fc.constantFrom('a', 'b', 'ada@example.com', undefined)
  const known = ['oidc', 'proxy', 'ci', 'database', 'token', 'serve', 'unidentified'] as const
  const actors = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    knownBy: fc.constantFrom(...known),
    issuer: texts,
    sub: texts,
  }) as fc.Arbitrary<Actor>
  let different = 0
  fc.assert(
    fc.property(actors, actors, (a, b) => {
      const isDifferent = areShownDifferent(a, b)
      if (isDifferent) different++
      expect(areShownDifferent(b, a)).toBe(isDifferent)
      expect(areShownDifferent(a, { ...a, name: b.name })).toBe(false)
      expect(areShownDifferent(a, { ...b, name: a.name })).toBe(false)
      if (a.knownBy !== b.knownBy || a.issuer !== b.issuer) expect(isDifferent).toBe(false)
      if (!['oidc', 'proxy', 'database'].includes(a.knownBy)) expect(isDifferent).toBe(false)
    }),
    { numRuns: 2000 },
  )
  expect(different).toBeGreaterThan(0)
})

it('letter case shows no other person', () => {
  expect(areShownDifferent(person('proxy', 'ada'), person('proxy', 'Ada'))).toBe(false)
  expect(areShownDifferent(person('proxy', 'ada'), person('proxy', 'eve'))).toBe(true)
})

describe('the weight of an approval', () => {
  const rule = (...globs: string[]): RoleRule => {
    return { role: 'approver', users: ['ada@example.com'], groups: [], domains: globs }
  }
  const weigh = (rollout: Rollout, by: number, ...sets: string[][]) =>
    weighDecision(ada, 'approve', rollout, {
      sets: sets.map((globs, i) => ({
        roles: [rule(...globs)],
        needs: { by: i === 0 ? by : 1, notAuthor: false },
      })),
      authors: 'nobody asks',
    })

  it('is the domains that all rules allow, and the strictest number', () => {
    const rollout = buildRollout()
    const [first = '', second = '', ...others] = rollout.waves[1]?.domains ?? []
    expect(weigh(rollout, 1, ['*'], ['*'])).toEqual({ by: 1, domains: null })
    expect(weigh(rollout, 3, ['*'], [first, second])).toEqual({ by: 3, domains: [first, second] })
    expect(weigh(rollout, 1, [first, second], [second]).domains).toEqual([second])
    expect(() => weigh(rollout, 1, [first], [second, ...others])).toThrow(
      /of no domain by all rules/,
    )
  })

  it('is none twice, whatever the name, until the wave is approved', () => {
    const twice: ApprovalWeight = { by: 2, domains: null }
    const { rollout } = approve(buildRollout(), { author: 'ada@example.org', at, by: ada }, twice)
    expect(rollout.waves[1]?.approval?.given).toMatchObject([{ by: { issuer, sub: 'u1' } }])
    expect(() => weigh(rollout, 2, ['*'])).toThrow(/is not shown to be another person than ada@/)
    const done = approve(rollout, { author: 'bob', at, by: bob }, twice).rollout
    expect(weigh(done, 2, ['*'])).toEqual(twice)
    expect(approve(done, { author: 'ada', at, by: ada }, twice).verb).toBe('already-approved')
    expect(listRollout(done, false).approvedBy).toEqual(['ada@example.org', 'bob'])
  })
})

describe('approve', () => {
  it('records approvals until they are enough, and keeps them while the wave waits', () => {
    const weight = { by: 2, domains: null }
    const first = approve(buildRollout(), { author: 'ada', at, by: ada }, weight)
    expect([first.verb, first.lacking?.length]).toEqual(['partly-approved', 5])
    const waiting = markWaiting(first.rollout, 1, '2026-01-02T04:00:00.000Z')
    expect(waiting.waves[1]?.approval).toMatchObject({
      waitingSince: at,
      given: [{ author: 'ada' }],
    })
    expect(isApproved(waiting, 1)).toBe(false)
    const second = approve(waiting, { author: 'bob', at, by: bob }, weight)
    expect(second.verb).toBe('approved')
    expect(isApproved(second.rollout, 1)).toBe(true)
    expect(second.rollout.waves[1]?.approval?.approved?.author).toBe('ada, bob')
  })

  it('drops approvals of another form of the wave', () => {
    const weight = { by: 2, domains: null }
    const { rollout } = approve(buildRollout(), { author: 'ada', at, by: ada }, weight)
    const changed = { ...rollout, desiredHashes: { 'shop-1.example.com': 'sha256:other' } }
    const second = approve(markWaiting(changed, 1, at), { author: 'bob', at, by: bob }, weight)
    expect(second.verb).toBe('partly-approved')
  })
})
