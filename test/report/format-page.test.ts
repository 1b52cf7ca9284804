import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { formatPage, formatServed, navPlace } from '../../src/outlets/report/page/format-page.ts'
import { parsePage } from './page/parse-page.ts'
import { buildHostilePage } from '../browser/pages.ts'
import { buildPage } from '../page/build-page.ts'
import { buildHistory } from '../browser/histories.ts'
import { buildAbout } from './page/build-page.ts'
import { buildHistoryPage } from '../../src/outlets/report/page/build-history-page.ts'

/** Texts that would leave their place in HTML, or hide themselves. */
const hostile = [
  '<script>alert(1)</script>',
  '</style></title></textarea>-->',
  '<!--<script>',
  '"\' onload=alert(1) x="',
  'javascript:alert(1)&lt;',
  'a\u2028b\u2029c\u0000d\u202ee\u2066f\ud800g\u001b[31m',
]

describe('the page of a plan', () => {
  it('allows exactly its own script and style, and no network', () => {
    const html = formatPage(buildPage())
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? []
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(html) ?? []
    const hash = (text: string) => createHash('sha256').update(text).digest('base64')
    expect([style.length > 1000, script.length > 1000]).toEqual([true, true])
    const [, policy] = /http-equiv="Content-Security-Policy" content="(.*?)">/.exec(html) ?? []
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${hash(style)}'; ` +
        `script-src 'sha256-${hash(script)}'; base-uri 'none'; form-action 'none'`,
    )
    expect(html).not.toMatch(/\b(?:src|on\w+|style)=|url\(|@import|href="(?!#)|innerHTML|\beval\b/)
  })

  it('has the sentence, the facts, the warnings and what will not happen without scripts', () => {
    const html = formatPage(
      buildPage({
        warnings: Array.from({ length: 20 }, (_, i) => `warning ${i}.`),
        notices: [{ kind: 'on-hold', text: 'Waits.', domains: manyNames(400) }],
      }),
    )
    expect(html).toContain('<h1 data-sentence>5 changes of 3 domains in 2 writes.</h1>')
    expect(html).toContain('<dt>Workspace</dt><dd>storefront</dd>')
    expect(html.match(/<li>warning \d+\.<\/li>/g)).toHaveLength(20)
    expect(html).toContain('On hold:</span> Waits.')
    expect(html.match(/<span>d\d+\.example<\/span>/g)).toHaveLength(300)
    expect(html).toContain(' and 100 more</div>')
    expect(html).toContain('runs no scripts')
    expect(html).toContain('+ time  60</pre>')
    expect(html).toContain('shop.example.com</span></div></article>')
  })

  it('lists as many changes for a browser without scripts as fit, and counts the others', () => {
    const { action, ...others } = buildPage().parts[0]!
    const lines = [{ action, indent: 1, text: 'x'.repeat(200), isRemark: false }]
    const parts = Array.from({ length: 300 }, () => ({ ...others, action, lines }))
    const changes = parts.map((_, part) => ({ ...buildPage().changes[0]!, part }))
    const count = (html: string) => [
      html.match(/<article class="card"/g)?.length,
      /… and \d+ \w+\.(?=<\/p>)/.exec(html)?.[0],
    ]
    expect(count(formatPage(buildPage({ parts, changes })))).toEqual([100, '… and 200 others.'])
    for (const part of parts) part.lines = Array.from({ length: 55 }, () => lines[0]!)
    const few = changes.slice(0, 20)
    const html = formatPage(buildPage({ parts: parts.slice(0, 20), changes: few }))
    expect(count(html)).toEqual([6, '… and 14 others.'])
    expect(html).toContain('… and 30 more lines</pre>')
  })

  it('has no section for warnings that do not exist', () => {
    expect(formatPage(buildPage())).not.toMatch(/data-warnings|data-unsent/)
  })

  it.each(hostile)('escapes %j in each text', (text) => {
    const line = { action: null, indent: 0, text, isRemark: false }
    const [first, ...parts] = buildPage().parts
    const page = buildPage({
      title: text,
      sentence: text,
      facts: [[text, text]],
      domains: [text, 'b', 'c'],
      items: [text, 'b'],
      parts: [{ ...first!, note: text, lines: [line] }, ...parts],
      notices: [{ kind: 'unmanaged', text, domains: [text] }],
      warnings: [text],
    })
    page.changes[0] = { domain: 0, part: 0, writes: [0], place: text, state: text }
    const html = formatPage(page)
    const listTags = (source: string) =>
      source.replaceAll(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '').match(/<[!/a-z-][^>]*/gi)
    const plain = formatPage(
      buildPage({
        parts: [{ ...first!, note: 'x' }, ...parts],
        notices: [{ kind: 'unmanaged', text: 'x', domains: ['x'] }],
        warnings: ['x'],
      }),
    )
    expect(listTags(html)).toEqual(listTags(plain))
    expect(listTags(html)?.length).toBeGreaterThan(20)
    expect(html.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    expect(html).not.toMatch(/\p{Cs}/u)
    const data = parsePage(html)
    const shown = data.domains[0]
    expect(shown).toBe(text.includes('\u0000') ? shownControls : text)
    expect([data.items[0], data.parts[0]?.note, data.parts[0]?.lines[0]?.text]).toEqual(
      Array(3).fill(shown),
    )
    expect([data.changes[0]?.place, data.changes[0]?.state]).toEqual([shown, shown])
  })

  it('keeps the changes, writes and waves as data', () => {
    expect(parsePage(formatPage(buildPage()))).toEqual(buildPage())
  })

  it('leaves out lines where all of them are too many', () => {
    const lines = Array.from({ length: 3000 }, (_, i) => ({
      action: null,
      indent: 0,
      text: `line ${i} ${'x'.repeat(1000)}`,
      isRemark: false,
    }))
    const parts = Array.from({ length: 100 }, () => ({ ...buildPage().parts[0]!, lines }))
    const html = formatPage(buildPage({ parts }))
    expect(html.length).toBeLessThan(5_000_000)
    const kept = parsePage(html).parts[99]?.lines ?? []
    expect(kept.at(0)?.text).toMatch(/^line 0 x+… \(cut, 1,007 characters\) …x+$/)
    const left = 3000 - (kept.length - 1)
    const count = left.toLocaleString('en-US')
    const text = `${count} lines are left out, since this file would be too large: -v prints them.`
    expect(kept.at(-1)).toEqual({ action: null, indent: 0, text, isRemark: true })
  })
})

const shownControls = String.raw`a\u{2028}b\u{2029}c\u{0}d\u{202e}e\u{2066}f\u{d800}g\u{1b}[31m`

describe('the page of a history without scripts', () => {
  const build = (nav: string | null) => {
    const { applies, ...history } = buildHistory(8, 1)
    const [last] = applies.slice(-1)
    const [domain = ''] = last?.changes?.keys() ?? []
    const message = `the origin of ${domain} is away`
    const refusals = [{ domains: [domain], items: ['timeout'], code: 1, message }]
    Object.assign(last?.apply ?? {}, { refusals })
    const id = last?.apply.id ?? ''
    const rollout = id.replace(/-w1$/, '')
    const act = { at: last?.apply.startedAt, kind: 'approval', outcome: 'approved', reason: null }
    const by = { name: 'ada', knownBy: 'oidc' }
    const acts = [rollout, 'other'].map((about) => ({ ...act, about, by, commit: null }) as never)
    return {
      id,
      rollout,
      domain,
      html: formatPage(buildHistoryPage({ applies, acts, ...history }, buildAbout()), nav),
    }
  }

  it('leads to its applies; that of a server to domains and rollouts, too', () => {
    const { id, rollout, domain, html } = build('')
    expect(rollout).not.toBe(id)
    const own = `<a id="apply=${id}" href="#apply=${id}">${id}</a>`
    expect(html).toContain(`<td>${own} <a href="/rollouts/${rollout}">rollout</a></td>`)
    const link = `<a href="/domains/${domain}">${domain}</a>`
    expect(html).toContain(`refused: timeout of ${link}: the origin of ${link} is away</td>`)
    expect(html).toContain(`<a href="/rollouts/${rollout}">approval ${rollout}: approved</a>`)
    // No apply of it is known.
    expect(html).toContain(' approval other: approved<')
  })

  it('leads nowhere else in a file', () => {
    const { id, html } = build(null)
    expect(html).toContain(`href="#apply=${id}"`)
    expect(html).not.toMatch(/<a [^>]*href="(?!#)/)
  })
})

function manyNames(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `d${i}.example`)
}

it('a server has the page of a file with its navigation bar, and sends the policy itself', () => {
  const page = buildHostilePage(['<main>', navPlace, '</body>\n</html>\n', "$& $' <main>"])
  const served = formatServed(formatPage(page, navPlace), '<nav>$&</nav>')
  expect(served).toBe(formatPage(page, '<nav>$&</nav>'))
  expect(served).toContain('<nav>$&</nav><main')
  expect(served).not.toContain('Content-Security-Policy')
  expect(served).toContain('<link rel="icon"')
  const names = formatPage(buildPage(), '')
  expect(names).toContain('<a href="/domains/shop.example.com">shop.example.com</a>')
})
