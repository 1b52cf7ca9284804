import { describe, expect, it } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import type { Change } from '../../src/core/model/change.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { isSecret } from '../../src/core/model/secret.ts'
import { formatOpenChanges } from '../../src/outlets/report/domain/open-changes.ts'
import { formatPage } from '../../src/outlets/report/page/format-page.ts'
import { formatPlanMarkdown } from '../../src/outlets/report/plan/markdown.ts'
import { formatPlan } from '../../src/outlets/report/plan/text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { validPayloads } from '../laws/values.ts'
import { buildChange, buildPlan } from '../plans.ts'
import { parsePage } from './page/parse-page.ts'
import { fc, itOften, runs, seed } from '../runs.ts'
import { buildPage } from './page/build-page.ts'

/** Where a value has a field that may change: the steps, the last one is its name. */
type Path = (string | number)[]

/** A field that changes, and the start of what is new in it. */
interface Edit {
  before: Json
  after: Json
  shown: string
}

const change = (item: ItemKey, before: Json, after: Json, given: Partial<Change> = {}) =>
  buildChange({ item, action: 'change', before, after, ...given })

/** Every report of changes, without blanks and the marks of lines: lines wrap anywhere. */
function drawReports(changes: Change[]): Record<string, string> {
  const plan = buildPlan(changes)
  const draw = (columns: number, verbose = false) =>
    formatPlan(plan, { paint: plainPaint, columns, verbose })
  const html = formatPage(buildPage(plan))
  const lines = parsePage(html).parts.flatMap((part) => part.lines.map(({ text }) => text))
  const reports = {
    terminal: draw(80),
    log: draw(Infinity),
    verbose: draw(80, true),
    comment: formatPlanMarkdown(plan).replaceAll(/^[-+! ]/gm, ''),
    details: lines.join('\n'),
    static: /<section class="panel" data-static.*?<\/section>/s.exec(html)?.[0] ?? '',
    open: formatOpenChanges(changes, (text) => text),
  }
  return Object.fromEntries(
    Object.entries(reports).map(([name, text]) => [name, text.replaceAll(/\s+/g, '')]),
  )
}

/** Lists the fields at any depth that may change without making another entry of a list. */
function listPaths(item: ItemKey, value: Json, path: Path = []): Path[] {
  const { identity } = getItemSpec(item)
  if (isObject(value) && !isSecret(value) && !Array.isArray(value))
    return Object.entries(value).flatMap(([name, field]) =>
      identity.includes(name) ? [] : listPaths(item, field, [...path, name]),
    )
  if (Array.isArray(value) && value.some(isObject))
    return value.flatMap((entry, i) => listPaths(item, entry, [...path, i]))
  return value === null || isSecret(value) || typeof path.at(-1) !== 'string' ? [] : [path]
}

function replaceAt(value: Json, [step, ...rest]: Path, field: Json): Json {
  if (step === undefined) return field
  if (Array.isArray(value))
    return value.map((entry, i) => (i === step ? replaceAt(entry, rest, field) : entry))
  const object = isObject(value) ? value : {}
  return { ...object, [step]: replaceAt(object[step] ?? null, rest, field) }
}

const word = fc.stringMatching(/^[a-z]{2,9}$/)
const words = (maxLength: number) => fc.uniqueArray(word, { minLength: 2, maxLength, size: 'max' })

/** Edits of a text or a list: one word among others is new. */
const textEdit = fc
  .tuple(
    words(400),
    fc.constantFrom(',', ' ', '; ', '\n', '|'),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    fc.boolean(),
  )
  .map(([all, by, place, replaces]): Edit => {
    const i = Math.floor(place * all.length)
    const changed = all.toSpliced(i, replaces ? 1 : 0, 'NEWword')
    return { before: all.join(by), after: changed.join(by), shown: 'NEWword' }
  })

