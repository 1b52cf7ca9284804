import { describe, expect, it } from 'vitest'
import { isSameJson } from '../../src/model/canonical-json.ts'
import { EdgewiseError } from '../../src/model/edgewise-error.ts'
import {
  resolvePointer,
  isObject,
  formatPointerStep,
  parsePointer,
  type Json,
  type JsonObject,
} from '../../src/model/json.ts'
import { parseDomainFile } from '../../src/state/format/domain-file.ts'
import { parseEntry, parseWave } from '../../src/state/format/journal.ts'
import { parseMoved } from '../../src/state/format/moved-file.ts'
import { parsePruned } from '../../src/state/format/pruned-file.ts'
import { parseRollout } from '../../src/state/format/rollout-file.ts'
import { parseSalt } from '../../src/state/format/salt-file.ts'

const at = '2026-11-20T03:00:00.000Z'
const item: JsonObject = {
  candidates: [{ time: '60' }],
  status: 'confirmed',
  at,
  apply: 'one',
  origin: 'write',
}
const writes = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }

/**
 * For each file, a valid value, alternatives for parts of it, and entries of mappings that may be
 * absent.
 */
const files: {
  name: string
  parse(place: string, text: string): unknown
  whole: Json
  also: Record<string, Json[]>
  lacks: string[]
}[] = [
  {
    name: 'a salt',
    parse: parseSalt,
    whole: { format: 'edgewise.salt/1', salt: '00112233445566778899aabbccddeeff' },
    also: {},
    lacks: [],
  },
  {
    name: 'a domain',
    parse: parseDomainFile,
    whole: { format: 'edgewise.record/2', domain: 'a.example.com', items: { timeout: item } },
    also: { '/domain': ['x'], '/items': [{}], '/items/timeout/apply': ['x'] },
    lacks: ['/items/timeout'],
  },
  {
    name: 'an apply',
    parse: parseEntry,
    whole: {
      format: 'edgewise.journal/3',
      id: 'one',
      startedAt: at,
      endedAt: at,
      commit: 'c',
      author: 'a',
      writes,
      parts: writes,
      outcome: 'complete',
      settledBatches: 0,
      settled: [1],
    },
    also: {
      '/id': ['x'],
      '/endedAt': [null],
      '/commit': ['x', null],
      '/author': ['x', null],
      '/settledBatches': [7],
      '/settled': [[]],
      '/settled/0': [7],
      ...Object.fromEntries(
        Object.keys(writes).flatMap((name) => [
          [`/writes/${name}`, [7]],
          [`/parts/${name}`, [7]],
        ]),
      ),
    },
    lacks: ['/parts'],
  },
  {
    name: 'moved domains',
    parse: parseMoved,
    whole: {
      format: 'edgewise.moved/1',
      moved: [{ from: 'a.example.com', to: 'b.example.com', at }],
    },
    also: { '/moved': [[]], '/moved/0/from': ['x'], '/moved/0/to': ['x'] },
    lacks: [],
  },
  {
    name: 'pruned applies',
    parse: parsePruned,
    whole: {
      format: 'edgewise.pruned/1',
      dropped: 0,
      applies: [
        {
          id: 'one',
          startedAt: at,
          endedAt: at,
          commit: 'c',
          author: 'a',
          writes,
          outcome: 'complete',
        },
      ],
    },
    also: {
      '/dropped': [7],
      '/applies': [[]],
      '/applies/0/id': ['x'],
      '/applies/0/endedAt': [null],
      '/applies/0/commit': ['x', null],
      '/applies/0/author': ['x', null],
      ...Object.fromEntries(Object.keys(writes).map((name) => [`/applies/0/writes/${name}`, [7]])),
    },
    lacks: [],
  },
  {
    name: 'a wave',
    parse: parseWave,
    whole: {
      format: 'edgewise.wave/2',
      landWithinMs: 40_000,
      before: { 'a.example.com': { timeout: item } },
      intents: { 1: { 'a.example.com': { timeout: item } } },
    },
    also: {
      '/landWithinMs': [7],
      '/before': [{}],
      '/before/a.example.com': [{}],
      '/before/a.example.com/timeout': [null],
      '/before/a.example.com/timeout/apply': ['x'],
      '/intents': [{}],
      '/intents/1': [{}],
      '/intents/1/a.example.com': [{}],
      '/intents/1/a.example.com/timeout/apply': ['x'],
    },
    lacks: [
      '/before/a.example.com',
      '/before/a.example.com/timeout',
      '/intents/1',
      '/intents/1/a.example.com',
      '/intents/1/a.example.com/timeout',
    ],
  },
  {
    name: 'a rollout',
    parse: parseRollout,
    whole: {
      format: 'edgewise.rollout/4',
      id: 'one',
      startedAt: at,
      commit: 'c',
      author: 'a',
      state: 'open',
      reason: 'r',
      endedAt: at,
      paused: { author: 'a', at },
      items: ['timeout'],
      asked: { 'a.example.com': 'h', 'b.example.com': 'h' },
      values: [{ domains: ['a.example.com', 'b.example.com'], items: { timeout: 'h' } }],
      onHold: [{ domains: ['a.example.com'], items: { timeout: 'h' } }],
      released: ['b.example.com'],
      applies: ['k'],
      waves: [
        {
          domains: ['a.example.com'],
          applied: { from: at, to: at, serviceFrom: at, serviceTo: at },
          passed: true,
          approval: { waitingSince: at, approved: { author: 'a', at, wave: 'h' } },
        },
      ],
    },
    also: {
      '/paused/author': ['x'],
      '/waves/0/approval/waitingSince': [at, null],
      '/waves/0/approval/approved': [null],
      '/waves/0/approval/approved/author': ['x'],
      '/waves/0/approval/approved/wave': ['x'],
      '/id': ['x'],
      '/commit': ['x', null],
      '/author': ['x', null],
      '/reason': ['x', null],
      '/items': [[]],
      '/items/0': ['x'],
      '/asked/a.example.com': ['x'],
      '/asked/b.example.com': ['x'],
      '/endedAt': [at, null],
      '/values': [[]],
      '/values/0/domains': [[]],
      '/values/0/items': [{}],
      '/values/0/items/timeout': ['x'],
      '/onHold': [[]],
      '/onHold/0/domains': [[]],
      '/onHold/0/domains/0': ['x'],
      '/onHold/0/items': [{}],
      '/onHold/0/items/timeout': ['x'],
      '/applies': [[]],
      '/applies/0': ['x'],
      '/waves/0/applied': [null],
      '/waves/0/applied/to': [null],
      '/waves/0/applied/serviceFrom': [at, null],
      '/waves/0/applied/serviceTo': [at, null],
      '/waves/0/passed': [true],
    },
    lacks: ['/paused', '/waves/0/approval', '/values/0/items/timeout', '/onHold/0/items/timeout'],
  },
]

