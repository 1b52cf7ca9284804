import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { checkGuards } from '../../src/core/plan/guards.ts'
import { joinRestraints, type Restraints } from '../../src/core/policy/restraints.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { joinSources } from '../../src/operations/policies/restrain.ts'

/** Parses keys of a workspace file. */
const parse = (file: JsonObject, policies: JsonObject[] = []): Restraints =>
  joinSources([{ file, policies }])

const policy = { policy: 'a', level: 'soft', on: 'plan', deny: 'true', message: 'no' }
const health = { window: '5m' }

/** What each key restrains: before, in a commit, and joined. */
const cases: Record<string, [before: JsonObject, own: JsonObject, joined: JsonObject][]> = {
  'guards.maxDomains': [
    [{ maxDomains: 3 }, {}, { maxDomains: { count: 3 } }],
    [{ maxDomains: 3 }, { maxDomains: 2 }, { maxDomains: { count: 2 } }],
    [{ maxDomains: '5%' }, { maxDomains: 2 }, { maxDomains: { count: 2, percent: 5 } }],
    [{}, { maxDomains: '5%' }, { maxDomains: { percent: 5 } }],
    [{ maxDomains: '5%' }, { maxDomains: '50%' }, { maxDomains: { percent: 5 } }],
  ],
  'guards.maxChanges': [[{ maxChanges: 3 }, { maxChanges: 9 }, { maxChanges: { count: 3 } }]],
  'guards.maxTraffic': [[{ maxTraffic: '5%' }, {}, { maxTraffic: 5 }]],
  'guards.protect': [
    [{ protect: ['a'] }, { protect: ['a'] }, { protect: [['a']] }],
    [{ protect: ['a'] }, { protect: ['*', '!a'] }, { protect: [['*', '!a'], ['a']] }],
  ],
  'guards.freeze': [
    [
      { freeze: [{ from: '2026-01-01', to: '2026-01-02' }] },
      {},
      { freeze: [{ from: '2026-01-01', to: '2026-01-02', timezone: 'UTC', reason: '' }] },
    ],
  ],
  'guards.order': [
    [{}, { order: 'off' }, { order: 'ask' }],
    [{ order: 'off' }, { order: 'off' }, { order: 'off' }],
    [{ order: 'off' }, {}, { order: 'ask' }],
  ],
  'guards.reason': [
    [{ reason: ['freeze'] }, { reason: ['unlock'] }, { reason: ['unlock', 'freeze'] }],
  ],
  'rollout.waves': [
    [{ waves: [1, '100%'] }, {}, { waves: [{ count: 1 }, { percent: 100 }] }],
    [{}, { waves: [1, '100%'] }, { waves: [{ count: 1 }, { percent: 100 }] }],
    // One wave that somebody has to approve is approved as a whole.
    [{ approval: [1] }, { waves: [1, '100%'] }, { waves: [{ percent: 100 }] }],
  ],
  'rollout.by': [
    [{ waves: [1, '100%'], by: 'traffic' }, { waves: [1, '100%'] }, { by: 'traffic' }],
    [{}, { waves: [1, '100%'], by: 'traffic' }, { by: 'traffic' }],
  ],
  'rollout.first': [
    [{ first: ['a'] }, {}, { first: ['a'] }],
    [{}, { first: ['a'] }, { first: ['a'] }],
  ],
  'rollout.pause': [
    [{ waves: [1, '100%'], pause: '5m' }, { waves: [1, '100%'], pause: '0s' }, { pause: 300 }],
    [{ pause: '5m' }, { waves: [1, '100%'], pause: '0s' }, { pause: 0 }],
  ],
  'rollout.approval': [
    [{ approval: [1] }, {}, { approval: [1] }],
    [{ waves: [1, '100%'], approval: [1] }, { approval: [] }, { approval: [1] }],
  ],
  'rollout.approval.wave': [[{ approval: { wave: 1 } }, {}, { approval: [1] }]],
  'rollout.approval.above': [
    [{ approval: { above: '5%' } }, {}, { approvalAbove: 5 }],
    [{ approval: { above: '5%' } }, { approval: { above: '3%' } }, { approvalAbove: 3 }],
    [{}, { approval: { above: '3%' } }, { approvalAbove: 3 }],
  ],
  'rollout.approval.by': [
    [{ approval: { wave: 1, by: 2 } }, {}, { approvers: { by: 2, notAuthor: false } }],
  ],
  'rollout.approval.notAuthor': [
    [{ approval: { wave: 1, notAuthor: true } }, {}, { approvers: { by: 1, notAuthor: true } }],
  ],
  'rollout.revert': [
    [{}, { revert: 'fast' }, { revert: 'waves' }],
    [{ revert: 'fast' }, { revert: 'fast' }, { revert: 'fast' }],
  ],
  'rollout.health': [
    [{ health }, {}, { health: expect.objectContaining({ window: 300 }) as JsonObject }],
    [{}, { health }, { health: expect.objectContaining({ window: 300 }) as JsonObject }],
    [
      { health },
      { health: {} },
      { health: expect.objectContaining({ window: 300 }) as JsonObject },
    ],
  ],
}

