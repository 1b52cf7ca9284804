import { expect, it } from 'vitest'
import type { Plan } from '../../src/model/plan.ts'
import { buildPlanJson } from '../../src/report/plan/json.ts'
import { listSchemaErrors } from './output-schema.ts'

const hash = `sha256:${'0'.repeat(64)}`
const secret = { $secret: 'scrypt:abc' }
const plan: Plan = {
  changes: [
    {
      domain: 'www.example.com',
      item: 'https',
      action: 'change',
      reason: 'differs',
      before: { cert_id: 1, force_https: 0 },
      after: { cert_id: 1, force_https: 301 },
      patch: [{ op: 'replace', path: '/force_https', value: 301 }],
    },
    {
      domain: 'www.example.com',
      item: 'ip_black_list',
      action: 'unset',
      reason: 'cleared',
      by: 'ip_white_list',
      before: {},
      after: null,
      patch: [{ op: 'remove', path: '' }],
    },
    {
      domain: 'www.example.com',
      item: 'vendor_origin_auth',
      action: 'set',
      reason: 'in-doubt',
      before: null,
      after: { key: secret },
      patch: [{ op: 'add', path: '', value: { key: secret } }],
    },
  ],
  writes: [
    {
      id: 1,
      wave: 1,
      domains: ['www.example.com'],
      items: {
        https: { name: 'replace', payload: { cert_id: 1, force_https: 301 } },
        vendor_origin_auth: { name: 'replace', payload: { key: secret } },
      },
    },
  ],
  summary: {
    domains: 1,
    set: 1,
    change: 1,
    unset: 1,
    release: 0,
    unchanged: 11,
    held: 0,
    writes: 1,
    lowerBound: 1,
    seconds: 0,
  },
  basis: {
    desired: { 'www.example.com': hash },
    recorded: { 'www.example.com': hash },
    target: [],
    items: ['https'],
    commit: null,
  },
  planner: { version: 1, effort: 'normal' },
  warnings: ['ip_black_list of www.example.com is emptied by ip_white_list.'],
}

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
    '[{"id":1,"wave":1,"domains":["www.example.com"],"config":{"https":{"cert_id":1,"force_https":301},"acme_origin_auth":{"key":{"$secret":"scrypt:abc"}}},' +
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
