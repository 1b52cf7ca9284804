import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../../src/core/catalog/parse-item.ts'
import type { Json } from '../../../src/core/model/json.ts'
import { interpret } from './interpret.ts'
import { isItemName, isRecord, itemNames } from './items.ts'
import { banCases } from './worked-cases-bans.ts'
import { cacheCases } from './worked-cases-cache.ts'
import { originCases } from './worked-cases-origin.ts'
import { responseCases } from './worked-cases-response.ts'
import { base, listCases, type Case } from './worked-cases.ts'

function toCanonical(item: string, raw: unknown): unknown {
  if (!isItemName(item)) throw new Error(`unknown item: ${item}`)
  if (raw === null) return null
  const { value, problems } = parseItem(getItemSpec(item), raw as Json, 'manifest')
  if (value === null) throw new Error(JSON.stringify(problems))
  return value
}

function buildItems({ items, candidates = {}, unmanaged = [] }: Case): Record<string, unknown[]> {
  const built: Record<string, unknown[]> = {}
  for (const item of itemNames) if (!unmanaged.includes(item)) built[item] = [null]
  for (const [item, raw] of Object.entries({ ...base, ...items }))
    if (!unmanaged.includes(item)) built[item] = [toCanonical(item, raw)]
  for (const [item, list] of Object.entries(candidates))
    built[item] = list.map((raw) => toCanonical(item, raw))
  return built
}

function get(node: unknown, path: string): unknown {
  const [name = '', ...rest] = path.split('.')
  const inner = isRecord(node) ? node[name] : undefined
  return rest.length === 0 ? inner : get(inner, rest.join('.'))
}

const prefixes: Record<string, string> = {
  NG: 'not-given',
  UM: 'unmanaged',
  ID: 'in-doubt',
  UD: 'undecidable',
}

/** The reasons that a text such as `?R17,NG ip` stands for. */
function expandReasons(text: string): string[] {
  const reasons = text
    .slice(1)
    .split(',')
    .map((part) => {
      const [word = '', place] = part.split(' ')
      return place === undefined ? `not-specified ${word}` : `${prefixes[word]} ${place}`
    })
  return reasons.toSorted((a, b) => (a < b ? -1 : 1))
}

function toAnswer(wanted: unknown): unknown {
  return typeof wanted === 'string' && wanted.startsWith('?')
    ? { unknown: expandReasons(wanted) }
    : { value: wanted }
}

function readPointer(rule: unknown): unknown {
  return isRecord(rule) ? rule['pointer'] : rule
}

/** What a trace says of a field, in the shape of `toAnswer`. */
function readField(trace: Record<string, unknown>, field: string): unknown {
  const [word, name] = field.split(' ')
  if (word === 'rule' || word === 'exempt') {
    const checks = get(trace, 'access.checks')
    const check = Array.isArray(checks) ? checks.find((one) => get(one, 'item') === name) : null
    return { value: readPointer(get(check, word)) }
  }
  if (word === 'managed') return { value: get(get(trace, name ?? ''), 'managed') }
  if (field === 'also') {
    const rules = get(trace, 'cache.also')
    return { value: Array.isArray(rules) ? rules.map(readPointer) : rules }
  }
  if (field === 'key.query') return { value: get(trace, 'cache.key.value.query') }
  const header = /^(origin|response)\.headers\.(.*)$/.exec(field)
  const answer =
    header === null ? get(trace, field) : get(get(trace, `${header[1]}.headers`), header[2] ?? '')
  if (!isRecord(answer)) return answer
  if ('unknown' in answer) return { unknown: answer['unknown'] }
  return { value: field === 'cache.rule' ? readPointer(answer['value']) : answer['value'] }
}

const cases = [...listCases, ...banCases, ...cacheCases, ...originCases, ...responseCases]

describe('the worked cases', () => {
  it.each(cases)('$id', (one) => {
    const trace = interpret({
      domain: 'www.example.com',
      items: buildItems(one),
      request: one.request,
      assume: one.assume ?? {},
      preset: 'strict',
    })
    for (const [field, wanted] of Object.entries(one.expect))
      expect([field, readField(trace, field)]).toEqual([field, toAnswer(wanted)])
    expect(Object.keys(trace['assumed'] ?? {})).toEqual(expect.arrayContaining(one.assumed ?? []))
  })
})
