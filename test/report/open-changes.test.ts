import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/core/model/change.ts'
import type { Json } from '../../src/core/model/json.ts'
import { formatOpenChanges } from '../../src/outlets/report/domain/open-changes.ts'

const rule = (expire: number) => [
  { match_method: 'dir', pattern: '/a/', expire, expire_unit: 'D', priority: 1 },
]
const change = (domain: string, item: string, before: Json, after: Json): Change => ({
  domain,
  item,
  action: 'change',
  reason: 'differs',
  before,
  after,
  patch: [],
})
const format = (changes: Change[]) => formatOpenChanges(changes, (text) => text)
const read = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

describe('what is left to change', () => {
  it('has the change once, with its unit and the names of its domains', () => {
    const html = format(
      ['a.example.com', 'b.example.com'].map((domain) =>
        change(domain, 'cache_rule_list', rule(30), rule(60)),
      ),
    )
    expect(read(html)).toBe(
      'cache_rule_list change ~ dir /a/: expire 30 → 60 days a.example.com b.example.com',
    )
    expect(html).toContain('<a href="/domains/b.example.com">b.example.com</a>')
  })

  it('is empty for nothing, and counts what it leaves out', () => {
    expect(format([])).toBe('')
    const many = Array.from({ length: 20 }, (_, i) =>
      change(`d${i}.example.com`, `item_${i}`, i, i + 1),
    )
    expect(read(format(many))).toContain('and 8 more changes')
  })

  it('escapes hostile names and values', () => {
    const html = format([change('<b>.example.com', 'timeout', '<i>', '<u>\u202e')])
    expect(html).not.toMatch(/<[bu]>|<i>|\u202e/)
  })
})