it.each(Object.entries(cases).flatMap(([key, all]) => all.map((each) => [key, ...each] as const)))(
  '%s: %j and %j are %j',
  (key, before, own, joined) => {
    const [group = ''] = key.split('.')
    const found = joinRestraints(parse({ [group]: before }), parse({ [group]: own }))
    expect(found[group as 'guards']).toMatchObject(joined)
    const alone = parse({ [group]: own })
    expect(joinRestraints(alone, alone)).toEqual(alone)
  },
)

it('joins errors, roles and policies', () => {
  const roles = (user: string) => [{ role: 'approver', users: [user] }]
  const before = parse(
    { checks: { 'rule-shadowed': 'error', 'entry-redundant': 'note' }, roles: roles('a') },
    [policy, { ...policy, policy: 'b' }, { ...policy, policy: 'c' }],
  )
  const own = parse({ checks: { 'secret-weak': 'error' }, roles: roles('b') }, [
    { ...policy, level: 'advisory' },
    { ...policy, policy: 'b', level: 'hard', message: 'other' },
  ])
  const joined = joinRestraints(before, own)
  expect(joined.checks).toEqual(['secret-weak', 'rule-shadowed'])
  expect(joined.roles.flat().map(({ users }) => users)).toEqual([['b'], ['a']])
  expect(joined.policies.map(({ policy: name, level }) => [name, level].join(' '))).toEqual([
    'a soft',
    'c soft',
    'a advisory',
    'b hard',
  ])
})

it('refuses by each of two limits, and by each list of protected domains', () => {
  const fleet = { domains: 10, items: 10 }
  const { guards } = joinRestraints(
    parse({ guards: { maxDomains: '15%', protect: ['*', '!b.example.com'] } }),
    parse({ guards: { maxDomains: 3, protect: ['b.example.com', '!c.example.com'] } }),
  )
  const refuse = (domains: string[]) =>
    checkGuards({
      changes: domains.map((domain) => ({
        domain,
        item: 'timeout',
        action: 'set',
        reason: 'differs',
        before: null,
        after: {},
        patch: [],
      })) as never,
      writes: [],
      guards,
      fleet,
      moved: [],
      allow: [],
      now: 0,
    }).map(({ guard }) => guard)
  expect(refuse(['b.example.com'])).toEqual(['protect'])
  expect(refuse(['c.example.com'])).toEqual(['protect'])
  expect(refuse(['b.example.com', 'c.example.com'])).toEqual(['maxDomains', 'protect'])
})

/** Keys that restrain no change, and why. */
const others: Record<string, string> = {
  version: 'the format',
  id: 'names the state',
  service: 'where changes go',
  limits: 'how fast they go; the service limits that itself',
  manifests: 'a domain that is left out is a change: its release',
  profiles: 'parts of manifests',
  policies: 'the policies themselves count, wherever their files are',
  defaults: 'parts of manifests',
  secrets: 'values of manifests',
  allowLiteralSecrets: 'how manifests are written',
  sign: 'the history, which is verified by another key',
  state: 'where the restraints are recorded',
  grouping: 'how changes are sent',
  drift: 'what is reported',
  requests: 'what is traced',
  tests: 'what is tested before the merge',
  moved: 'names',
  notify: 'who hears of it',
  serve: 'read when a replica starts',
  'policy.except': 'an exception counts from the commit after the one that brings it',
  'policy.message': 'what a violation says',
}
/** Keys whose parts are joined as a whole. */
const wholes = ['guards.freeze', 'rollout.health', 'checks', 'roles', 'trace']

it('every key of the workspace file and of a policy restrains, or is known not to', () => {
  const load = (name: string) =>
    JSON.parse(
      readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8'),
    ) as JsonObject
  const list = (schema: JsonObject, path: string): string[] => {
    const { properties = {}, items } = schema as { properties?: JsonObject; items?: JsonObject }
    const inner = items === undefined || Array.isArray(items) ? [] : list(items, path)
    const isWhole = wholes.includes(path.slice(0, -1)) || Object.hasOwn(others, path.slice(0, -1))
    return isWhole
      ? []
      : [
          ...inner,
          ...Object.entries(properties).flatMap(([key, each]) => [
            `${path}${key}`,
            ...list(each as JsonObject, `${path}${key}.`),
          ]),
        ]
  }
  const restraining = new Set([
    ...Object.keys(cases),
    'guards',
    'rollout',
    'checks',
    'roles',
    'trace',
    ...['policy', 'level', 'on', 'when', 'deny', 'requests'].map((key) => `policy.${key}`),
  ])
  const keys = [
    ...list(load('workspace.schema.json'), ''),
    ...list(load('policy.schema.json'), 'policy.'),
  ]
  expect(keys.length).toBeGreaterThan(49)
  expect(keys.filter((key) => !restraining.has(key) && !Object.hasOwn(others, key))).toEqual([])
})
