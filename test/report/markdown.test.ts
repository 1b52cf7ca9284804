// @module-tag often
import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { diffSnapshots } from '../../src/core/diff/diff-snapshots.ts'
import {
  createItemState,
  type ItemState,
  type ItemKey,
  type Snapshot,
} from '../../src/core/model/item.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { formatDriftMarkdown } from '../../src/outlets/report/drift/markdown.ts'
import { formatPlanMarkdown } from '../../src/outlets/report/plan/markdown.ts'
import { buildPlan } from '../plans.ts'
import { anyCharacter, fc, itOften, runs } from '../runs.ts'

type Items = Record<ItemKey, ItemState>
const maxLength = 65_536
const now = Date.parse('2026-03-01T00:00:00Z')
const at = '2026-02-01T00:00:00.000Z'
const time = (seconds: number) => createItemState({ time: String(seconds) })
const head = (name: string, value: string) =>
  createItemState([{ head_name: name, head_value: value, write_when_exists: 'yes' }])
const canonical = (item: ItemKey, state: ItemState): ItemState => ({
  ...state,
  candidates: state.candidates.map((value) => getItemSpec(item).canonicalize(value)),
})
const of = (domains: Record<string, Items>): Snapshot =>
  new Map(
    Object.entries(domains).map(([domain, items]) => [
      domain,
      new Map(Object.entries(items).map(([item, state]) => [item, canonical(item, state)])),
    ]),
  )
const many = (count: number, items: (i: number) => Items) =>
  of(
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `d${String(i).padStart(4, '0')}.example.com`,
        items(i),
      ]),
    ),
  )

/** Creates a plan with one write for each change; reports don't depend on the planner. */
function buildTestPlan(recorded: Snapshot, desired: Snapshot): Plan {
  const { changes, unchanged } = diffSnapshots(recorded, desired)
  return buildPlan(changes, { summary: { unchanged } })
}

function driftFor(recorded: Snapshot, desired: Snapshot, observed: Snapshot) {
  return detectDrift(
    new Map(
      [...recorded].map(([domain, items]) => [
        domain,
        new Map([...items].map(([item, state]) => [item, { ...state, at }])),
      ]),
    ),
    desired,
    new Map(
      [...observed].map(([domain, items]) => [
        domain,
        new Map([...items].map(([item, state]) => [item, { state, notVerifiable: [] }])),
      ]),
    ),
  )
}

const hostile = [
  '`',
  '```',
  '``` \n```',
  '~~~',
  '|',
  '\\|',
  '@team',
  '@org/team',
  '#123',
  'GH-1',
  '<!-- x',
  '-->',
  '</details>',
  '<img src=x onerror=alert(1)>',
  '[a](javascript:alert(1))',
  '![a](https://x.example/y)',
  'https://x.example',
  '\u202eevil\u202c',
  '\u2066x',
  '\ufeff',
  '\u0000',
  '\u001b[31m',
  '\r\n# h',
  '&lt;',
  '$$x$$',
  ':tada:',
  '</summary>',
  '`'.repeat(40),
  '    x',
  '- [ ] x',
]

/** Removes code fences from a Markdown text by the rules of CommonMark. */
function outsideFences(markdown: string): string {
  const left: string[] = []
  let fence: string | null = null
  for (const line of markdown.split('\n')) {
    const run = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (
      fence === null &&
      run !== undefined &&
      (run.startsWith('~') || !line.slice(line.indexOf(run) + run.length).includes('`'))
    )
      fence = run
    else if (
      fence !== null &&
      run !== undefined &&
      run[0] === fence[0] &&
      run.length >= fence.length &&
      line.trim() === run
    )
      fence = null
    else if (fence === null) left.push(line)
  }
  expect(fence).toBeNull()
  return left.join('\n')
}

/** A name as code, without characters that have an effect. */
const code = String.raw`<code>(?:[\w. -]|&#\d+;)+<\/code>`

