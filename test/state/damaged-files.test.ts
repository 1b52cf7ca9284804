import { describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { parseDomainFile } from '../../src/state/format/domain-file.ts'
import { parseDoubt, parseEntry, parseBatch } from '../../src/state/format/journal.ts'
import { parseRollout } from '../../src/state/format/rollout-file.ts'
import { parseFile } from '../../src/state/format/parse-file.ts'
import {
  movedFile,
  prunedFile,
  restraintsFile,
  saltFile,
  trafficFile,
} from '../../src/core/model/generated/state-validators.ts'
import { stateSchemas } from './state-schemas.ts'

const at = '2026-11-20T03:00:00.000Z'
const item: JsonObject = {
  candidates: [{ time: '60' }],
  status: 'confirmed',
  at,
  apply: 'one',
  origin: 'write',
}
/** The files that the program parses, with the example of their schema. */
const files: { name: string; parse(place: string, text: string): unknown; whole: Json }[] = [
  {
    name: 'salt',
    parse: (place: string, text: string) => parseFile(place, text, 'salt', saltFile),
  },
  { name: 'domain', parse: parseDomainFile },
  { name: 'journal', parse: parseEntry },
  {
    name: 'moved',
    parse: (place: string, text: string) => parseFile(place, text, 'moved', movedFile),
  },
  {
    name: 'pruned',
    parse: (place: string, text: string) => parseFile(place, text, 'pruned', prunedFile),
  },
  {
    name: 'restraints',
    parse: (place: string, text: string) => parseFile(place, text, 'restraints', restraintsFile),
  },
  {
    name: 'traffic',
    parse: (place: string, text: string) => parseFile(place, text, 'traffic', trafficFile),
  },
  { name: 'batch', parse: parseBatch },
  { name: 'rollout', parse: parseRollout },
  { name: 'doubt', parse: parseDoubt },
].map((file) => {
  const [whole = null] = (stateSchemas.get(file.name)?.['examples'] ?? []) as Json[]
  return { ...file, whole }
})

describe.each(files)('the file of a $name', ({ parse, whole }) => {
  it('is loaded if it is valid', () => {
    expect(() => parse('file.json', JSON.stringify(whole))).not.toThrow()
  })

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

  it('is refused if a newer version wrote it, with its name and a hint to update', () => {
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
    expect(() =>
      parse('file.json', withKey('"program": "edgewise 0.4.0"').replace(/\/\d"/, '/2"')),
    ).toThrow(/\/2; edgewise 0\.4\.0 wrote it$/)
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
      `{"format": "edgewise.record/1", "domain": "a", "items": ${items}}`,
    )
  expect([...domain(`{"__proto__": ${entry}, "constructor": ${entry}}`).items.keys()]).toEqual([
    '__proto__',
    'constructor',
  ])
  expect(() => domain('{"__proto__": {}}')).toThrow(/expected \/items\/__proto__\/status/)
})

it('the last of two equal keys counts, as in JSON.parse', () => {
  const text = '{"format": "edgewise.record/1", "domain": "a", "domain": "b", "items": {}}'
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
  const text = JSON.stringify({ format: 'edgewise.batch/1', landWithinMs: 0, ...more })
  expect(() => parseBatch('1.json', text)).toThrow(
    `the state file 1.json can't be used: ${message}`,
  )
})

describe('recorded state of an item', () => {
  const parse = (more: JsonObject) => () =>
    parseDomainFile(
      'file.json',
      JSON.stringify({
        format: 'edgewise.record/1',
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
