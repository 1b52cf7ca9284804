import picocolors from 'picocolors'
import { describe, expect, it } from 'vitest'
import type { Change } from '../../src/core/model/change.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { Plan } from '../../src/core/model/plan.ts'
import { formatApplyMarkdown } from '../../src/outlets/report/apply/markdown.ts'
import { groupChanges } from '../../src/outlets/report/plan/blocks.ts'
import { formatPlanMarkdown } from '../../src/outlets/report/plan/markdown.ts'
import { formatPlanSummary } from '../../src/outlets/report/plan/summary.ts'
import { formatPlan } from '../../src/outlets/report/plan/text.ts'
import { measureWidth } from '../../src/outlets/report/text/display-width.ts'
import { plainPaint, type Paint } from '../../src/outlets/report/text/paint.ts'
import { buildChange, buildPlan, buildWrite } from '../plans.ts'
import { fc, itLong } from '../runs.ts'
import { buildFleetPlan } from './plan-fleet.ts'

const { bold, dim, red, green, yellow, cyan } = picocolors.createColors(true)
const colours: Paint = { bold, dim, red, green, yellow, cyan }
const format = (plan: Plan, columns = 80, verbose = false) =>
  formatPlan(plan, { paint: plainPaint, columns, verbose, repeatsSummary: true })
const change = (item: string, before: Json, after: Json, given: Partial<Change> = {}) =>
  buildChange({ item, action: 'change', before, after, ...given })
/** Formats one change, without the summary and the writes. */
const formatOne = (item: string, before: Json, after: Json, given: Partial<Change> = {}) =>
  format(buildPlan([change(item, before, after, given)]))
    .split('\n\n')[1]
    ?.split('\n')

describe('a plan as text', () => {
  const plans = new Map([1, 30, 500, 5000].map((count) => [count, buildFleetPlan(count)]))

  // `npx vitest run -u` writes the files again: read them before you commit.
  it.each(
    [...plans].flatMap(([count, plan]) =>
      [80, 120].flatMap((columns) => [
        { count, columns, paint: plainPaint, name: `plan-fleet-${count}-${columns}.txt`, plan },
        { count, columns, paint: colours, name: `plan-fleet-${count}-${columns}-colour.txt`, plan },
      ]),
    ),
  )('$name', async ({ plan, columns, paint, name }) => {
    const text = formatPlan(plan, { paint, columns, verbose: false, repeatsSummary: true })
    await expect(`${text}\n`).toMatchFileSnapshot(`golden/${name}`)
    expect(text.split('\n').length).toBeLessThan(130)
    const tooLong = text.split('\n').filter((line) => measureWidth(line) > columns)
    expect(tooLong).toEqual([])
  })

  it('has the same text with and without colours', () => {
    const plan = plans.get(30) ?? buildPlan()
    const style = { paint: colours, columns: 80, verbose: false, repeatsSummary: true }
    const coloured = formatPlan(plan, style)
    // eslint-disable-next-line no-control-regex
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(format(plan))
  })

  it('lists every domain, change and write if verbose', () => {
    const plan = plans.get(500) ?? buildPlan()
    const text = format(plan, 80, true)
    expect(text).not.toContain('…')
    for (const domain of new Set(plan.changes.map((each) => each.domain)))
      expect(text).toMatch(new RegExp(String.raw`(^|\W)${domain}(\W|$)`, 'm'))
    expect(text.match(/^ +\d+ {2}.*: \w+$/gm)).toHaveLength(plan.writes.length)
  })

  it('repeats the summary at the end of a long plan only', () => {
    const count = (plan: Plan) => format(plan).match(/^Plan: /gm)?.length
    expect([count(buildPlan()), count(plans.get(30) ?? buildPlan())]).toEqual([1, 2])
  })

  it('folds blocks beyond the largest, and names what it folds', () => {
    const changes = Array.from({ length: 50 }, (_, i) =>
      change(
        'extend',
        { squid: `a ${i}` },
        { squid: 'x'.repeat(i), apache: String(i) },
        {
          domain: `d${i}.example.com`,
        },
      ),
    )
    const text = format(buildPlan(changes))
    expect(text).toContain('… 30 more changes on 30 domains: ~ extend 30 (-v shows all)')
    expect(text.match(/^~ extend/gm)).toHaveLength(20)
  })
})

