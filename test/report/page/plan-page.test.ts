import { describe, expect, it } from 'vitest'
import { groupBy } from '../../../src/core/model/lists.ts'
import { formatPage } from '../../../src/outlets/report/page/format-page.ts'
import { parsePage } from './parse-page.ts'
import { formatPlan } from '../../../src/outlets/report/plan/text.ts'
import { plainPaint } from '../../../src/outlets/report/text/paint.ts'
import { buildChange, buildPlan, buildWrite, replaceWith } from '../../plans.ts'
import { buildWave } from '../../page/build-page.ts'
import { buildFleetPlan } from '../plan-fleet.ts'
import { buildPage } from './build-page.ts'
import { itLong } from '../../runs.ts'

const held = { rollout: 'r1', since: null, reason: 'worse', changes: [] }
const change = (name: string, given: Parameters<typeof buildChange>[0] = {}) =>
  buildChange({ domain: `${name}.example.com`, ...given })

describe('the page of a plan', () => {
  it('of a single change has all of it', () => {
    const plan = buildPlan([buildChange({ action: 'change', before: { time: '30' } })], {
      summary: { totalSeconds: 90 },
      basis: { commit: 'abc' },
    })
    expect(buildPage(plan)).toEqual({
      format: 'edgewise.page/1',
      title: 'Edgewise plan: storefront',
      sentence: '1 to change on 1 domain · 1 write · about 2 min',
      facts: [['Workspace', 'storefront']],
      domains: ['a.example.com'],
      items: ['timeout'],
      parts: [
        {
          item: 0,
          action: 'change',
          note: '',
          isDestructive: false,
          lines: [{ action: 'change', indent: 0, text: 'time  30 → 60', isRemark: false }],
        },
      ],
      changes: [
        { domain: 0, part: 0, writes: [0], place: 'domains/a.example.com.yaml:3', state: null },
      ],
      writes: [{ id: 1, wave: 1, domains: [0], items: [{ item: 0, form: 'replace' }], seconds: 0 }],
      waves: [buildWave(1)],
      callsPerMinute: 30,
      notices: [],
      warnings: [],
    })
  })

  it('of an empty plan has the sentence only', () => {
    const page = buildPage(buildPlan([]))
    expect(page.sentence).toBe('No changes.')
    expect([page.domains, page.changes, page.parts, page.waves, page.notices]).toEqual(
      Array.from({ length: 5 }, () => []),
    )
  })

  it('has each distinct part once', () => {
    const { parts, changes } = buildPage(
      buildPlan([change('a'), change('b'), change('c', { after: { time: '61' } })]),
    )
    expect(parts.map(({ lines }) => lines[0]?.text)).toEqual(['time  60', 'time  61'])
    expect(changes.map(({ part }) => part)).toEqual([0, 0, 1])
  })

  it('shares a part between changes that differ in what it does not show', () => {
    const doubtful = (name: string, before: string) =>
      change(name, { action: 'change', reason: 'in-doubt', before: { time: before } })
    const { parts } = buildPage(buildPlan([doubtful('a', '1'), doubtful('b', '2')]))
    expect(parts.map(({ note }) => note)).toEqual(['in-doubt; written again'])
  })

  it('lists the writes of a change by their positions', () => {
    const writes = [3, 5].map((id) =>
      buildWrite({ id, domains: ['a.example.com', 'b.example.com'] }),
    )
    const page = buildPage(buildPlan([change('a'), change('b')], { writes }))
    expect(page.changes.map((each) => each.writes)).toEqual([
      [0, 1],
      [0, 1],
    ])
    expect(page.writes.map(({ id, domains }) => [id, domains])).toEqual([
      [3, [0, 1]],
      [5, [0, 1]],
    ])
  })

  it('has waves with their waits, approvals, and the total time of the summary', () => {
    const names = Array.from({ length: 70 }, (_, i) => `d${String(i).padStart(2, '0')}`)
    const writes = names.map((name, i) =>
      buildWrite({ id: i + 1, wave: i < 1 ? 1 : i < 5 ? 2 : 3, domains: [`${name}.example.com`] }),
    )
    const plan = buildPlan(
      names.map((name) => change(name)),
      { writes, approvals: [2], awaited: [3] },
    )
    const page = buildPage(plan, {}, { pause: 600, health: null })
    const needs = 'needs approval'
    expect(
      page.waves.map(({ wave, domains, times, approval }) => [wave, domains, times, approval]),
    ).toEqual([
      [1, 1, { writes: 1, from: 0, to: 0, waitSeconds: 600 }, null],
      [2, 4, { writes: 4, from: 600, to: 600, waitSeconds: 600 }, needs],
      [3, 65, { writes: 65, from: 1200, to: 1320, waitSeconds: 0 }, needs],
    ])
    expect(page.writes[0]?.seconds).toBe(0)
    expect(page.writes.at(-1)?.seconds).toBe(1320)
  })

  it('lists apart what is released, cleared, conditional, on hold or irreversible', () => {
    const cleared = { reason: 'cleared', by: 'origin', action: 'unset', after: null } as const
    const plan = buildPlan(
      [
        change('a', { action: 'release', after: null }),
        change('b', { action: 'release', after: null }),
        change('c', { ...cleared, item: 'origin_host' }),
        change('d', { action: 'change', reason: 'secret-unknown', before: { time: '60' } }),
      ],
      {
        summary: { held: 2 },
        onHold: [{ ...held, text: '2 changes on hold: reason', domains: ['h.example.com'] }],
        irreversible: [{ domain: 'd.example.com', item: 'timeout', reason: 'it was unset' }],
      },
    )
    const page = buildPage(plan)
    expect(page.notices).toEqual([
      { kind: 'on-hold', text: '2 changes on hold: reason', domains: ['h.example.com'] },
      {
        kind: 'released',
        text: 'timeout: no longer managed; the service keeps its value',
        domains: ['a.example.com', 'b.example.com'],
      },
      { kind: 'cleared', text: 'origin_host: emptied by origin', domains: ['c.example.com'] },
      {
        kind: 'conditional',
        text: '1 secret is compared at the apply',
        domains: ['d.example.com'],
      },
      {
        kind: 'no-way-back',
        text: "timeout can't be rolled back: it was unset",
        domains: ['d.example.com'],
      },
    ])
    expect(page.sentence).toBe(
      '1 to unset, 2 to release on 3 domains · no writes · 2 changes on hold · ' +
        '1 secret is compared at the apply',
    )
    expect(page.changes.map(({ writes }) => writes.length)).toEqual([0, 0, 0])
  })

  it('marks destructive changes, with the option that they need', () => {
    const [part] = buildPage(
      buildPlan([change('a', { item: 'https', after: { cert_id: 0 } })]),
    ).parts
    expect([part?.isDestructive, part?.note]).toEqual([
      true,
      expect.stringMatching(/^destructive: .*--allow https$/),
    ])
    expect(part?.lines.filter(({ isRemark }) => isRemark)).toEqual([])
  })

  it('has no secret, but the name or the end of its fingerprint, as the text has', () => {
    const secrets = (from: string, to: string) =>
      change('a', {
        item: 'visit_timestamp',
        action: 'change',
        before: { pattern: '.*', key: { $secret: from } },
        after: { pattern: '.*', key: { $secret: to } },
      })
    const plan = buildPlan([secrets('scrypt:86a50f41deadbeefcafe', 'new:signing')])
    const page = buildPage(plan, {
      warnings: ['a key'],
      redact: (text) => text.replaceAll('key', '(secret)'),
    })
    expect(page.parts[0]?.lines[0]?.text).toBe('key  (secret 86a50f41) → (secret signing, new)')
    expect(JSON.stringify(page)).not.toContain('deadbeef')
    expect(page.warnings).toEqual(['a (secret)'])
  })

  it('escapes what is invisible in all texts of others', () => {
    const evil = 'a\u202e\u001b[2J<script>'
    const plan = buildPlan([change('a', { domain: evil, item: evil, after: { [evil]: evil } })], {
      warnings: [evil],
      onHold: [{ ...held, text: evil, domains: [evil] }],
    })
    const page = buildPage(plan, { facts: [['Commit', evil]], findPlace: () => `${evil}:1` })
    expect(JSON.stringify(page)).not.toMatch(/\\u001b|\u202e/)
    expect(page.domains).toEqual(['a\\u{202e}\\u{1b}[2J<script>'])
    expect([page.items[0], page.warnings[0], page.notices[0]?.text, page.facts[0]?.[1]]).toEqual(
      Array.from({ length: 4 }, () => page.domains[0]),
    )
    expect(page.changes[0]?.place).toBe(`${page.domains[0]}:1`)
  })

  it('prints each warning once, those beside the plan first', () => {
    const plan = buildPlan([change('a')], { warnings: ['first', 'second'] })
    expect(buildPage(plan, { warnings: ['own', 'second'] }).warnings).toEqual([
      'own',
      'second',
      'first',
    ])
  })

  it('shows values whole, up to a limit for all together', () => {
    const long = 'x'.repeat(20_000)
    const one = buildPage(buildPlan([change('a', { after: { time: long } })]))
    expect(one.parts[0]?.lines.map(({ text }) => text)).toEqual([`time  ${long}`])
    const names = Array.from({ length: 100 }, (_, i) => `d${i}`)
    const plan = buildPlan(names.map((name) => change(name, { after: { time: `${name}${long}` } })))
    const { parts } = parsePage(formatPage(buildPage(plan)))
    expect(JSON.stringify(parts).length).toBeLessThan(1_500_000)
    expect(parts[0]?.lines.at(-1)?.text).toMatch(/^time {2}d0x+… \(cut, 20,008 characters\) …x+$/)
  })

  itLong('is below 1 MB for 5,000 changes of a fleet', () => {
    const page = buildPage(buildFleetPlan(2500))
    expect(page.changes.length).toBeGreaterThan(4900)
    expect(JSON.stringify(page).length).toBeLessThan(1_000_000)
  })

  it('has the changes, values and writes of the text', () => {
    const plan = buildFleetPlan(300)
    const page = buildPage(plan)
    const names = plan.changes.map(({ domain, item, action }) => `${domain} ${item} ${action}`)
    const shown = page.changes.map(({ domain, part }) => {
      const { item, action } = page.parts[part] ?? { item: -1, action: 'none' }
      return `${page.domains[domain]} ${page.items[item]} ${action}`
    })
    expect(shown.toSorted()).toEqual(names.toSorted())
    const text = formatPlan(plan, { paint: plainPaint, columns: 500, verbose: true })
    for (const { lines } of page.parts)
      for (const line of lines) expect(text).toContain(line.text.split('  ').at(-1))
    const written = page.writes.flatMap(({ domains, items }) =>
      domains.flatMap((domain) => items.map(({ item }) => `${domain} ${item}`)),
    )
    const counted = page.changes.filter(({ writes }) => writes.length > 0)
    expect(groupBy(written, (key) => key).size).toBe(counted.length)
  })

  it('has domains of one write as neighbours, and those of a wave before those of the next', () => {
    const items = { timeout: replaceWith({ time: '60' }) }
    const writes = ['ac', 'bd', 'ce'].map((names, i) =>
      buildWrite({
        id: i + 1,
        wave: i === 1 ? 1 : 2,
        domains: Array.from(names, (name) => `${name}.example.com`),
        items,
      }),
    )
    const ordered = [writes[1], writes[0], writes[2]].flatMap((write) => write ?? [])
    const page = buildPage(
      buildPlan(
        Array.from('abcde', (name) => change(name)),
        { writes: ordered },
      ),
    )
    expect(page.domains.map((domain) => domain[0]).join('')).toBe('bdace')
  })
})
