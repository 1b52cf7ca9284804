import { describe, expect, it } from 'vitest'
import { drawTerminal } from '../../tools/terminal-svg.ts'

/** Extracts the drawn lines, with their spans. */
function listLines(svg: string): string[] {
  return Array.from(svg.matchAll(/<text [^>]*>(.*)<\/text>/g), ([, line = '']) => line)
}

describe('drawTerminal', () => {
  it('draws colours as classes, and escapes what XML would interpret', () => {
    const output = '\u001b[1mPlan:\u001b[22m \u001b[1m\u001b[33m~\u001b[39m a <b> & c\u001b[22m\n'
    const svg = drawTerminal([{ command: 'edgewise plan', output }])
    expect(listLines(svg)).toEqual([
      '<tspan class="dim">$</tspan> <tspan class="bold">edgewise plan</tspan>',
      '<tspan class="bold">Plan:</tspan> <tspan class="bold yellow">~</tspan>' +
        '<tspan class="bold"> a &lt;b&gt; &amp; c</tspan>',
    ])
  })

  it('continues a style on the next line', () => {
    const svg = drawTerminal([{ command: 'x', output: '\u001b[2ma\nb\u001b[22mc' }])
    expect(listLines(svg).slice(1)).toEqual([
      '<tspan class="dim">a</tspan>',
      '<tspan class="dim">b</tspan>c',
    ])
  })

  it('sets the length of a line by its columns, without the codes', () => {
    const svg = drawTerminal([{ command: 'x', output: '\u001b[32m12345\u001b[39m 7890' }])
    expect(svg).toContain('textLength="84.0"')
    expect(svg).toContain(`width="${84 + 32}"`)
  })

  it('draws … for the lines with which an output repeats the one before it', () => {
    const svg = drawTerminal([
      { command: 'plan', output: 'a\nb\n' },
      { command: 'apply', output: 'a\nb\ndone\n' },
    ])
    expect(listLines(svg).slice(3)).toEqual([
      '<tspan class="dim">$</tspan> <tspan class="bold">apply</tspan>',
      '<tspan class="dim">…</tspan>',
      'done',
    ])
  })

  it('is whole at first, then hides each command until its turn, except for less motion', () => {
    const svg = drawTerminal([
      { command: 'plan', output: 'a\n' },
      { command: 'apply', output: 'b\n' },
    ])
    expect(svg.match(/<g class="run" style="--until: [\d.]+s">/g)).toEqual([
      '<g class="run" style="--until: 0.5s">',
      '<g class="run" style="--until: 3.5s">',
    ])
    expect(svg).toMatch(/no-preference\) {\s+\.run { animation: hide var\(--until\) 2s }/)
  })

  it('refuses a control sequence that it does not know', () => {
    expect(() => drawTerminal([{ command: 'x', output: 'a\u001b[Kb' }])).toThrow("can't draw")
    expect(() => drawTerminal([{ command: 'x', output: '\u001b[35ma' }])).toThrow("can't draw")
  })
})
