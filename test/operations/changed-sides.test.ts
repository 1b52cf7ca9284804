import { expect, it } from 'vitest'
import type { ItemState } from '../../src/core/model/item.ts'
import type { Comparable } from '../../src/operations/runtime/parts.ts'
import { listChangedSides } from '../../src/operations/tracing/effects.ts'
import { createSidesFinder, packSides } from '../../src/outlets/report/effects/pack-sides.ts'
import { buildChange } from '../plans.ts'

const domain = 'www.example.com'
const confirmed = (value: ItemState['candidates'][number], source = ''): ItemState => ({
  status: 'confirmed',
  candidates: [value],
  ...(source === '' ? {} : { templates: { 'scrypt:0f9a': source } }),
})
const signed = (secret: string) => ({ type: 1, key: { $secret: secret } })

it('changed domains have both sides, and secrets only by their names', () => {
  const desired = new Map([
    [
      domain,
      new Map([
        ['timeout', confirmed({ time: '60' })],
        ['visit_timestamp', confirmed(signed('unresolved:next'))],
      ]),
    ],
  ])
  const recorded = new Map([
    [
      domain,
      new Map([
        ['timeout', confirmed({ time: '30' })],
        ['visit_timestamp', confirmed(signed('scrypt:0f9a'), 'signing')],
        ['referer', confirmed({ type: 1, list: ['a.example'], allow_empty: true })],
      ]),
    ],
    ['other.example.com', new Map()],
  ])
  const workspace = {
    config: { trace: { assume: {} }, service: { timezone: null } },
    desired,
    vault: { listTemplates: () => ({}) },
  } as unknown as Comparable
  const changes = [
    buildChange({ domain, item: 'timeout' }),
    buildChange({ domain, item: 'visit_timestamp', after: signed('unresolved:next') }),
    buildChange({ domain, item: 'referer', action: 'release', after: null }),
  ]
  const sides = listChangedSides(workspace, recorded, changes, {})
  expect([...sides.known]).toEqual([domain, 'other.example.com'])
  const packed = packSides(sides)
  const text = JSON.stringify(packed)
  expect(text).not.toContain('scrypt')
  expect(text).toContain('{"$secret":"signing"}')
  expect(text).toContain('{"$secret":"next"}')
  expect(createSidesFinder(packed)(domain)?.changed).toEqual(['timeout', 'visit_timestamp'])
})
