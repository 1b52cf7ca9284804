import { expect, it } from 'vitest'
import { buildPlanJson } from '../../src/outlets/report/plan/json.ts'
import { buildChange, buildPlan, buildWrite, replaceWith } from '../plans.ts'
import { listSchemaErrors } from './output-schema.ts'

const hash = `sha256:${'0'.repeat(64)}`
const secret = { $secret: 'scrypt:abc' }
const domain = 'www.example.com'
const plan = buildPlan(
  [
    buildChange({
      domain,
      item: 'https',
      action: 'change',
      before: { cert_id: 1, force_https: 0 },
      after: { cert_id: 1, force_https: 301 },
      patch: [{ op: 'replace', path: '/force_https', value: 301 }],
    }),
    buildChange({
      domain,
      item: 'ip_black_list',
      action: 'unset',
      reason: 'cleared',
      by: 'ip_white_list',
      before: {},
      after: null,
      patch: [{ op: 'remove', path: '' }],
    }),
    buildChange({
      domain,
      item: 'vendor_origin_auth',
      reason: 'in-doubt',
      after: { key: secret },
      patch: [{ op: 'add', path: '', value: { key: secret } }],
    }),
    buildChange({
      domain,
      item: 'visit_timestamp',
      action: 'change',
      reason: 'secret-unknown',
      before: { key: secret },
      after: { key: { $secret: 'unresolved:signing' } },
      patch: [{ op: 'replace', path: '/key/$secret', value: 'unresolved:signing' }],
    }),
  ],
  {
    writes: [
      buildWrite({
        domains: [domain],
        items: {
          https: replaceWith({ cert_id: 1, force_https: 301 }),
          vendor_origin_auth: replaceWith({ key: secret }),
        },
      }),
    ],
    summary: { unchanged: 11 },
    basis: { desired: { [domain]: hash }, recorded: { [domain]: hash }, items: ['https'] },
    warnings: ['ip_black_list of www.example.com is emptied by ip_white_list.'],
  },
)

const json = buildPlanJson(plan, (item) =>
  item === 'vendor_origin_auth' ? 'acme_origin_auth' : item,
)

it('has the documented shape and key order', () => {
  expect(Object.keys(json)).toEqual([
    'format',
    'changes',
    'writes',
    'summary',
    'basis',
    'planner',
    'warnings',
  ])
  expect(JSON.stringify(json['writes'])).toBe(
    '[{"id":1,"wave":1,"domains":["www.example.com"],' +
      '"config":{"https":{"cert_id":1,"force_https":301},' +
      '"acme_origin_auth":{"key":{"$secret":"scrypt:abc"}}},' +
      '"forms":{"https":"replace","vendor_origin_auth":"replace"}}]',
  )
  expect(json).toMatchObject({
    format: 'edgewise.plan/1',
    changes: plan.changes,
    summary: plan.summary,
    basis: plan.basis,
    warnings: plan.warnings,
  })
})

it('matches its schema', () => {
  expect(listSchemaErrors('plan', json)).toEqual([])
})

it.each([
  ['an unknown key', { ...json, more: 1 }],
  [
    'an unknown form',
    {
      ...json,
      writes: [
        { id: 1, wave: 1, domains: ['a'], config: { https: {} }, forms: { https: 'erase' } },
      ],
    },
  ],
  [
    'a literal beside a secret',
    {
      ...json,
      writes: [
        {
          id: 1,
          wave: 1,
          domains: ['a'],
          config: { https: { $secret: 'scrypt:a', x: 1 } },
          forms: { https: 'replace' },
        },
      ],
    },
  ],
  [
    'a secret in the clear',
    {
      ...json,
      writes: [
        {
          id: 1,
          wave: 1,
          domains: ['a'],
          config: { https: { $secret: 'hunter2' } },
          forms: { https: 'replace' },
        },
      ],
    },
  ],
  [
    'a hash of another kind',
    { ...json, basis: { desired: { a: 'md5:0' }, recorded: {}, target: [], commit: null } },
  ],
])('does not match its schema with %s', (_name, wrong) => {
  expect(listSchemaErrors('plan', wrong)).not.toEqual([])
})
