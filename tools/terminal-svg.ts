import { measureWidth } from '../src/report/text/display-width.ts'

/** A command and what it printed, with its colour codes. */
export interface TerminalRun {
  command: string
  output: string
  /** When each line of the output was printed, in ms since the start of the command. */
  lineTimes: number[]
}

/** A line of the terminal. */
interface Line {
  text: string
  /** Columns after the prompt that are typed, 0 for a line of output. */
  typed: number
  /** Since the start of its command, ms; the commands themselves have 0. */
  at: number
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
    .cover { fill: #0d1117; visibility: hidden; transform-box: fill-box; transform-origin: right }
    @media (prefers-color-scheme: light) { .cover { fill: #f6f8fa } }
    @keyframes appear { from { opacity: 0 } }
    @keyframes type { from { visibility: visible }
      to { visibility: visible; transform: scaleX(0) } }
    @media (prefers-reduced-motion: no-preference) {
      text { animation: appear 1ms var(--at) backwards }
      .cover { animation: type var(--for) steps(var(--keys)) var(--at) }
    }`

/** Pauses of a recording, ms. A wait between two lines of output is shortened to `maxWait`. */
const pauses = { start: 600, key: 45, command: 250, maxWait: 900, read: 2200 }

/**
 * Draws commands and their outputs as a recording of a terminal in SVG, with the text as text. It
 * plays once and ends with all lines, which a reader who prefers reduced motion sees at once. Its
 * colours follow the colour scheme of the reader, and its background makes it legible on any page.
 * Lines with which an output repeats the one before it become one line `…`.
 *
 * @param times when each line appears, in ms, as {@link readTimes} has them; absent or of another
 *   length: from the times of the runs, with shorter waits
 * @throws Error for a control sequence other than the styles of `Paint`
 */
export function drawTerminal(runs: TerminalRun[], times: number[] = []): string {
  const lines = listLines(runs)
  const columns = Math.max(...lines.map(({ text }) => measureWidth(text)))
  const width = Math.ceil(columns * columnWidth) + 2 * padding
  const height = lines.length * lineHeight + 2 * padding
  const classes = new Set<string>()
  const drawn = lines.filter(({ text }) => text !== '').length
  const schedule = times.length === drawn ? times : scheduleLines(lines)
  let next = 0
  const texts = lines.flatMap((line, i) =>
    line.text === '' ? [] : [drawLine(line, i, classes, schedule[next++] ?? 0)],
  )
  const title = escapeXml(runs.map(({ command }) => `$ ${command}`).join(', '))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"
  viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
  <title id="title">${title}</title>
  <style>${style}
  </style>
  <rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.join('\n')}
</svg>
`
}

/** Reads when each line of a recording appears, in ms. */
export function readTimes(svg: string): number[] {
  return Array.from(svg.matchAll(/<text [^>]*--at:(\d+)ms/g), ([, ms]) => Number(ms))
}

function listLines(runs: TerminalRun[]): Line[] {
  return runs.flatMap(({ command, output, lineTimes }, i) => {
    const prompt = `\u001b[2m$\u001b[22m \u001b[1m${command}\u001b[22m`
    const printed = splitLines(output).map((text, j) => ({ text, typed: 0, at: lineTimes[j] ?? 0 }))
    return [
      ...(i === 0 ? [] : [{ text: '', typed: 0, at: 0 }]),
      { text: prompt, typed: measureWidth(command), at: 0 },
      ...dropRepeated(printed, splitLines(runs[i - 1]?.output ?? '')),
    ]
  })
}

/** Computes when each line that is not empty appears, in ms from the start of the recording. */
function scheduleLines(lines: Line[]): number[] {
  let at = pauses.start
  let previous = 0
  return lines.flatMap(({ text, typed, at: printed }, i) => {
    if (text === '') return []
    const shown = lines[i - 1]?.typed ?? 0
    if (typed > 0) at += i === 0 ? 0 : pauses.read
    else if (shown > 0) at += shown * pauses.key + pauses.command
    at += Math.min(pauses.maxWait, typed > 0 ? 0 : Math.max(0, printed - previous))
    previous = printed
    return [Math.round(at)]
  })
}

function splitLines(output: string): string[] {
  return output.replace(/\n+$/, '').split('\n')
}

/** Replaces the first lines by `…` if the previous output begins with the same ones. */
function dropRepeated(lines: Line[], previous: string[]): Line[] {
  const end = lines.findIndex(({ text }, i) => text !== previous[i])
  const [first] = lines
  if (first === undefined || end <= 0) return lines
  return [{ ...first, text: '\u001b[2m…\u001b[22m' }, ...lines.slice(end)]
}

/**
 * @param classes those at the beginning of the line; changed to those at its end
 * @param at when it appears, ms
 */
function drawLine({ text, typed }: Line, i: number, classes: Set<string>, at: number): string {
  const y = padding + (i + 1) * lineHeight - (lineHeight - fontSize)
  // The length keeps columns aligned in every font.
  const length = (measureWidth(text) * columnWidth).toFixed(1)
  const drawn =
    `  <text x="${padding}" y="${y}" textLength="${length}" xml:space="preserve" ` +
    `style="--at:${at}ms">${drawSpans(text, classes)}</text>`
  if (typed === 0) return drawn
  const x = (padding + (measureWidth(text) - typed) * columnWidth).toFixed(1)
  return (
    `${drawn}\n  <rect class="cover" x="${x}" y="${y - fontSize}" ` +
    `width="${(typed * columnWidth).toFixed(1)}" height="${lineHeight}" ` +
    `style="--at:${at}ms;--for:${typed * pauses.key}ms;--keys:${typed}"/>`
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