function arbitraryEdit(value: Json): fc.Arbitrary<Edit> {
  if (Array.isArray(value))
    return words(400).map((all) => ({ before: all, after: [...all, 'NEW'], shown: 'NEW' }))
  if (typeof value === 'number')
    return fc.nat().map((n) => ({ before: n, after: n + 1, shown: String(n + 1) }))
  if (typeof value === 'boolean')
    return fc.constant({ before: value, after: !value, shown: String(!value) })
  const replaced = fc
    .tuple(words(200), words(200))
    .map(([a, b]) => [`a${a.join('/')}`, `b${b.join('/')}`] as const)
    .map(([before, after]) => ({ before, after, shown: after.slice(0, 20) }))
  return fc.oneof(textEdit, replaced)
}

/** Values of each item with fields that may change. */
const values = [...catalogue.values()].flatMap((spec) =>
  (validPayloads.get(spec.key) ?? []).flatMap((payload) => {
    const { value } = parseItem(spec, payload, 'manifest')
    const paths = value === null ? [] : listPaths(spec.key, value)
    return value === null || paths.length === 0 ? [] : [{ item: spec.key, value, paths }]
  }),
)

function getAt(value: Json, path: Path): Json {
  return path.reduce<Json>((at, step) => (isObject(at) ? (at as never)[step] : null), value)
}

const arbitraryChange = fc
  .constantFrom(...new Set(values.map(({ item }) => item)))
  .chain((item) => fc.constantFrom(...values.filter((each) => each.item === item)))
  .chain(({ item, value, paths }) =>
    fc
      .subarray(paths, { minLength: 1, maxLength: Math.min(paths.length, 6) })
      .chain((some) =>
        fc.tuple(
          ...some.map((path) => arbitraryEdit(getAt(value, path)).map((edit) => ({ path, edit }))),
        ),
      )
      .map((edits) => ({
        item,
        edits,
        before: edits.reduce<Json>(
          (all, { path, edit }) => replaceAt(all, path, edit.before),
          value,
        ),
        after: edits.reduce<Json>((all, { path, edit }) => replaceAt(all, path, edit.after), value),
      })),
  )

describe('a change', () => {
  itOften('has the name of each changed field and what is new in it in every report', () => {
    fc.assert(
      fc.property(arbitraryChange, ({ item, before, after, edits }) => {
        const reports = drawReports([change(item, before, after)])
        for (const [name, text] of Object.entries(reports))
          for (const { path, edit } of edits)
            for (const part of [String(path.at(-1)), edit.shown])
              expect([name, text]).toEqual([name, expect.stringContaining(part)])
      }),
      { numRuns: runs(40, 1000), seed },
    )
  })

  it('of a long list of suffixes and of a cache time is shown around what changes', () => {
    const suffixes = Array.from({ length: 60 }, (_, i) => `x${i + 10}`)
    const rule = (list: string[], expire: number) => [
      { match_method: 'ext', pattern: list.join(','), expire, expire_unit: 's' },
    ]
    const before = rule(suffixes, 86_400)
    const after = rule(suffixes.toSpliced(41, 0, 'webp'), 8_640_000)
    expect(formatPlanMarkdown(buildPlan([change('cache_rule_list', before, after)]))).toContain(
      '\n! entry 1, ext x10,x11,x12,x13,x14…: + pattern … 41 more, webp, … 19 more\n' +
        '! entry 1, ext x10,x11,x12,x13,x14…: expire 86400 → 8640000 seconds\n',
    )
  })

  it('of an entry never is one long line, and names fields whose lines are folded', () => {
    const list = Array.from({ length: 5000 }, (_, i) => `/folder/${i}`)
    const entry = (names: string[]) => [
      { action: 'ban', configs: { url: { list: names, is_match: 'yes' } } },
    ]
    for (const after of [entry(list), entry([...list, '/new'])])
      for (const verbose of [true, false]) {
        const given = { paint: plainPaint, columns: Infinity, verbose }
        const text = formatPlan(buildPlan([change('combined_ban', entry(['/a']), after)]), given)
        expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(1200)
      }
    const fields = (value: number) =>
      Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`field_${i}`, value]))
    const all = Object.keys(fields(0))
    for (const text of Object.values(drawReports([change('https', fields(0), fields(1))])))
      for (const name of all) expect(text).toContain(name)
  })
})