describe('blocks of changes', () => {
  const at = (domain: string, squid: Json, given: Partial<Change> = {}) =>
    change('origin', squid, { origin_mode: 'https', default_master: '1' }, { domain, ...given })

  it('have the changes that are shown alike, even if hidden fields differ', () => {
    const edit = (domain: string, master: string) =>
      change(
        'origin',
        { default_master: master, origin_mode: 'http' },
        { default_master: master, origin_mode: 'https' },
        { domain },
      )
    const changes = Array.from({ length: 39 }, (_, i) => edit(`d${i}.example.com`, `192.0.2.${i}`))
    expect(groupChanges(changes).map(({ domains }) => domains.length)).toEqual([39])
    expect(format(buildPlan(changes))).toContain(
      '~ origin   39 domains\n  ~ origin_mode  http → https\n    d0.example.com, d1',
    )
  })

  it('are not joined if only the truncated text is the same', () => {
    const long = 'word '.repeat(2000)
    const edit = (domain: string, end: string) =>
      change('extend', { squid: 'a', apache: '1' }, { squid: long + end, apache: end }, { domain })
    expect(groupChanges([edit('a.example', 'x'), edit('b.example', 'y')])).toHaveLength(2)
  })

  it('have one line for each value if many domains differ in one field', () => {
    const changes = Array.from({ length: 12 }, (_, i) =>
      change('timeout', { time: '1' }, { time: String(60 + i) }, { domain: `d${i}.example.com` }),
    )
    const [, block = ''] = format(buildPlan(changes)).split('\n\n')
    expect(block.split('\n').slice(0, 3)).toEqual([
      '~ timeout   12 domains, 12 different values',
      '  ~ time  1 → 60  d0.example.com',
      '  ~ time  1 → 61  d1.example.com',
    ])
    expect(block).toContain('… 4 more values on 4 domains (-v shows all)')
  })

  it('have all changes of a single domain', () => {
    const plan = buildPlan([
      at('a.example', { origin_mode: 'http' }),
      buildChange({ domain: 'a.example' }),
    ])
    expect(format(plan).split('\n\n')[1]?.split('\n')).toEqual([
      'a.example',
      '  ~ origin',
      '    + default_master  1',
      '    ~ origin_mode     http → https',
      '  + timeout',
      '    + time  60',
    ])
  })

  it('have every change once', () => {
    const domains = Array.from({ length: 8 }, (_, i) => `d${i}.example`)
    const value = fc.record({
      origin_mode: fc.constantFrom('http', 'https'),
      default_master: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
    })
    const items = fc.dictionary(
      fc.constantFrom('origin', 'timeout', 'https'),
      fc.tuple(value, value, fc.constantFrom('differs', 'in-doubt')),
    )
    fc.assert(
      fc.property(fc.array(items, { minLength: 1, maxLength: 8 }), (all) => {
        const changes = all.flatMap((each, i) =>
          Object.entries(each).map(([item, [before, after, reason]]) =>
            change(item, before, after, { domain: domains[i] ?? '', reason }),
          ),
        )
        const names = (list: { domain: string; item: string }[]) =>
          list.map(({ domain, item }) => `${domain} ${item}`).toSorted()
        const blocks = groupChanges(changes)
        const shown = blocks.flatMap((block) =>
          block.parts.flatMap(({ item, lines }) => {
            const own = lines.flatMap((line) => line.domains ?? [])
            expect([[], block.domains]).toContainEqual(own.toSorted())
            return block.domains.map((domain) => ({ domain, item }))
          }),
        )
        expect(names(shown)).toEqual(names(changes))
      }),
      { numRuns: 60 },
    )
  })

  itLong('keep the command that lists their domains on one line', () => {
    const plan = buildFleetPlan(500)
    for (let columns = 50; columns < 110; columns += 3) {
      const text = formatPlan(plan, {
        paint: plainPaint,
        columns,
        verbose: false,
        whole: 'edgewise plan -v',
      })
      expect(text).toContain('(edgewise plan -v lists them)')
      expect([columns, text]).toEqual([columns, expect.not.stringMatching(/\((?:\w| |-)*\n/)])
    }
  })

  it('have their number of domains even if the names are long', () => {
    const long = (i: number) => `${'x'.repeat(60)}${i}.example.com`
    const changes = Array.from({ length: 9 }, (_, i) => buildChange({ domain: long(i) }))
    expect(format(buildPlan(changes)).replaceAll(/\s+/g, ' ')).toContain(
      `${long(0)} … and 8 more (-v lists them)`,
    )
    const values = changes.slice(0, 3).map((each, i) => ({ ...each, after: { time: String(i) } }))
    const text = format(buildPlan(values)).replaceAll(/\s+/g, '')
    for (const { domain } of values) expect(text).toContain(domain)
  })

  it('differ by action and reason', () => {
    const before = { origin_mode: 'http' }
    const blocks = groupChanges([
      at('a.example', before),
      at('b.example', before, { reason: 'secret-unknown' }),
      at('c.example', before, { action: 'release', after: null }),
    ])
    expect(blocks).toHaveLength(3)
  })
})

describe('destructive changes', () => {
  const remove = (domain: string) => change('https', { cert_id: 1 }, { cert_id: 0 }, { domain })
  const plan = buildPlan([
    remove('z.example'),
    ...['a', 'b', 'c'].map((name) => buildChange({ domain: `${name}.example` })),
  ])

  it('come first, with their reason and option', () => {
    expect(format(plan).split('\n\n')[1]?.split('\n')).toEqual([
      '~ https   z.example',
      '    destructive: certificate 0 removes HTTPS; needs --allow https',
      '  ~ cert_id  1 → 0',
    ])
  })

  it('come first in a comment, too', () => {
    const markdown = formatPlanMarkdown(plan)
    expect(markdown.indexOf('certificate 0 removes HTTPS')).toBeLessThan(
      markdown.indexOf('timeout ·'),
    )
  })

  it('are only values where the service is compared with state', () => {
    expect(groupChanges([remove('z.example')])[0]?.parts[0]).toMatchObject({
      note: '',
      isDestructive: false,
    })
  })
})

describe('the lines of a change', () => {
  const rule = (pattern: string, expire: number, given: Record<string, Json> = {}) => ({
    expire,
    pattern,
    match_method: 'dir',
    ...given,
  })

  it('show the field of a list entry, which its identity finds', () => {
    expect(
      formatOne(
        'cache_rule_list',
        [rule('/a/', 0), rule('/products/', 5)],
        [rule('/products/', 30), rule('/a/', 0)],
      ),
    ).toEqual([
      '~ cache_rule_list   a.example.com',
      '  ~ dir /products/: expire 5 → 30',
      '  ~ new order: dir /products/, dir /a/',
    ])
  })

  it('show removed and added entries', () => {
    expect(
      formatOne(
        'add_response_head',
        { list: [{ name: 'X-A', value: '1' }], type: 'reset' },
        { list: [{ value: '2', name: 'X-B' }], type: 'reset' },
      )?.slice(1),
    ).toEqual(['  - list  X-A: value 1', '  + list  X-B: value 2'])
  })

  it('match entries of another identity if most of their fields are the same', () => {
    const given = { priority: 3, case_ignore: 'yes', expire_unit: 's' }
    expect(
      formatOne('cache_rule_list', [rule('/a/', 9, given)], [rule('/b/', 9, given)])?.slice(1),
    ).toEqual(['  ~ dir /a/: pattern /a/ → /b/'])
  })

  it('match entries without an identity by their fields', () => {
    const ban = (list: string[], action: string) => ({
      action,
      configs: { url: { list, is_match: 'yes' } },
    })
    const [first, second] = [ban(['/a'], 'ban'), { action: 'x', configs: { ua: { list: ['b'] } } }]
    expect(
      formatOne('combined_ban', [second, first], [second, ban(['/a', '/c'], 'ban')])?.slice(1),
    ).toEqual(['  ~ entry 2: + configs.url.list /c'])
    expect(formatOne('combined_ban', [second, first], [first, second])?.slice(1)).toEqual([
      '  ~ new order of the 2 entries: 2, 1',
    ])
  })

  it('show the entries of a list of words together', () => {
    expect(
      formatOne('deny_url', { urls: ['/a', '/b', '/c'] }, { urls: ['/c', '/d', '/e'] })?.slice(1),
    ).toEqual(['  - urls  /a, /b', '  + urls  /d, /e'])
    expect(formatOne('deny_url', { urls: ['/a', '/b'] }, { urls: ['/b', '/a'] })?.slice(1)).toEqual(
      ['  ~ urls  new order: /b, /a'],
    )
  })

  it('have the order of the schema', () => {
    const fields = (lines: string[] | undefined) =>
      lines?.slice(1).map((line) => line.split(/ +/)[2])
    const [one, two] = [
      { force_https: 301, cert_id: 1, http2: 'on' },
      { http2: 'off', force_https: 0, cert_id: 2 },
    ]
    expect(fields(formatOne('https', one, two))).toEqual(['cert_id', 'http2', 'force_https'])
    expect(fields(formatOne('https', null, two, { action: 'set' }))).toEqual([
      'cert_id',
      'http2',
      'force_https',
    ])
  })

  it('are indented under their text when they wrap', () => {
    const lines = formatOne('origin_host', { host: 'a' }, { host: 'word '.repeat(40).trim() })
    expect(lines?.slice(1, 3)).toEqual([
      `  ~ host  a →${' word'.repeat(13)}`,
      `         ${' word'.repeat(14)}`,
    ])
  })

  it('show the changed lines of a text', () => {
    const squid = (...lines: string[]) => ({ squid: lines.join('\r\n') })
    expect(
      formatOne('extend', squid('acl a', 'acl b', 'deny a'), squid('acl a', 'acl c', 'deny a')),
    ).toEqual(expect.arrayContaining(['  - squid  acl b', '  + squid  acl c']))
  })

  it('show long values one below the other, so that both are seen if they are cut', () => {
    const lines = formatOne('origin_host', { host: 'a'.repeat(2000) }, { host: 'b'.repeat(2000) })
    expect(lines?.[1]).toBe(`  - host  ${'a'.repeat(70)}`)
    expect(lines).toContain(`  + host  ${'b'.repeat(70)}`)
    expect(lines?.filter((line) => line.includes('… (-v shows all)'))).toHaveLength(2)
  })

  it('measure wide characters', () => {
    const lines = formatOne('origin_host', { host: 'a' }, { host: '語'.repeat(60) })
    expect(lines?.map(measureWidth).every((width) => width <= 80)).toBe(true)
  })
})

describe('the summary of a plan', () => {
  const summarize = (given: Parameters<typeof buildPlan>[1]) =>
    formatPlanSummary(buildPlan(undefined, given), plainPaint).split(' · ')[2]
  const waves = (count: number) =>
    Array.from({ length: count }, (_, i) => buildWrite({ id: i + 1, wave: i + 1 }))

  it.each([
    [0, 'a few seconds'],
    [43, 'about 43 s'],
    [60, 'about 1 min'],
    [89, 'about 1 min'],
    [3540, 'about 59 min'],
    [3600, 'about 1 h'],
    [4080, 'about 1 h 10 min'],
    [7130, 'about 2 h'],
  ])('has the time: %i s', (totalSeconds, text) => {
    expect(summarize({ summary: { totalSeconds } })).toBe(text)
  })

  it('has the waves and their approvals', () => {
    const summary = { totalSeconds: 3600 }
    expect(summarize({ writes: waves(4), summary })).toBe('about 1 h in 4 waves')
    expect(summarize({ writes: waves(4), summary, approvals: [3] })).toBe(
      'about 1 h in 4 waves, plus the wait for approval of wave 3',
    )
    expect(summarize({ writes: waves(4), summary, approvals: [1, 2, 4] })).toBe(
      'about 1 h in 4 waves, plus the wait for approval of waves 1, 2 and 4',
    )
    expect(summarize({ writes: waves(1), approvals: [1] })).toBe(
      'a few seconds, plus the wait for approval',
    )
  })

  it('has no time if there is nothing to write', () => {
    const release = buildChange({ action: 'release', before: {}, after: null })
    expect(formatPlanSummary(buildPlan([release]), plainPaint)).toBe(
      'Plan: 1 to release on 1 domain · no writes',
    )
  })
})

describe('a plan as Markdown', () => {
  it.each([30, 500])('plan-fleet-%i.md', async (count) => {
    const markdown = formatPlanMarkdown(buildFleetPlan(count))
    await expect(markdown).toMatchFileSnapshot(`golden/plan-fleet-${count}.md`)
    expect(markdown.split('\n').length).toBeLessThan(300)
  })

  it('marks each line with its action, and has no title twice', () => {
    const markdown = formatPlanMarkdown(
      buildPlan([change('https', { cert_id: 1, http2: 'on' }, { cert_id: 2, ocsp: 'on' })]),
    )
    expect(markdown).toContain(
      '<details open><summary>~ https · <code>a.example.com</code></summary>\n\n```diff\n' +
        '! cert_id  1 → 2\n- http2    on\n+ ocsp     on\n```\n',
    )
  })
})

describe('the domains of the first wave', () => {
  const names = Array.from({ length: 12 }, (_, i) => `canary-${String(i).padStart(2, '0')}.example`)
  const domains = [...names, 'later.example']
  const changes = domains.map((domain) => buildChange({ domain }))
  const plan = buildPlan(changes)
  const waves = {
    ...plan,
    writes: plan.writes.map((write) => ({
      ...write,
      wave: write.domains.includes('later.example') ? 2 : 1,
    })),
  }
  const line = (text: string) =>
    text.split('\n').findIndex((each) => each.startsWith('  Wave 1: 12 domains')) + 1

  it('are all listed if verbose, and only then', () => {
    const lines = format(waves, 80, true).split('\n')
    const start = line(lines.join('\n'))
    expect(lines.slice(start, start + 4).join(' ')).toMatch(
      new RegExp(`^ {4}${names.join(',\\s+')}`.replaceAll('.example', String.raw`\.example`)),
    )
    expect(format(waves)).not.toContain('canary-11')
    expect(format({ ...waves, writes: plan.writes }, 80, true)).not.toContain('Wave')
  })

  it('are named in a comment of a plan and of an apply, up to ten', () => {
    const apply = { plan: waves, events: [], status: 'done' as const, problem: null }
    for (const text of [formatPlanMarkdown(waves), formatApplyMarkdown(apply)]) {
      const lines = text.split('\n')
      expect(lines[line(text)]).toBe(`    ${names.slice(0, 10).join(', ')} and 2 more`)
    }
  })
})
