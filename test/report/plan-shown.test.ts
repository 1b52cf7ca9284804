import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/core/model/change.ts'
import type { Json } from '../../src/core/model/json.ts'
import { countChanges, groupPlanChanges, type Block } from '../../src/outlets/report/plan/blocks.ts'
import { tabulateChanges } from '../../src/outlets/report/plan/change-parts.ts'
import { formatPlanMarkdown } from '../../src/outlets/report/plan/markdown.ts'
import { formatPlan } from '../../src/outlets/report/plan/text.ts'
import { listChangedLines } from '../../src/outlets/report/plan/value-lines.ts'
import { findShape } from '../../src/outlets/report/plan/value-text.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { buildChange, buildPlan } from '../plans.ts'
import { fc, itOften, runs, seed } from '../runs.ts'

const listTexts = (before: Json, after: Json) =>
  listChangedLines(before, after, findShape('unknown')).map(({ text }) => text)

describe('shown changes', () => {
  it.each<[string, Json, Json, Json]>([
    ['a changed order of lines', 'a\nb\nc', 'b\na\nc\nd', 'a\nb\nc\nd'],
    ['other line ends', 'a\r\nb', 'a\nb\nc', 'a\r\nb\nc'],
    ['the place of an added line', 'a\nb', 'c\na\nb', 'a\nb\nc'],
    ['a number instead of a text', '5', 5, 6],
    ['a text like a secret', 'x', '(secret abcdefgh)', { $secret: 'scrypt:abcdefgh1' }],
    ['a text like an empty list', 'x', '(empty)', []],
    ['a text with a comma', [], ['a, b'], ['a', 'b']],
    ['a text like several fields', {}, { a: { b: 'c · d e' } }, { a: { b: 'c', d: 'e' } }],
    ['a text like a change', 'x', 'y → z', 'y'],
  ])('differ for %s', (_, before, after, other) => {
    expect(listTexts(before, after)).not.toEqual(listTexts(before, other))
    for (const text of listTexts(before, after)) {
      const [from, to] = text.split(' → ')
      expect(from).not.toBe(to)
    }
  })
})

describe('a long text or list', () => {
  const names = Array.from({ length: 60 }, (_, i) => `name${i}`)
  const texts = (before: string, after: string) =>
    listChangedLines({ a: before }, { a: after }, findShape('unknown')).map(
      ({ action, text }) => `${action} ${text}`,
    )

  it('is shown around what changes, and the rest is counted', () => {
    const [list, text] = [names.join(','), `script-src ${names.join(' ')}`]
    expect(texts(list, names.toSpliced(41, 0, 'webp').join(','))).toEqual([
      'set … 41 more, webp, … 19 more',
    ])
    expect(texts(list, names.toSpliced(0, 1).concat('zip').join(','))).toEqual([
      'unset name0, … 59 more',
      'set … 59 more, zip',
    ])
    expect(texts(text, text.replace('name30', 'other'))).toEqual([
      'unset … 175 characters … name25 name26 name27 name28 name29 name30 name31 name32 ' +
        'name33 name34 name35 … 167 characters …',
      'set … 175 characters … name25 name26 name27 name28 name29 other name31 name32 ' +
        'name33 name34 name35 … 167 characters …',
    ])
  })

  it('is whole where all of it is new, and has the order of a list', () => {
    expect(texts('a', names.join(','))).toEqual([`change a → ${names.join(',')}`])
    expect(texts(names.join(','), 'a')).toEqual([`unset ${names.join(', ')}`, 'set a'])
    const swapped = names.toSpliced(30, 2, 'name31', 'name30')
    for (const line of texts(names.join(','), swapped.join(','))) expect(line).toContain('name31')
  })

  itOften('is shown differently for each other change', () => {
    const list = fc.array(fc.constantFrom('a', 'b', '😀', 'long'.repeat(9), '…'), {
      minLength: 20,
      maxLength: 60,
    })
    const edit = fc.tuple(fc.nat(60), fc.nat(3), fc.constantFrom('a', 'c', '😁'))
    const join = fc.constantFrom(',', ' ', ', ', '')
    fc.assert(
      fc.property(list, edit, edit, join, (all, one, other, by) => {
        const apply = ([i, count, word]: typeof one) => all.toSpliced(i, count, word).join(by)
        fc.pre(apply(one) !== apply(other))
        const before = all.join(by)
        expect(texts(before, apply(one))).not.toEqual(texts(before, apply(other)))
      }),
      { numRuns: runs(100, 20_000), seed },
    )
  })
})

it.each(['constructor', 'toString', '__proto__'])('a new field %s is shown as set', (name) => {
  const after = JSON.parse(`{"a": 1, "${name}": "x"}`) as Json
  expect(listChangedLines({ a: 1 }, after, findShape('unknown'))).toEqual([
    { action: 'set', field: name, text: expect.stringContaining('x') as string },
  ])
})

describe('a plan', () => {
  const changes = fc
    .uniqueArray(
      fc.tuple(
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom('timeout', 'https', 'extend', 'a\u001b[31m\n`</details>'),
        fc.constantFrom<Change['action']>('set', 'change', 'unset', 'release'),
        fc.constantFrom<Change['reason']>('differs', 'in-doubt', 'cleared'),
        fc.integer({ min: 0, max: 12 }),
      ),
      { maxLength: 80, selector: ([domain, item]) => `${domain} ${item}` },
    )
    .map((all) =>
      all.map(([domain, item, action, reason, value]) => {
        const after = action === 'set' || action === 'change' ? { a: 'x'.repeat(value) } : null
        const before = action === 'set' ? null : { a: 'y', b: value % 3 }
        return buildChange({
          domain: `d${domain}.example.com`,
          item,
          action,
          reason,
          before,
          after,
        })
      }),
    )
  const sum = (blocks: Block[]) => blocks.reduce((count, block) => count + countChanges(block), 0)

  itOften('shows or counts every change, as text and as Markdown', () => {
    fc.assert(
      fc.property(changes, (all) => {
        const plan = buildPlan(all)
        const blocks = groupPlanChanges(all)
        const shown = blocks.flatMap(({ domains, parts }) =>
          parts.flatMap(({ item }) => domains.map((domain) => `${domain} ${item}`)),
        )
        expect(shown.toSorted()).toEqual(
          all.map((each) => `${each.domain} ${each.item}`).toSorted(),
        )
        const text = formatPlan(plan, { paint: plainPaint, columns: 20, verbose: false })
        const folded = /^… (\d+)\s+more\s+changes?/m.exec(text)?.[1] ?? '0'
        expect(Number(folded)).toBe(sum(blocks.slice(20)))
        const table = tabulateChanges(all)?.rows.flatMap(({ counts }) => counts) ?? [all.length]
        expect(table.reduce((count, each) => count + each, 0)).toBe(all.length)
        const markdown = formatPlanMarkdown(plan)
        const omitted = /^Omitted: (\d+) of (\d+) changes/m.exec(markdown)
        const sections = markdown.match(/^<details(?: open)?><summary>(?!Writes)/gm) ?? []
        expect(Number(omitted?.[1] ?? 0)).toBe(sum(blocks.slice(sections.length)))
        expect(Number(omitted?.[2] ?? all.length)).toBe(all.length)
        // eslint-disable-next-line no-control-regex
        expect(text + markdown).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
        expect(markdown.match(/<\/details>$/gm)?.length ?? 0).toBeGreaterThanOrEqual(
          sections.length,
        )
      }),
      { numRuns: runs(15, 500), seed },
    )
  })
})
