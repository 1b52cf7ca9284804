import { describe, expect, it } from 'vitest'
import {
  describeLacking,
  explainUncounted,
  findGiven,
  listLacking,
  type ApprovalCase,
} from '../../src/core/model/people/approvers.ts'
import { identifyPerson, tokenHolder } from '../../src/core/model/people/identity.ts'
import { approve } from '../../src/engine/rollout/decide.ts'
import { isApproved, markWaiting } from '../../src/engine/rollout/approvals.ts'
import { buildRollout } from '../server/page-stage.ts'

const at = '2026-01-02T03:00:00.000Z'
const ada = identifyPerson('oidc', 'ada@example.com', ['video'], 'ada@example.com')
const bob = identifyPerson('oidc', 'bob', ['shop'], null)
if (ada === null || bob === null) throw new TypeError('expected persons')
const domains = ['shop.example.com', 'video.example.com']
const build = (own: Partial<ApprovalCase> = {}): ApprovalCase => ({
  domains,
  authors: new Set(['eve@example.com']),
  needs: { by: 1, notAuthor: false },
  rules: [
    { role: 'approver', users: [], groups: ['video'], domains: ['video.*'] },
    { role: 'approver', users: ['bob'], groups: [], domains: ['*'] },
  ],
  ...own,
})

describe('an approval', () => {
  it('counts for the domains of its approver', () => {
    expect(findGiven(ada, build())).toEqual(['video.example.com'])
    expect(findGiven(bob, build())).toBeNull()
    expect(explainUncounted(ada, build(), [])).toBeNull()
  })

  it('of an author, or of somebody who could be one, does not count', () => {
    const needs = { by: 1, notAuthor: true }
    const own = new Set(['ada@example.com'])
    expect(explainUncounted(ada, build({ needs }), [])).toBeNull()
    expect(explainUncounted(ada, build({ needs, authors: own }), [])).toMatch(/wrote a part/)
    expect(explainUncounted(ada, build({ needs, authors: null }), [])).toMatch(/are not known/)
    expect(explainUncounted(bob, build({ needs }), [])).toMatch(/nothing proves an e-mail/)
    expect(explainUncounted(tokenHolder, build({ needs }), [])).toMatch(/nothing proves/)
  })

  it('counts once, and not for the token where several persons are needed', () => {
    const needs = { by: 2, notAuthor: false }
    const before = [{ author: 'ada@example.com', at, wave: 'h' }]
    expect(explainUncounted(ada, build({ needs }), before)).toMatch(/has already approved/)
    expect(explainUncounted(tokenHolder, build({ needs }), [])).toMatch(/nobody's name/)
    expect(explainUncounted(tokenHolder, build(), [])).toBeNull()
  })

  it('is enough once each domain has its approvers', () => {
    const one = { author: 'ada', at, wave: 'h', domains: ['video.example.com'] }
    const other = { author: 'bob', at, wave: 'h' }
    expect(listLacking(domains, [one], 1)).toEqual(['shop.example.com'])
    expect(listLacking(domains, [one, other], 1)).toEqual([])
    expect(listLacking(domains, [one, other], 2)).toEqual(['shop.example.com'])
    expect(describeLacking(domains, ['shop.example.com'])).toBe(
      '1 of 2 domains needs another approver: shop.example.com',
    )
  })
})

describe('approve', () => {
  it('records approvals until they are enough, and keeps them while the wave waits', () => {
    const weight = { by: 2, domains: null }
    const first = approve(buildRollout(), { author: 'ada', at }, weight)
    expect([first.verb, first.lacking?.length]).toEqual(['partly-approved', 5])
    const waiting = markWaiting(first.rollout, 1, '2026-01-02T04:00:00.000Z')
    expect(waiting.waves[1]?.approval).toMatchObject({
      waitingSince: at,
      given: [{ author: 'ada' }],
    })
    expect(isApproved(waiting, 1)).toBe(false)
    const second = approve(waiting, { author: 'bob', at }, weight)
    expect(second.verb).toBe('approved')
    expect(isApproved(second.rollout, 1)).toBe(true)
    expect(second.rollout.waves[1]?.approval?.approved?.author).toBe('ada, bob')
  })

  it('drops approvals of another form of the wave', () => {
    const weight = { by: 2, domains: null }
    const { rollout } = approve(buildRollout(), { author: 'ada', at }, weight)
    const changed = { ...rollout, desiredHashes: { 'shop-1.example.com': 'sha256:other' } }
    const second = approve(markWaiting(changed, 1, at), { author: 'bob', at }, weight)
    expect(second.verb).toBe('partly-approved')
  })
})
