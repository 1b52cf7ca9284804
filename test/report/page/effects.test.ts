import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { compareRequest } from '../../../src/core/effects/compare.ts'
import type { Effects } from '../../../src/core/effects/group.ts'
import { compileSides } from '../../../src/core/effects/sides.ts'
import { buildSettings } from '../../../src/core/trace/settings.ts'
import { createSidesFinder, packSides } from '../../../src/outlets/report/effects/pack-sides.ts'
import { buildAnswer, buildEffects } from '../../../src/outlets/report/page/build-effects.ts'
import { formatPage, navPlace } from '../../../src/outlets/report/page/format-page.ts'
import { parsePage } from './parse-page.ts'
import { serverPolicy } from '../../../src/outlets/report/page/format-shell.ts'
import {
  effectsScript,
  effectsStyle,
} from '../../../src/outlets/report/page/generated/effects-assets.ts'
import { buildPlan } from '../../plans.ts'
import { buildPage } from './build-page.ts'
import { buildChangedSides, buildEffectsPage, toCandidates } from './effects-page.ts'

const at = 'https://www.example.com'
const page = buildEffectsPage([`${at}/`, `${at}/a.jpg`])
const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe('the panel of effects', () => {
  it('has counts, and groups with what changes, where, by what and for example', () => {
    const html = formatPage(page)
    const panel = /<section class="panel" data-effects.*?<\/section>/s.exec(html)?.[0] ?? ''
    expect(panel).toContain('<p>4 requests traced · 4 that visitors notice · 0 the same</p>')
    expect(panel).toContain('<h3>Visitors notice</h3>')
    expect(panel).toContain(
      '<dt>outcome</dt><dd><del>served</del> <span aria-hidden="true">→</span> ' +
        '<ins>denied</ins></dd>',
    )
    expect(panel).toContain('<p>4 requests of www.example.com</p>')
    expect(panel).toContain('<a href="#item=referer">referer</a>')
    expect(panel).toContain(`<code>${at}/a.jpg</code>`)
    expect(panel).toMatch(/<summary>\d+ more answers<\/summary>/)
  })

  it('folds groups beyond eight, and counts those that are left out', () => {
    const [group] = page.effects?.groups ?? []
    const effects = { ...page.effects!, groups: Array.from({ length: 12 }, () => group!), left: 7 }
    const html = formatPage({ ...page, effects })
    expect(html).toContain('<summary>5 more groups</summary>')
    expect(html).toContain('<li>and 7 more groups</li>')
    const many = { total: 0, skipped: 0, same: 0, byDomain: new Map() }
    const groups: Effects['groups'] = Array.from({ length: 103 }, (_, after) => ({
      class: 'content',
      verdict: 'differs',
      count: 1,
      domains: ['a.example'],
      items: [],
      examples: [],
      deltas: [
        {
          field: 'cache.seconds',
          class: 'content',
          verdict: 'differs',
          before: { value: 300 },
          after: { value: after },
          rules: [],
        },
      ],
    }))
    const built = buildEffects({ effects: { ...many, groups }, witnesses: null })
    expect([built.groups.length, built.left]).toEqual([100, 3])
  })

  it('folds the groups of which nothing is known on either side', () => {
    const [group] = page.effects!.groups
    const answers = [
      {
        field: 'cache.stored',
        before: 'unknown (not given: at)',
        after: 'unknown (not given: at)',
      },
    ]
    const effects = { ...page.effects!, groups: [group!, { ...group!, count: 7, answers }] }
    const html = formatPage({ ...page, effects })
    expect(html).toContain('<details><summary>7 requests unknown before and after</summary>')
    expect(html.match(/<h3>Visitors notice/g)).toHaveLength(1)
  })

  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    'a\u2028b\u202ec\u0000d',
  ])('escapes %j in each text', (text) => {
    const answer = { field: text, before: text, after: 'b' }
    const group = { ...page.effects!.groups[0]!, answers: [answer], others: [answer] }
    const hostile = { ...group, domains: [text, text], items: [text], examples: [text] }
    const groups = [hostile, { ...hostile, domains: [text] }]
    const html = formatPage({
      ...page,
      items: [text],
      effects: {
        counts: text,
        hint: text,
        groups,
        left: 0,
        witnesses: [{ item: text, domains: [text, text], lines: [text, text] }],
      },
      sides: { ...page.sides!, domains: [[text, 0, 0]], candidates: [[text]], others: [text] },
    })
    const bare = html.replaceAll(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '')
    expect(bare).toContain('What each change does')
    expect(bare.replaceAll('\n', '')).not.toMatch(/<script>|<img|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(parsePage(html).sides?.candidates).toEqual([[text]])
  })

  it('is only in pages of plans that ask for it, and so are its script and style', () => {
    const html = formatPage(buildPage(buildPlan()))
    for (const text of [effectsScript, effectsStyle, hash(effectsScript), hash(effectsStyle)])
      expect(html).not.toContain(text)
    expect(html).not.toContain('data-effects')
    const whole = formatPage(page)
    const [, policy = ''] =
      /http-equiv="Content-Security-Policy" content="(.*?)">/.exec(whole) ?? []
    expect(policy).toMatch(/^default-src 'none'; .*; base-uri 'none'; form-action 'none'$/)
    expect(policy.match(/sha256-/g)).toHaveLength(4)
    for (const text of [effectsScript, effectsStyle]) {
      expect(policy).toContain(hash(text))
    }
    expect(effectsScript).not.toMatch(/innerHTML|\beval\(|new Function|\bfetch\(|XMLHttpRequest/)
  })

  it('is in the page of a server without its script, which the policy does not allow', () => {
    const html = formatPage(page, navPlace)
    expect(html).toContain('data-effects')
    expect(html).not.toContain(effectsScript)
    expect(parsePage(html)).not.toHaveProperty('sides')
    expect(serverPolicy).toContain(hash(effectsStyle))
    expect(serverPolicy).not.toContain(hash(effectsScript))
  })

  it('has no script where no request can be tried', () => {
    const { sides: _, ...drift } = page
    const html = formatPage(drift)
    expect(html).toContain('data-effects')
    expect(html).not.toContain(effectsScript)
    expect(html).not.toContain(hash(effectsScript))
  })
})

it('what is not served has no answer, though its status and location have one', () => {
  const outcome = { before: { value: 'served' }, after: { value: 'denied' } }
  const read = (field: string) => {
    const delta = { before: { value: 'a' }, after: { value: null } }
    return buildAnswer({ ...delta, field, class: 'visible', verdict: 'differs' }, outcome).after
  }
  expect(['cache.key', 'response.drag', 'response.location'].map(read)).toEqual([
    'not served',
    'not served',
    'none',
  ])
})

describe('packed sides', () => {
  it('are compared as the sides that were packed', () => {
    const sides = buildChangedSides()
    const { before, after } = sides.domains[0]!.read()
    const whole = compileSides('www.example.com', before, after, sides.settings)
    const packed = JSON.parse(JSON.stringify(packSides(sides))) as ReturnType<typeof packSides>
    const unpacked = createSidesFinder(packed)('www.example.com')
    const request = { url: `${at}/a.jpg`, headers: { referer: 'https://foe.example/' } }
    expect(compareRequest(unpacked!, request, 'usual').deltas).toEqual(
      compareRequest(whole, request, 'usual').deltas,
    )
  })

  it('have equal values once, and the first 200 domains', () => {
    const names = Array.from({ length: 205 }, (_, i) => `d${i}.example.com`)
    const packed = packSides(buildChangedSides(names))
    expect([packed.domains.length, packed.left]).toEqual([200, 5])
    expect([packed.candidates.length, packed.configurations.length]).toEqual([5, 2])
    expect(packed.domains[199]).toEqual(['d199.example.com', 0, 1])
  })

  it('have as many domains as fit', () => {
    const read = (i: number) => () => {
      const items = toCandidates({ deny_url: { urls: [`${i}`, 'x'.repeat(900_000)] } })
      return { before: items, after: items }
    }
    const domains = ['a', 'b', 'c', 'd', 'e'].map((domain, i) => ({ domain, read: read(i) }))
    const packed = packSides({ domains, known: [], settings: buildSettings() })
    expect([packed.domains.length, packed.left]).toEqual([3, 2])
  })

  it('know the domains whose hosts do not belong to a wider one', () => {
    const sides = buildChangedSides(['.example.com'])
    const known = ['.example.com', 'own.example.com', 'other.example.net']
    const packed = packSides({ ...sides, known })
    expect(packed.others).toEqual(['own.example.com'])
    const find = createSidesFinder(packed)
    expect(find('any.example.com')?.domain).toBe('.example.com')
    expect([find('own.example.com'), find('other.example.net')]).toEqual([null, null])
  })

  it('keep the answers of readings, and which items are unknown', () => {
    const settings = buildSettings({ R4: 'whole', R17: 451, unmanaged: ['referer'] }, 'Asia/Tokyo')
    const { answers, unmanaged, timezone } = packSides({ domains: [], known: [], settings })
    expect({ answers, unmanaged, timezone }).toEqual({
      answers: settings.answers,
      unmanaged: ['referer'],
      timezone: 'Asia/Tokyo',
    })
  })
})
