import { expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { isAsExpected, matchesValue } from '../../src/core/tests/match.ts'
import { listFieldNames, parseFieldName } from '../../src/core/tests/fields.ts'
import type { Reply } from '../../src/core/trace/reply.ts'

it.each<[Json, Json, boolean]>([
  [301, '301', true],
  ['x', ['x'], true],
  ['x', ['x', 'y'], false],
  [['a', 'b'], 'a,b', true],
  [[], '', true],
  [['192.0.2.1'], [{ address: '192.0.2.1', weight: null }], true],
  [{ query: null }, { query: null, path: '/' }, true],
  [{ query: 'a' }, { path: '/' }, false],
  [{ a: 1 }, 'a', false],
  [null, null, true],
  [null, 0, false],
  [0, null, false],
  [{ qurey: null }, { query: null }, false],
  [{}, { query: null }, false],
  [{}, {}, true],
])('%j matches %j: %j', (expected, actual, isMatch) => {
  expect(matchesValue(expected, actual)).toBe(isMatch)
})

const unknown = { unknown: ['not-given ip'] }
it.each<[Json, Reply, boolean]>([
  ['allowed', { value: 'allowed' }, true],
  ['allowed', unknown, false],
  [{ unknown: true }, unknown, true],
  [{ unknown: true }, { value: 1 }, false],
  [{ either: ['a', 'b'] }, { value: 'b' }, true],
  [{ either: ['a', 'b'] }, { value: 'c' }, false],
  [{ either: ['a', 'b'] }, unknown, true],
])('%j expects %j: %j', (expected, reply, isMet) => {
  expect(isAsExpected(expected, reply)).toBe(isMet)
})

it('parseFieldName knows every answer of a trace, and headers in any case', () => {
  for (const name of listFieldNames()) expect(parseFieldName(name)).not.toHaveProperty('fault')
  expect(parseFieldName('origin.headers.X-Test')).toEqual({
    path: 'origin.headers.x-test',
    header: { message: 'request', name: 'x-test' },
  })
  expect(parseFieldName('seconds')).toEqual({
    fault: 'a trace has no answer "seconds". It has cache.seconds.',
  })
})
