import { describe, expect, it } from 'vitest'
import type { PageRollback, PageWave, WaveHealth } from '../../src/core/model/page/page-rollout.ts'
import { formatRollout } from '../../src/outlets/report/page/format-rollout.ts'
import { buildWave } from '../page/build-page.ts'

const curve: WaveHealth['curve'] = {
  statuses: '5xx',
  written: [1_795_176_000, 1_795_176_000],
  before: [1_795_175_100, 1_795_176_000],
  after: [1_795_176_600, 1_795_177_500],
  seconds: 300,
  baseline: { requests: 100, bad: 1 },
  points: [[1_795_175_100, 100, 1, 99, 0, 0, 1, 0]],
}
const wave = (number: number, given: Partial<WaveHealth> = {}): PageWave => ({
  ...buildWave(number),
  health: {
    state: 'healthy',
    reason: null,
    figures: '5xx: 1.00 % before.',
    rule: 'Worse if it rises.',
    checks: 1,
    worse: [],
    curve,
    ...given,
  },
})
const worse = (count: number): WaveHealth['worse'] =>
  Array.from({ length: count }, (_, i) => ({
    domain: `d${i}.example`,
    before: { requests: 100, bad: 1 },
    after: { requests: 0, bad: 0 },
  }))
const none = { figures: null, rule: null, curve: null }

/** Formats waves without their curves. */
const format = (waves: PageWave[], rollback: PageRollback | null = null) =>
  formatRollout({ about: null, waves, rollback }, { hasFilters: true }).replaceAll(
    /<figure.*?<\/figure>/gs,
    '',
  )
/** Lists the texts between the tags. */
const readLines = (html: string) => html.replaceAll(/<[^>]+>/g, '\n').replaceAll(/\n\s*/g, '\n')

it('the waves of a plan are links, with their sizes, their times and what is between them', () => {
  const first = { writes: 3, from: 0, to: 4, waitSeconds: 600 }
  const html = format([
    buildWave(1, { domains: 2000, times: first }),
    buildWave(2, { approval: 'needs approval' }),
  ])
  expect(readLines(html)).toBe(
    '\nWaves\nWave 1\n2,000 domains, 3 writes\n0:00 to 0:04\nthen 10 min for health check and ' +
      'pause\nWave 2\n1 domain, 1 write\nat 0:00\n◆ needs approval\n',
  )
  expect(html).toContain('<a href="#wave=2">')
  const many = Array.from({ length: 70 }, (_, i) => buildWave(i + 1))
  expect(format(many)).toContain('and 10 more waves')
})

describe('the health of waves in a page', () => {
  it('has each verdict in words, with its reason and its rule', () => {
    const html = format([
      wave(3, { state: 'worse', reason: '5xx rose', worse: worse(2), checks: 2 }),
      wave(4, { state: 'unchecked', ...none, checks: 0 }),
      wave(1),
      wave(5, { state: 'not-begun', ...none }),
    ])
    const lines = readLines(html)
    expect(lines).toContain('\n✕\nWave 3\n: worse\n1 domain, 1 write\n5xx rose\n5xx: 1.00 %')
    expect(lines).toContain('\nd0.example\n1.00 % → no requests\n')
    expect(lines).toContain(
      '\nWritten 2026-11-20 12:00 UTC. Compared: 2026-11-20 11:45 to 12:00 UTC with 2026-11-20 ' +
        '12:10 to 12:25 UTC. Checked 2 times; this is the last check.\nWorse if it rises.\n',
    )
    expect(lines).toContain('\n–\nWave 4\n: written without a health check\n')
    expect(lines).toContain('\n✓\nWave 1\n: healthy\n')
    expect(lines).toContain('\n–\nWave 5\n: not begun\n')
  })

  it('closes healthy waves where there are many, and no other', () => {
    expect(format([1, 2, 3, 4].map((n) => wave(n)))).not.toContain('<details')
    const text = format([wave(9, { state: 'worse' }), ...[1, 2, 3, 4].map((n) => wave(n))])
    expect(text.match(/<details data-fold>/g)).toHaveLength(1)
    expect(text).toContain('4 healthy waves')
    expect(text.indexOf(': worse')).toBeLessThan(text.indexOf('<details data-fold>'))
  })

  it('has some of many worse domains, and the number of the others', () => {
    const text = format([wave(1, { state: 'worse', worse: worse(400) })])
    expect(text.match(/<span class="domain">/g)).toHaveLength(300)
    expect(text).toContain('<summary>394 more worse domains</summary>')
    expect(text).toContain('<li>and 100 more</li>')
  })

  it('has the rollback, with its reason unless a wave has it', () => {
    const states = [wave(2, { state: 'worse', reason: '5xx rose' }), wave(1)]
    const own = format(states, { reason: 'wave 2 of 3: 5xx rose; rolled back', writes: 1 })
    expect(own).toContain('with 1 write:</strong> wave 2 is worse than its baseline.</p>')
    const other = format([wave(1)], { reason: 'because', writes: 2 })
    expect(other).toContain('with 2 writes:</strong> because</p>')
    expect(format([wave(1)])).not.toContain('data-rollback')
  })

  it('has hostile texts as texts', () => {
    const attack = '</script><img src=x onerror=alert(1)>"\u202e'
    const { health, ...first } = wave(1, { reason: attack, figures: attack, rule: attack })
    const own = {
      worse: [{ ...worse(1)[0]!, domain: attack }],
      curve: { ...curve, statuses: attack },
    }
    const html = formatRollout({
      about: {
        id: attack,
        state: 'paused',
        progress: { wave: 1, waves: 1 },
        facts: [[attack, attack, true]],
        note: attack,
        command: attack,
        step: 'the "step"',
        decisions: [{ verb: 'approve', label: attack }],
        canAbort: true,
        onHold: [attack],
      },
      waves: [{ ...first, approval: attack, names: [attack], health: { ...health!, ...own } }],
      rollback: { reason: attack, writes: 1 },
    })
    expect(html).not.toContain('<img')
    expect(html).not.toContain('\u202e')
    expect(html).toContain('name="step" value="the &quot;step&quot;"')
    expect(html.split('&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&quot;').length).toBe(20)
  })
})