/** The reports' own text: headings, summaries, tables, folded sections. */
const own = new RegExp(
  `^(${[
    /#{3,4} [A-Z][\w :,]*|No changes\.|Plan: [\w ,·()]+/,
    new RegExp(String.raw`\| item \|.*|\|---.*|\| (?:\`\w+\`|${code}) \|[ \d,|]*`),
    new RegExp(
      `<details(?: open)?><summary>(?:[+~○-] (?:\\w+|${code}) · )?(?:${code}|[\\d,]+ domains)` +
        `(?:, [\\d,]+ different values| · (?:[+~○\\w ,-]|${code})+)?` +
        '(?: · <b>destructive</b>)?<\\/summary>',
    ),
    /<details><summary>(Writes|In-doubt|Not verifiable)[\w: ]*<\/summary>|<\/details>/,
    /Omitted: [\w ,]+\. `edgewise \w+ -v` in a clone shows all\./,
    new RegExp(String.raw`Their fields: (?:(?:, )?(?:\`[\w. ]+\`|${code}))+(?: and \d+ more)?\.`),
    /Drift: [\w ,-]+\.|Of [\d,]+ items?: [\w ,()-]+\.|No differences were found\./,
    /None of these items was compared with the service: that takes --observed or --live\./,
    /(?:)/,
  ]
    .map(({ source }) => source)
    .join('|')})$`,
)

function expectHarmless(markdown: string): void {
  expect(markdown.length).toBeLessThan(maxLength)
  expect(
    outsideFences(markdown)
      .split('\n')
      .filter((line) => !own.test(line)),
  ).toEqual([])
  // No control characters and no direction marks.
  expect(markdown.replaceAll('\n', '')).not.toMatch(
    /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u,
  )
}

const small = buildTestPlan(
  of({
    'www.example.com': {
      timeout: time(60),
      referer: createItemState({ type: 1, list: ['a.example'], allow_empty: true }),
    },
  }),
  of({
    'www.example.com': {
      timeout: time(61),
      https: createItemState({ cert_id: 1, force_https: 0 }),
    },
  }),
)
const foldedPlan = buildTestPlan(
  many(40, () => ({ timeout: time(60) })),
  many(40, (i) => ({
    timeout: time(i === 7 ? 90 : 61),
    https: createItemState({ cert_id: 1, force_https: 301 }),
  })),
)
/** Origins of which no two domains have the same address. */
const origin = (name: string) =>
  createItemState({
    default_master: `${name}.example.com`,
    default_slave: `b.${name}.example`,
  })
const large = buildTestPlan(
  many(5000, (i) => ({ timeout: time(60), origin: origin(`old-${i}`) })),
  many(5000, (i) => ({ timeout: time(61 + (i % 3)), origin: origin(`new-${i}`) })),
)
const hostilePlan: Plan = {
  ...buildTestPlan(
    of({ 'www.example.com': { extend: createItemState({ squid: hostile.join('') }) } }),
    of({
      'www.example.com': {
        extend: createItemState({ squid: hostile.toReversed().join(' ') }),
        add_back_source_head: head('X-A', hostile.join('')),
      },
      'b.example.com': { extend: createItemState({ squid: hostile.join('\n') }) },
    }),
  ),
  warnings: hostile.map((text) => `freeze: ${text}`),
}

describe('a plan as Markdown', () => {
  it.each<[string, Plan]>([
    ['small', small],
    ['folded', foldedPlan],
    ['5000-domains', large],
    ['hostile', hostilePlan],
    ['no-changes', buildTestPlan(of({}), of({}))],
  ])('%s', async (name, plan) => {
    const markdown = formatPlanMarkdown(plan)
    await expect(markdown).toMatchFileSnapshot(`golden/plan-${name}.md`)
    expectHarmless(markdown)
  })

  it('begins with the summary, and folds equal changes of many domains', () => {
    const markdown = formatPlanMarkdown(foldedPlan)
    expect(markdown.split('\n')[2]).toBe(
      'Plan: 40 to set, 40 to change on 40 domains · 80 writes (at least 1) · a few seconds',
    )
    expect(markdown.match(/<details/g)).toHaveLength(4)
  })

  it('counts the changes that it omits', () => {
    const markdown = formatPlanMarkdown(large)
    expect(markdown.match(/<summary>~ origin · <code>d/g)).toHaveLength(59)
    expect(markdown).toContain('<summary>~ timeout · 5,000 domains, 3 different values</summary>')
    expect(markdown).toContain(
      '\nOmitted: 4,941 of 10,000 changes, on 4,941 domains. `edgewise plan',
    )
    expect(markdown).toContain('| `timeout` | 5,000 |')
  })

  it('limits the length of many long warnings', () => {
    const markdown = formatPlanMarkdown({
      ...foldedPlan,
      warnings: Array.from({ length: 30 }, () => 'x'.repeat(20_000)),
    })
    expectHarmless(markdown)
    expect(markdown).toContain('… and 18 more')
    expect(markdown).not.toContain('Omitted')
  })

  it('omits only the parts that do not fit', () => {
    const big = (name: string) =>
      createItemState(
        Array.from({ length: 120 }, (_, i) => ({
          head_name: `X-${i}`,
          head_value: `${name}${'`'.repeat(900)}`,
          write_when_exists: 'yes',
        })),
      )
    const names = Array.from({ length: 16 }, (_, i) => String.fromCharCode(97 + i))
    const changed = names.map((name): [string, Items] => [
      `${name}.example.com`,
      { add_back_source_head: big(name) },
    ])
    const markdown = formatPlanMarkdown(
      buildTestPlan(
        of({}),
        of({ ...Object.fromEntries(changed), 'z.example.com': { timeout: time(1) } }),
      ),
    )
    expectHarmless(markdown)
    expect(markdown).toContain('<code>z.example.com</code>')
    expect(markdown).toMatch(/^Their fields: .*`add_back_source_head head_value`/m)
    expect(markdown).toContain('Omitted: 8 of 17 changes, on 8 domains.')
  })

  it('is harmless if state has items with any names', () => {
    const items = new Map(hostile.map((name) => [name, createItemState({ [name]: name })]))
    const recorded: Snapshot = new Map([['www.example.com', items]])
    expectHarmless(formatPlanMarkdown(buildTestPlan(recorded, new Map())))
    expectHarmless(formatDriftMarkdown(driftFor(recorded, new Map(), new Map()), now))
  })

  itOften('is harmless and within the length limit for arbitrary values', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: anyCharacter })), {
        maxLength: 6,
      })
      .map((parts) => parts.join(''))
    const items = fc.record({ extend: text, header: text })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(items, items), { minLength: 1, maxLength: 5 }),
        fc.array(text, { maxLength: 20 }),
        (all, warnings) => {
          const side = (which: 0 | 1) =>
            many(all.length, (i) => ({
              extend: createItemState({ squid: all[i]?.[which].extend ?? '' }),
              add_back_source_head: head('X', all[i]?.[which].header ?? ''),
            }))
          expectHarmless(formatPlanMarkdown({ ...buildTestPlan(side(0), side(1)), warnings }))
          expectHarmless(formatDriftMarkdown(driftFor(side(0), side(1), side(1)), now))
        },
      ),
      { numRuns: runs(6, 180) },
    )
  })
})

