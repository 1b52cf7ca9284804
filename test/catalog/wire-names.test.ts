import { describe, expect, it } from 'vitest'
import {
  findItemByWireName,
  findWireNameProblems,
  listClearedItems,
} from '../../src/core/catalog/wire-names.ts'
import type { Json } from '../../src/core/model/json.ts'

const shared = { error_bcache: 'cache_error_code' }
const third = { cache_error_code: 'error_cache', error_bcache: 'error_cache' }

describe('names on the wire', () => {
  it.each([[shared], [third], [{ cache_error_code: 'cache_error_code', ...shared }]])(
    '%j lets the two error caches share their name',
    (itemKeys) => expect(findWireNameProblems(itemKeys)).toEqual([]),
  )

  it.each([
    [{ error_bcache: 'timeout' }, 'error_bcache'],
    [{ deny_protocol: 'cache_error_code' }, 'deny_protocol'],
    [{ timeout: 'x', error_bcache: 'x' }, 'error_bcache'],
    [{ ...third, deny_protocol: 'error_cache' }, 'deny_protocol'],
    [{ cache_error_code: 'other', ...shared }, 'error_bcache'],
    [{ cache_error_code: 'error_bcache', error_bcache: 'error_bcache' }, 'cache_error_code'],
    [{ cache_error_code: 'ip_black_list', error_bcache: 'ip_black_list' }, 'cache_error_code'],
    [{ cache_error_code: 'token', error_bcache: 'token' }, 'cache_error_code'],
  ])('%j is refused at %s', (itemKeys, item) => {
    expect(findWireNameProblems(itemKeys)[0]).toMatchObject({ item, part: 'name' })
  })
})

const on = { bcache: 'on', cache_unit: 'hour' }

describe('an item of a shared name', () => {
  it.each<[string, Json, string[], string]>([
    ['a class in capitals', { ...on, code: ['5XX'], cache_time: '1' }, [], 'cache_error_code'],
    ['a class in lower case', { ...on, code: ['5xx'], cache_time: 1 }, [], 'error_bcache'],
    ['a number as time', { ...on, code: ['404'], cache_time: 1 }, [], 'cache_error_code'],
    ['a text as time', { ...on, code: ['404'], cache_time: '1' }, [], 'error_bcache'],
    ['more than two years', { ...on, code: ['404'], cache_time: '17521' }, [], 'cache_error_code'],
    ['no time', { bcache: 'off', code: ['404'] }, [], 'cache_error_code'],
    [
      'no time, and a likely item',
      { bcache: 'off', code: ['404'] },
      ['error_bcache'],
      'error_bcache',
    ],
    [
      'another shape than the likely item',
      { bcache: 'off', code: ['5XX'] },
      ['error_bcache'],
      'cache_error_code',
    ],
    ['an invalid value', { bcache: 'maybe' }, ['timeout', 'error_bcache'], 'error_bcache'],
    ['no value', null, ['error_bcache'], 'error_bcache'],
  ])('has the shape of the payload: %s', (_, payload, likely, item) => {
    expect(findItemByWireName('cache_error_code', payload, shared, likely)).toBe(item)
    expect(findItemByWireName('error_cache', payload, third, likely)).toBe(item)
  })

  it('has its own name besides', () => {
    const payload = { ...on, code: ['5XX'], cache_time: 1 }
    expect(findItemByWireName('error_bcache', payload, shared)).toBe('error_bcache')
    expect(findItemByWireName('error_bcache', payload, {})).toBe('error_bcache')
    expect(findItemByWireName('cache_error_code', payload, {})).toBe('cache_error_code')
    expect(findItemByWireName('error_cache', payload, shared)).toBeUndefined()
  })
})

it('items with the same name empty each other, and only those', () => {
  expect(listClearedItems('error_bcache', shared)).toEqual(['cache_error_code'])
  expect(listClearedItems('cache_error_code', third)).toEqual(['error_bcache'])
  expect(listClearedItems('error_bcache', { error_bcache: 'x' })).toEqual([])
  expect(listClearedItems('ip_black_list', shared)).toEqual(['ip_white_list'])
})
