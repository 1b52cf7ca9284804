import { describe, expect, it } from 'vitest'
import { identify, tokenHolder } from '../../src/core/model/people/identity.ts'
import { unidentified, type Identity } from '../../src/core/model/people/identity.ts'
import {
  actions,
  explainRefusal,
  listApprovable,
  type Action,
  type RoleRule,
} from '../../src/core/model/people/roles.ts'

const role = (name: RoleRule['role'], ...domains: string[]): RoleRule => ({
  role: name,
  users: [],
  groups: [`${name}s`],
  domains: domains.length === 0 ? ['*'] : domains,
})
const person = (...groups: string[]): Identity => {
  const found = identify('oidc', 'Ada@Example.com', { groups, email: 'Ada@Example.com' })
  if (found === null) throw new TypeError('expected a person')
  return found
}
const [shop, video] = ['shop.example.com', 'video.example.com']
const all = [role('viewer'), role('approver'), role('operator')]
const listAllowed = (identity: Identity, rules: RoleRule[], domains = [shop]): Action[] =>
  actions.filter((action) => {
    const isGlobal = ['view', 'stop-all', 'resume-all'].includes(action)
    return explainRefusal(identity, action, isGlobal ? [] : domains, rules) === null
  })

describe('roles', () => {
  it('allow each role its actions, and nobody else anything', () => {
    expect(listAllowed(person('viewers'), all)).toEqual(['view'])
    expect(listAllowed(person('approvers'), all)).toEqual(['view', 'approve', 'pause'])
    expect(listAllowed(person('operators'), all)).toEqual(
      actions.filter((action) => action !== 'approve'),
    )
    expect(listAllowed(person('strangers'), all)).toEqual([])
    expect(listAllowed(person(), all)).toEqual([])
    expect(listAllowed(unidentified, all)).toEqual([])
    expect(listAllowed(tokenHolder, all)).toEqual(actions)
  })

  it('hold for their domains only', () => {
    const rules = [role('approver', '*.example.com', `!${shop}`), role('operator', video)]
    const both = [shop, video]
    expect(listAllowed(person('approvers'), rules, [shop])).toEqual(['view'])
    expect(listAllowed(person('approvers'), rules, [video])).toEqual(['view', 'approve', 'pause'])
    expect(listAllowed(person('approvers'), rules, both)).toEqual(['view', 'approve', 'pause'])
    expect(listAllowed(person('operators'), rules, both)).toEqual(['view', 'pause', 'stop-all'])
    expect(listAllowed(person('operators'), rules, [video])).toEqual(
      actions.filter((action) => !['approve', 'resume-all'].includes(action)),
    )
    expect(listApprovable(person('approvers'), both, rules)).toEqual([video])
    expect(
      explainRefusal(person('operators'), 'abort', [video, shop, 'x.example.com'], rules),
    ).toBe(
      'ada@example.com may not abort: that needs the role operator for ' +
        'shop.example.com and 1 more.',
    )
    expect(explainRefusal(person('operators'), 'resume-all', [], rules)).toBe(
      'ada@example.com may not resume all writes: that needs the role operator for all domains.',
    )
  })

  it('let those who log in only look while there are none, and commands do all', () => {
    expect(listAllowed(person('operators'), [])).toEqual(['view'])
    expect(listAllowed(named('ci', 'job'), [])).toEqual(['view'])
    expect(listAllowed(named('database', 'ops'), [])).toEqual(actions)
    expect(listAllowed(unidentified, [])).toEqual(actions)
    expect(explainRefusal(person(), 'stop-all', [], [])).toBe(
      'ada@example.com may not stop all writes: edgewise.yaml has no roles, so that only the ' +
        'token decides.',
    )
  })

  it('name users exactly, machines with their prefix', () => {
    const users = ['ada@example.com', 'ci:job', 'database:ops', 'unidentified']
    const rules: RoleRule[] = [{ role: 'approver', users, groups: [], domains: ['*'] }]
    const allowed = ['view', 'approve', 'pause']
    for (const identity of [person(), named('ci', 'job'), named('database', 'ops'), unidentified])
      expect(listAllowed(identity, rules)).toEqual(allowed)
    expect(listAllowed(named('ci', 'ops'), rules)).toEqual([])
    expect(listAllowed(named('database', 'ada@example.com'), rules)).toEqual([])
  })
})

function named(knownBy: 'ci' | 'database', name: string): Identity {
  const found = identify(knownBy, name)
  if (found === null) throw new TypeError('expected a machine')
  return found
}

describe('identify', () => {
  it('refuses names of machines, and those that can not be shown', () => {
    const wrong = ['', ' a', 'a\nb', 'a\u202eb', 'x'.repeat(257)]
    const names = ['token', 'Unidentified', 'ci:job', 'CI:job', 'database:x', 'Subject:x']
    for (const name of [...names, ...wrong]) expect(identify('proxy', name)).toBeNull()
    for (const name of wrong) expect(identify('oidc', name)).toBeNull()
    // Those of other sources are in a namespace of their own.
    for (const name of names) expect(identify('oidc', name)?.name).toBe(`subject:${name}`)
    expect(identify('proxy', 'tokens')?.name).toBe('tokens')
  })

  it('takes only texts as groups, each once, and not too many', () => {
    const groups = ['a', 'a', 7, null, { b: 1 }, 'b\n', 'x'.repeat(300), 'c d']
    expect(identify('proxy', 'ada', { groups })?.groups).toEqual(['a', 'c d'])
    expect(identify('proxy', 'ada', { groups: 'one' })?.groups).toEqual(['one'])
    expect(identify('proxy', 'ada', { groups: { admins: true } })?.groups).toEqual([])
    const many = Array.from({ length: 500 }, (_, i) => `g${i}`)
    expect(identify('proxy', 'ada', { groups: many })?.groups).toHaveLength(200)
  })
})
