import { describe, expect, it } from 'vitest'
import { drawTerminal, readTimes } from '../../tools/terminal-svg.ts'

const lineTimes: number[] = []

/** Extracts the drawn lines, with their spans. */
function listLines(svg: string): string[] {
  return Array.from(svg.matchAll(/<text [^>]*>(.*)<\/text>/g), ([, line = '']) => line)
}

describe('drawTerminal', () => {
  it('draws colours as classes, and escapes what XML would interpret', () => {
    const output = '\u001b[1mPlan:\u001b[22m \u001b[1m\u001b[33m~\u001b[39m a <b> & c\u001b[22m\n'
    const svg = drawTerminal([{ command: 'edgewise plan', output, lineTimes }])
    expect(listLines(svg)).toEqual([
      '<tspan class="dim">$</tspan> <tspan class="bold">edgewise plan</tspan>',
      '<tspan class="bold">Plan:</tspan> <tspan class="bold yellow">~</tspan>' +
        '<tspan class="bold"> a &lt;b&gt; &amp; c</tspan>',
    ])
  })

  it('continues a style on the next line', () => {
    const svg = drawTerminal([{ command: 'x', output: '\u001b[2ma\nb\u001b[22mc', lineTimes }])
    expect(listLines(svg).slice(1)).toEqual([
      '<tspan class="dim">a</tspan>',
      '<tspan class="dim">b</tspan>c',
    ])
  })

  it('sets the length of a line by its columns, without the codes', () => {
    const svg = drawTerminal([
      { command: 'x', output: '\u001b[32m12345\u001b[39m 7890', lineTimes },
    ])
    expect(svg).toContain('textLength="84.0"')
    expect(svg).toContain(`width="${84 + 32}"`)
  })

  it('draws … for the lines with which an output repeats the one before it', () => {
    const svg = drawTerminal([
      { command: 'plan', output: 'a\nb\n', lineTimes },
      { command: 'apply', output: 'a\nb\ndone\n', lineTimes },
    ])
    expect(listLines(svg).slice(3)).toEqual([
      '<tspan class="dim">$</tspan> <tspan class="bold">apply</tspan>',
      '<tspan class="dim">…</tspan>',
      'done',
    ])
  })

  it('refuses a control sequence that it does not know', () => {
    expect(() => drawTerminal([{ command: 'x', output: 'a\u001b[Kb', lineTimes }])).toThrow(
      "can't draw",
    )
    expect(() => drawTerminal([{ command: 'x', output: '\u001b[35ma', lineTimes }])).toThrow(
      "can't draw",
    )
  })

  const runs = [
    { command: 'plan', output: 'a\n\nb\n', lineTimes: [300, 300, 400] },
    { command: 'apply', output: 'a\nc\n', lineTimes: [100, 20_000] },
  ]

  it('shows each line when it was printed, after its command was typed, with shorter waits', () => {
    const [plan = 0, a = 0, b = 0, apply = 0, same = 0, c = 0, ...rest] = readTimes(
      drawTerminal(runs),
    )
    expect(rest).toEqual([])
    expect(plan).toBeGreaterThan(0)
    expect(a).toBeGreaterThan(plan + 4 * 40 + 300)
    expect(b - a).toBe(100)
    expect(apply - b).toBeGreaterThan(2000)
    expect(same - apply).toBeGreaterThan(5 * 40 + 100)
    expect(c - same).toBeGreaterThan(500)
    expect(c - same).toBeLessThan(1000)
  })

  it('keeps the times of an earlier drawing, while it has as many lines', () => {
    const drawn = drawTerminal(runs)
    const later = runs.map((run) => ({ ...run, lineTimes: run.lineTimes.map((ms) => 2 * ms) }))
    expect(drawTerminal(later)).not.toBe(drawn)
    expect(drawTerminal(later, readTimes(drawn))).toBe(drawn)
    expect(drawTerminal(later.slice(0, 1), readTimes(drawn))).toBe(drawTerminal(later.slice(0, 1)))
  })

  it('has a final state without an animation, for readers who prefer reduced motion', () => {
    const [still = '', moving = ''] = drawTerminal(runs).split(
      '@media (prefers-reduced-motion: no-preference)',
    )
    expect(still).not.toMatch(/animation|text \{[^}]*(opacity|visibility|display)/)
    expect(moving).toContain('text { animation: appear')
  })
})
