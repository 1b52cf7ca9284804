import { measureWidth } from '../src/outlets/report/text/display-width.ts'

/** A command and what it printed, with its colour codes. */
export interface TerminalRun {
  command: string
  output: string
}

const fontSize = 14
const lineHeight = 20
const columnWidth = 8.4
const padding = 16

/** Control sequences that `createPaint` uses, with the classes that each starts or ends. */
const sequences = new Map<string, { starts?: string; ends?: string[] }>([
  ['\u001b[1m', { starts: 'bold' }],
  ['\u001b[2m', { starts: 'dim' }],
  ['\u001b[22m', { ends: ['bold', 'dim'] }],
  ['\u001b[31m', { starts: 'red' }],
  ['\u001b[32m', { starts: 'green' }],
  ['\u001b[33m', { starts: 'yellow' }],
  ['\u001b[36m', { starts: 'cyan' }],
  ['\u001b[39m', { ends: ['red', 'green', 'yellow', 'cyan'] }],
])

const style = `
    .frame { fill: #0d1117; stroke: #3d444d }
    text { fill: #e6edf3; font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas,
      'DejaVu Sans Mono', 'Liberation Mono', monospace; white-space: pre }
    .bold { font-weight: 700 }
    .dim { fill: #9198a1 }
    .red { fill: #ff7b72 }
    .green { fill: #3fb950 }
    .yellow { fill: #d29922 }
    .cyan { fill: #39c5cf }
    @media (prefers-color-scheme: light) {
      .frame { fill: #f6f8fa; stroke: #d1d9e0 }
      text { fill: #1f2328 }
      .dim { fill: #59636e }
      .red { fill: #cf222e }
      .green { fill: #116329 }
      .yellow { fill: #7d4e00 }
      .cyan { fill: #1b5e66 }
    }
    @keyframes hide { from, to { visibility: hidden } }
    @media (prefers-reduced-motion: no-preference) {
      .run { animation: hide var(--until) 2s }
    }`

/** Seconds from the begin of the animation to the first command, and between two of them. */
const [firstSeconds, stepSeconds] = [0.5, 3]

/**
 * Draws commands and their outputs as a terminal in SVG, with the text as text. Its colours follow
 * the colour scheme of the reader, and its background makes it legible on any page. Lines with
 * which an output repeats the one before it become one line `…`. It begins whole, as it ends: only
 * then one command appears after another.
 *
 * @throws Error for a control sequence other than the styles of `Paint`
 */
export function drawTerminal(runs: TerminalRun[]): string {
  const blocks = runs.map((run, i) => listLines(run, i === 0 ? null : (runs[i - 1] ?? null)))
  const lines = blocks.flat()
  const columns = Math.max(...lines.map(measureWidth))
  const width = Math.ceil(columns * columnWidth) + 2 * padding
  const height = lines.length * lineHeight + 2 * padding
  const classes = new Set<string>()
  let row = 0
  const groups = blocks.map((block, i) => {
    const texts = block.flatMap((line) => {
      row += 1
      return line === '' ? [] : [drawLine(line, row - 1, classes)]
    })
    const until = firstSeconds + i * stepSeconds
    return `  <g class="run" style="--until: ${until}s">\n${texts.join('\n')}\n  </g>`
  })
  const title = escapeXml(runs.map(({ command }) => `$ ${command}`).join(', '))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
  viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
  <title id="title">${title}</title>
  <style>${style}
  </style>
  <rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${groups.join('\n')}
</svg>
`
}

/** @param previous null for the first run */
function listLines({ command, output }: TerminalRun, previous: TerminalRun | null): string[] {
  return [
    ...(previous === null ? [] : ['']),
    `\u001b[2m$\u001b[22m \u001b[1m${command}\u001b[22m`,
    ...dropRepeated(splitLines(output), splitLines(previous?.output ?? '')),
  ]
}

function splitLines(output: string): string[] {
  return output.replace(/\n+$/, '').split('\n')
}

/** Replaces the first lines by `…` if the previous output begins with the same ones. */
function dropRepeated(lines: string[], previous: string[]): string[] {
  const end = lines.findIndex((line, i) => line !== previous[i])
  return end <= 0 ? lines : ['\u001b[2m…\u001b[22m', ...lines.slice(end)]
}

/** @param classes those at the beginning of the line; changed to those at its end */
function drawLine(line: string, i: number, classes: Set<string>): string {
  const y = padding + (i + 1) * lineHeight - (lineHeight - fontSize)
  // The length keeps columns aligned in every font.
  const length = (measureWidth(line) * columnWidth).toFixed(1)
  return (
    `  <text x="${padding}" y="${y}" textLength="${length}" xml:space="preserve">` +
    `${drawSpans(line, classes)}</text>`
  )
}

/** Turns control sequences into spans with classes. */
function drawSpans(line: string, classes: Set<string>): string {
  return line
    .split(/(\p{Cc}\[[\d;]*m)/u)
    .map((part) => {
      const sequence = sequences.get(part)
      for (const each of sequence?.ends ?? []) classes.delete(each)
      if (sequence?.starts !== undefined) classes.add(sequence.starts)
      if (sequence !== undefined) return ''
      if (/\p{Cc}/u.test(part)) throw new Error(`can't draw ${JSON.stringify(part)}`)
      if (part === '' || classes.size === 0) return escapeXml(part)
      return `<tspan class="${[...classes].join(' ')}">${escapeXml(part)}</tspan>`
    })
    .join('')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