describe('drift as Markdown', () => {
  const recorded = many(30, () => ({ timeout: time(60) }))
  it.each<[string, Parameters<typeof driftFor>]>([
    [
      'small',
      [
        recorded,
        many(30, (i) => ({ timeout: time(i < 3 ? 61 : 60) })),
        many(10, (i) => ({ timeout: time(i === 5 ? 99 : 60) })),
      ],
    ],
    ['none', [recorded, recorded, of({})]],
    [
      'hostile',
      [
        of({
          'a.example.com': {
            extend: createItemState({ squid: hostile.join('') }),
            timeout: { status: 'in-doubt', candidates: [{ time: '1' }] },
          },
        }),
        of({ 'a.example.com': { extend: createItemState({ squid: 'x' }), timeout: time(1) } }),
        of({
          'a.example.com': {
            extend: createItemState({ squid: hostile.toReversed().join('') }),
          },
        }),
      ],
    ],
  ])('%s', async (name, args) => {
    const markdown = formatDriftMarkdown(driftFor(...args), now)
    await expect(markdown).toMatchFileSnapshot(`golden/drift-${name}.md`)
    expectHarmless(markdown)
  })

  itOften('stays within the length limit for thousands of domains', () => {
    const domains = runs(1_500, 5_000)
    const side = (value: string) => many(domains, (i) => ({ origin: origin(`${value}-${i}`) }))
    const markdown = formatDriftMarkdown(driftFor(side('a'), side('b'), side('c')), now)
    expectHarmless(markdown)
    const all = domains.toLocaleString('en-US')
    expect(markdown.match(new RegExp(`Omitted: [\\d,]+ of ${all} changes`, 'g'))).toHaveLength(2)
  })
})
