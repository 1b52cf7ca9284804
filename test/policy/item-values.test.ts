import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { listParts, type ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { createItemState } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import { createConfigLookup } from '../../src/core/policy/cases.ts'
import { compileExpression } from '../../src/core/policy/expression.ts'

/** The values of items, as policies get them. */
function look(config: Record<string, Json>): unknown {
  const items = Object.entries(config).map(([item, raw]) => {
    const spec = catalogue.get(item)
    const parsed = spec === undefined ? null : parseItem(spec, raw, 'manifest')
    expect(parsed?.problems).toEqual([])
    return [item, createItemState(parsed?.value ?? null)] as const
  })
  return createConfigLookup(new Map([['a.example.com', new Map(items)]]))('a.example.com').value
}

function evaluate(text: string, config: unknown): unknown {
  const compiled = compileExpression(text, 'domain', 'bool')
  if ('fault' in compiled) return `not compiled: ${compiled.fault}`
  const outcome = compiled.evaluate({ config }, { left: 1e6 })
  return 'fault' in outcome ? outcome.fault : outcome.value
}

const ruleList = (rule: object) => ({ cache_rule_list: [{ match_method: 'ext', ...rule }] as Json })

describe('times in seconds, without their unit', () => {
  it.each<[string, Record<string, Json>, bigint]>([
    ['cache_rule_list', ruleList({ pattern: 'a', expire: 2, expire_unit: 'D' }), 172_800n],
    ['cache_rule_list', ruleList({ pattern: 'a', expire: 24, expire_unit: 'M' }), 63_072_000n],
    ['cache_rule_list', ruleList({ pattern: 'a', expire: 90 }), 90n],
    ['cache_rule', { cache_rule: [{ type: 4, pattern: 'a', time: 3, timeunit: 'i' }] }, 180n],
    [
      'cache_error_code',
      { cache_error_code: { code: ['404'], bcache: 'on', cache_time: 1, cache_unit: 'hour' } },
      3600n,
    ],
    [
      'error_bcache',
      { error_bcache: { code: ['404'], bcache: 'on', cache_time: '2', cache_unit: 'minute' } },
      120n,
    ],
    ['timeout', { timeout: { time: 60 } }, 60n],
    ['connect_timeout', { connect_timeout: { origin_connect_timeout: 15 } }, 15n],
  ])('%s %#', (_, config, seconds) => {
    const value = JSON.stringify(look(config), (_key, each: unknown) =>
      typeof each === 'bigint' ? `${each}n` : each,
    )
    expect(value).toContain(`"${seconds}n"`)
    expect(value).not.toMatch(/unit/)
  })

  it('has each time with a unit of every item', () => {
    const findUnits = (schema: ItemSchema): string[][] => {
      const fields = Object.entries(schema.properties ?? {})
      const units = fields.filter(([, { enum: words = [] }]) =>
        ['s', 'second'].some((word) => words.includes(word)),
      )
      const times = fields.flatMap(([, field]) => field['x-edgewise']?.time ?? [])
      return [...units.map(([name]) => [name, ...times]), ...listParts(schema).flatMap(findUnits)]
    }
    const found = [...catalogue.values()].flatMap(({ schema }) => findUnits(schema))
    expect(found).toHaveLength(4)
    for (const [unit, ...times] of found) expect(times).toEqual([unit])
  })

  it('has no unit that an expression could ask for', () => {
    const config = look(ruleList({ pattern: 'a', expire: 2, expire_unit: 'D' }))
    expect(evaluate('config.error_bcache.cache_unit == "day"', config)).toMatch(/are in seconds/)
    const rule = 'config.cache_rule_list.exists(r, r.expire_unit == "D")'
    expect(evaluate(rule, config)).toMatch(/the key "expire_unit" is missing/)
  })
})

describe('lists', () => {
  const config = look({
    ...ruleList({ pattern: 'jpg, png', expire: 1 }),
    origin: { default_master: '192.0.2.1,192.0.2.2' },
    cache_rule: [{ type: 4, pattern: 'a,b', time: 1 }],
    visit_areas_limit: { limit_type: 'white', country_list: ['japan', 'china'] },
  })

  it.each([
    ['config.cache_rule_list.all(r, r.pattern == ["jpg", "png"])', true],
    ['"192.0.2.2" in config.origin.default_master', true],
    ['config.origin.default_slave.size() == 0', /default_slave" is missing/],
    ['config.cache_rule.exists(r, r.pattern == "a,b")', true],
    ['"japan" in config.visit_areas_limit.country_list', true],
    // What held of a text is no silent false.
    ['config.origin.default_master == "192.0.2.1"', /compares a list with a text/],
    ['"192.0.2.1" != config.origin.default_master', /compares a text with a list/],
    ['config.origin.default_master in ["192.0.2.1"]', /compares a list with a text/],
    ['config.origin.default_master.contains("192.")', /there is no|do not fit/],
    ['config.origin.default_master.matches("192")', /expects two texts, got a list/],
    ['config.origin.default_master.split(",").size() > 1', /there is no|do not fit/],
  ])('%s', (text, answer) => {
    if (typeof answer === 'boolean') expect(evaluate(text, config)).toBe(answer)
    else expect(evaluate(text, config)).toMatch(answer)
  })
})
