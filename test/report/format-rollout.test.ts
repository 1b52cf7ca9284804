import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { chartScript, chartStyle, script, style } from '../../src/generated/page-assets.ts'
import type { PageRollout, PageWaveHealth } from '../../src/model/page-rollout.ts'
import { formatPage } from '../../src/report/page/format-page.ts'
import { buildPage } from '../page/build-page.ts'
import { parsePage } from './parse-page.ts'

const curve: PageWaveHealth['curve'] = {
  statuses: '5xx',
  written: [1_795_176_000, 1_795_176_000],
  before: [1_795_175_100, 1_795_176_000],
  after: [1_795_176_600, 1_795_177_500],
  seconds: 300,
  baseline: { requests: 100, bad: 1 },
  points: [[1_795_175_100, 100, 1, 99, 0, 0, 1, 0]],
}
const wave = (number: number, given: Partial<PageWaveHealth> = {}): PageWaveHealth => ({
  wave: number,
  state: 'healthy',
  reason: null,
  figures: '5xx: 1.00 % before.',
  rule: 'Worse if it rises.',
  checks: 1,
  worse: [],
  curve,
  ...given,
})
const worse = (count: number): PageWaveHealth['worse'] =>
  Array.from({ length: count }, (_, i) => ({
    domain: `d${i}.example`,
    before: { requests: 100, bad: 1 },
    after: { requests: 0, bad: 0 },
  }))

/** Formats a page with a rollout, and returns it without its scripts and styles. */
function format(waves: PageWaveHealth[], rollback: PageRollout['rollback'] = null) {
  const html = formatPage({ ...buildPage(), rollout: { waves, rollback } })
  const text = html.replaceAll(/<(style|script)[^>]*>.*?<\/\1>/gs, '')
  const readTexts = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, each = '']) => each)
  return { html, text, scripts: readTexts('script'), styles: readTexts('style') }
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe('the health of waves in a page', () => {
  it('allows the script of the charts where there are curves, by its hash', () => {
    const { html, scripts, styles } = format([wave(1)])
    expect(scripts).toEqual([chartScript, script])
    expect(styles).toEqual([style, chartStyle])
    const [, policy] = /http-equiv="Content-Security-Policy" content="(.*?)">/.exec(html) ?? []
    expect(policy).toBe(
      `default-src 'none'; style-src ${hash(style)} ${hash(chartStyle)}; script-src ` +
        `${hash(chartScript)} ${hash(script)}; base-uri 'none'; form-action 'none'`,
    )
    expect(html).not.toMatch(/\bstyle="|url\(|@import|innerHTML|\beval\(/)
    expect(parsePage(html).rollout).toBeUndefined()
  })

  it('has no script of charts without curves, and no style without a rollout', () => {
    const { scripts, styles } = format([wave(1, { curve: null })])
    expect([scripts, styles]).toEqual([[script], [style, chartStyle]])
    const plain = formatPage(buildPage())
    expect(plain).not.toContain(chartStyle)
    expect(plain).not.toContain('uplot')
    expect(plain.length).toBeLessThan(format([wave(1)]).html.length - 50_000)
  })

  it('has each verdict in words, with its reason and its rule', () => {
    const { text } = format([
      wave(3, { state: 'worse', reason: '5xx rose', worse: worse(2), checks: 2 }),
      wave(4, { state: 'unchecked', figures: null, rule: null, curve: null, checks: 0 }),
      wave(1),
      wave(5, { state: 'not-begun', figures: null, rule: null, curve: null }),
      wave(6, { state: 'not-begun', figures: null, rule: null, curve: null }),
    ])
    const lines = text.replaceAll(/<[^>]+>/g, '\n').replaceAll(/\n\s*/g, '\n')
    expect(lines).toContain('\n✕\nWave 3: worse\n5xx rose\n5xx: 1.00 % before.\nd0.example\n')
    expect(lines).toContain('\n1.00 % → no requests\n')
    expect(lines).toContain(
      '\nWritten 2026-11-20 12:00 UTC. Compared: 2026-11-20 11:45 to 12:00 UTC with 2026-11-20 ' +
        '12:10 to 12:25 UTC. Checked 2 times; this is the last check.\nWorse if it rises.\n',
    )
    expect(lines).toContain('\n–\nWave 4: written without a health check\n')
    expect(lines).toContain('\n✓\nWave 1: healthy\n')
    expect(lines).toContain('\n–\nNot begun: waves 5, 6\n')
    expect(text.indexOf('Wave 3')).toBeLessThan(text.indexOf('Wave 1'))
  })

  it('closes healthy waves where there are many, and no other', () => {
    const few = format([wave(1), wave(2), wave(3), wave(4)]).text
    expect(few).not.toContain('<details')
    const { text } = format([wave(9, { state: 'worse' }), ...[1, 2, 3, 4].map((n) => wave(n))])
    expect(text.match(/<details data-fold>/g)).toHaveLength(5)
    expect(text).toContain('4 healthy waves')
    expect(text.indexOf('Wave 9: worse')).toBeLessThan(text.indexOf('<details data-fold>'))
  })

  it('has some of many worse domains, and the number of the others', () => {
    const { text } = format([wave(1, { state: 'worse', worse: worse(400) })])
    expect(text.match(/<span class="domain">/g)).toHaveLength(300)
    expect(text).toContain('<summary>394 more worse domains</summary>')
    expect(text).toContain('<li>and 100 more</li>')
  })

  it('has the rollback, with its reason unless a wave has it', () => {
    const states = [wave(2, { state: 'worse', reason: '5xx rose' }), wave(1)]
    const own = format(states, { reason: 'wave 2 of 3: 5xx rose; rolled back', writes: 1 }).text
    expect(own).toContain('with 1 write:</strong> wave 2 is worse than its baseline.</p>')
    const other = format([wave(1)], { reason: 'because', writes: 2 }).text
    expect(other).toContain('with 2 writes:</strong> because</p>')
    expect(format([wave(1)]).text).not.toContain('data-rollback')
  })

  it('has hostile texts as texts, and cuts long ones', () => {
    const attack = '</script><img src=x onerror=alert(1)>"\u202e'
    const statuses = attack
    const { text, html: all } = format(
      [
        wave(1, {
          reason: attack,
          figures: attack,
          rule: attack,
          worse: [{ ...worse(1)[0]!, domain: attack }],
          curve: { ...curve, statuses },
        }),
        wave(2, { reason: 'x'.repeat(1_000_000) }),
      ],
      { reason: attack, writes: 1 },
    )
    expect(text).not.toContain('<img')
    expect(text.split('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;').length).toBe(6)
    expect(all).not.toContain('\u202e')
    expect(all.match(/<script/g)).toHaveLength(4)
    expect(all.length).toBeLessThan(150_000)
  })
})