const values: Json[] = [null, true, 7, -1, 0.5, 'x', [], {}]

/**
 * Lists every place within a value, except those inside the values of items, which may be anything
 * that the service accepted.
 */
function listPlaces(value: Json, pointer = ''): string[] {
  if (typeof value !== 'object' || value === null || pointer.endsWith('/candidates')) return []
  const steps = Object.keys(value).map((key) => pointer + formatPointerStep(key))
  return steps.flatMap((step) => [
    step,
    ...listPlaces(resolvePointer({ at: value }, `/at${step.slice(pointer.length)}`) ?? null, step),
  ])
}

/** Copies a value with another value at a place, or without the place. */
function replaceAt(whole: Json, pointer: string, value: Json | undefined): Json {
  const copy = structuredClone(whole)
  const steps = parsePointer(pointer)
  const parent = resolvePointer(copy, steps.slice(0, -1).map(formatPointerStep).join('')) as Json
  const last = steps.at(-1) ?? ''
  if (Array.isArray(parent)) parent[Number(last)] = value ?? null
  else if (isObject(parent)) {
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return copy
}

describe.each(files)('the file of $name', ({ parse, whole, also, lacks }) => {
  const read = (value: Json) => () => parse('file.json', JSON.stringify(value))

  it('is loaded if it is valid', () => expect(read(whole)).not.toThrow())

  it.each(listPlaces(whole))(
    'is loaded or refused for any value at %s, without a defect',
    (place) => {
      for (const value of [undefined, ...values]) {
        const attempt = read(replaceAt(whole, place, value))
        const allowed =
          value === undefined
            ? lacks.includes(place)
            : (also[place] ?? []).some((each) => isSameJson(each, value))
        if (allowed) expect(attempt).not.toThrow()
        else
          expect(attempt, JSON.stringify(value)).toThrow(
            /^the state file file\.json can't be used: /,
          )
      }
    },
  )

  it.each(['', 'null', '[]', '7', '{', '"x"'])('is refused if it is %j', (text) => {
    expect(() => parse('file.json', text)).toThrow(/^the state file file\.json can't be used: /)
  })
})

describe.each(files)('the hostile file of $name', ({ parse, whole }) => {
  const text = JSON.stringify(whole)
  const withKey = (key: string) => text.replace('{', `{${key},`)

  it.each([
    ['nests without end', `"x": ${'['.repeat(100_000)}${']'.repeat(100_000)}`, /100 levels/],
    ['nests objects', `"x": ${'{"a":'.repeat(101)}1${'}'.repeat(101)}`, /100 levels/],
    ['has a number that parses to infinity', '"x": {"y": [-1e999]}', /number that is too large/],
  ])('is refused when it %s', (_how, key, message) => {
    expect(() => parse('file.json', withKey(key))).toThrow(message)
  })

  it('sets no prototype and may have unknown keys', () => {
    for (const key of ['"__proto__": {"polluted": true}', '"constructor": 1', '"later": [1]'])
      expect(() => parse('file.json', withKey(key))).not.toThrow()
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('is refused with a hint to update if a newer version wrote it', () => {
    const [, current] = /\/(\d)"/.exec(text) ?? []
    const attempt = (version: number) => {
      try {
        parse('file.json', text.replace(/\/\d"/, `/${version}"`))
        return null
      } catch (error) {
        return error instanceof EdgewiseError ? [error.message, error.hint] : error
      }
    }
    expect(attempt(Number(current) + 1)).toEqual([
      expect.stringMatching(
        /expected the format (\S+)\/\d, got \1\/\d; a newer edgewise wrote it$/,
      ),
      'Use the version of edgewise that wrote the file, or a newer one.',
    ])
    expect(attempt(0)).toEqual([
      expect.stringMatching(/got \S+\/0$/),
      expect.stringContaining('Restore the file'),
    ])
  })
})

it('names of prototype members are ordinary keys', () => {
  const entry = JSON.stringify(item)
  const domain = (items: string) =>
    parseDomainFile(
      'file.json',
      `{"format": "edgewise.record/2", "domain": "a", "items": ${items}}`,
    )
  expect([...domain(`{"__proto__": ${entry}, "constructor": ${entry}}`).items.keys()]).toEqual([
    '__proto__',
    'constructor',
  ])
  expect(() => domain('{"__proto__": {}}')).toThrow(/expected \/items\/__proto__\/status/)
})

it('the last of two equal keys counts, as in JSON.parse', () => {
  const text = '{"format": "edgewise.record/2", "domain": "a", "domain": "b", "items": {}}'
  expect(parseDomainFile('file.json', text).domain).toBe('b')
})

it.each<[string, JsonObject, string]>([
  [
    'a key',
    { before: {}, intents: { x: {} } },
    'at /intents: expected each key to be the number of a write, got "x"',
  ],
  [
    'a choice',
    { before: { a: { timeout: 7 } }, intents: {} },
    'at /before/a/timeout: expected null or an object, got 7',
  ],
  [
    'a part of a choice',
    { before: { a: { timeout: { ...item, candidates: [] } } }, intents: {} },
    'at /before/a/timeout/candidates: expected at least one entry, got an empty list',
  ],
  ['a missing key', { before: {} }, 'expected /intents, got nothing there'],
])('the message names the place of %s and the expected value', (_what, more, message) => {
  const text = JSON.stringify({ format: 'edgewise.wave/2', landWithinMs: 0, ...more })
  expect(() => parseWave('1.json', text)).toThrow(`the state file 1.json can't be used: ${message}`)
})

describe('recorded state of an item', () => {
  const parse = (more: JsonObject) => () =>
    parseDomainFile(
      'file.json',
      JSON.stringify({
        format: 'edgewise.record/2',
        domain: 'a',
        items: { timeout: { ...item, ...more } },
      }),
    )
  const [one, two] = [[{}], [{}, {}]]

  it.each<[JsonObject]>([
    [{ status: 'confirmed', candidates: one }],
    [{ status: 'unset', candidates: [] }],
    [{ status: 'unset', candidates: one }],
    [{ status: 'in-doubt', candidates: one }],
    [{ status: 'in-doubt', candidates: two }],
    [{ status: 'in-doubt', candidates: [], unknown: true }],
    [{ origin: 'import' }],
  ])('may be %j', (more) => expect(parse(more)).not.toThrow())

  it.each<[JsonObject]>([
    [{ status: 'confirmed', candidates: [] }],
    [{ status: 'confirmed', candidates: two }],
    [{ status: 'unset', candidates: two }],
    [{ status: 'in-doubt', candidates: [] }],
    [{ status: 'in-doubt', candidates: [], unknown: false }],
    [{ status: 'released' }],
    [{ origin: 'guess' }],
    [{ at: 'yesterday' }],
  ])('may not be %j', (more) =>
    expect(parse(more)).toThrow(/at \/items\/timeout\/.*: expected .*, got /),
  )
})

describe('a file of an earlier version', () => {
  it('of a domain is accepted', () => {
    const text = { format: 'edgewise.record/1', domain: 'a', items: { timeout: item } }
    expect(parseDomainFile('file.json', JSON.stringify(text)).items.get('timeout')).toEqual(item)
  })

  it('of a wave is accepted', () => {
    const text = { format: 'edgewise.wave/1', before: {}, intents: {} }
    const empty = { before: new Map(), intents: new Map(), landWithinMs: 0 }
    expect(parseWave('1.json', JSON.stringify(text))).toEqual(empty)
  })
})
