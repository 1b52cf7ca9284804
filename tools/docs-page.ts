/**
 * Reads the commands of a Markdown page, and compares what they print with what the page shows.
 *
 * Commands are the lines of a `sh` block, and the lines after `$ ` of a block that shows their
 * output. An HTML comment before a block changes how it is tested:
 *
 *     <!-- test: skip REASON -->     the commands of the block do not run
 *     <!-- test: write PATH -->      the block is the content of a file; `append PATH` extends it
 *     <!-- test: background -->      the command runs until the page ends, once it prints a line
 *     <!-- test: exit 3, yes, numbers -->
 *         the exit code of the last command; its question is answered by --yes; numbers may differ
 *
 * A comment `<!-- test: run … -->` runs commands that the page does not show. A comment
 * `<!-- test: picture PATH.svg … -->` runs commands of which the file shows the output, as a
 * terminal; `<!-- test: picture PATH.png #FRAGMENT SELECTOR … -->` runs commands in a folder of its
 * own, of which `page.html` is photographed: all of it, or a part.
 */

/** One step of a page. `line` counts from 1. */
export type DocStep =
  | { kind: 'run'; line: number; command: string; shown: string[] | null; expects: Expectations }
  | { kind: 'write'; line: number; path: string; text: string; appends: boolean }
  | { kind: 'background'; line: number; command: string }
  | {
      kind: 'picture'
      line: number
      path: string
      fragment: string
      part: string
      commands: string[]
    }
  | { kind: 'skip'; line: number; commands: number; reason: string }

/** How the result of a command is judged. */
export interface Expectations {
  exit: number
  /** Whether the page shows a question, which the test answers by `--yes`. */
  asks: boolean
  /** Whether numbers and bars may differ. */
  anyNumbers: boolean
}

interface Block {
  line: number
  language: string
  lines: string[]
}

/**
 * Parses the steps of a page, in order.
 *
 * @throws Error if a directive is unknown or does not stand before a block
 */
export function parsePage(text: string): DocStep[] {
  const lines = text.split('\n')
  const steps: DocStep[] = []
  let directive: { line: number; text: string } | null = null
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1
    const opening = lines[i] ?? ''
    if (opening.startsWith('<!-- test:')) {
      const start = i
      while (i < lines.length && !(lines[i] ?? '').endsWith('-->')) i++
      const content = lines
        .slice(start, i + 1)
        .join('\n')
        .slice('<!-- test:'.length, -'-->'.length)
        .trim()
      if (directive !== null) throw new Error(`line ${directive.line}: no block follows`)
      if (content.startsWith('run')) {
        steps.push(...parseCommands(content.slice('run'.length).split('\n'), start))
      } else if (content.startsWith('picture')) {
        const [first = '', ...rest] = content.split('\n')
        const commands = parseCommands(rest, line).map(({ command }) => command)
        const [, path = '', fragment = '', part = ''] = first.split(' ')
        steps.push({ kind: 'picture', line, path, fragment, part, commands })
      } else directive = { line, text: content }
      continue
    }
    const fence = /^( *)```(\w*)/.exec(opening)
    if (fence === null) continue
    const [, indent = '', language = ''] = fence
    const block: Block = { line, language, lines: [] }
    for (i++; i < lines.length && (lines[i] ?? '').trim() !== '```'; i++)
      block.lines.push((lines[i] ?? '').slice(indent.length))
    steps.push(...readBlock(block, directive?.text ?? ''))
    directive = null
  }
  if (directive !== null) throw new Error(`line ${directive.line}: no block follows`)
  return steps
}

function readBlock(block: Block, directive: string): DocStep[] {
  const { line, lines } = block
  const [word = '', ...rest] = directive.split(' ')
  const operand = rest.join(' ')
  if (word === 'write' || word === 'append') {
    const text = `${lines.join('\n')}\n`
    return [{ kind: 'write', line, path: operand, text, appends: word === 'append' }]
  }
  const commands = listCommands(block)
  if (word === 'skip') return [{ kind: 'skip', line, commands: commands.length, reason: operand }]
  if (word === 'background')
    return commands.map(({ line: at, command }) => ({ kind: 'background', line: at, command }))
  const expects = parseExpectations(line, directive)
  return commands.map((each, i) =>
    i === commands.length - 1 ? { ...each, expects } : { ...each, expects: usual },
  )
}

const usual: Expectations = { exit: 0, asks: false, anyNumbers: false }

function parseExpectations(line: number, directive: string): Expectations {
  const expects = { ...usual }
  for (const word of directive.split(',').map((each) => each.trim())) {
    const exit = /^exit (\d+)$/.exec(word)?.[1]
    if (exit !== undefined) expects.exit = Number(exit)
    else if (word === 'yes') expects.asks = true
    else if (word === 'numbers') expects.anyNumbers = true
    else if (word !== '') throw new Error(`line ${line}: unknown directive "${word}"`)
  }
  return expects
}

type Command = Extract<DocStep, { kind: 'run' }>

/** Lists the commands of a block with the output that it shows; a block of output has none. */
function listCommands({ line, language, lines }: Block): Command[] {
  if (language === 'sh') return parseCommands(lines, line)
  const commands: Command[] = []
  for (const [i, text] of language === '' ? lines.entries() : []) {
    if (text.startsWith('$ '))
      commands.push({
        kind: 'run',
        line: line + 1 + i,
        command: text.slice(2),
        shown: [],
        expects: usual,
      })
    else commands.at(-1)?.shown?.push(text)
  }
  // A command without output on the page may print anything.
  for (const command of commands) if (command.shown?.length === 0) command.shown = null
  return commands
}

/** Parses lines of a shell: each is a command, except comments; a backslash continues a line. */
function parseCommands(lines: string[], before: number): Command[] {
  const commands: Command[] = []
  let part = ''
  for (const [i, text] of lines.entries()) {
    part += text
    if (text.endsWith('\\')) {
      part += '\n'
      continue
    }
    if (part.trim() !== '' && !part.trim().startsWith('#'))
      commands.push({
        kind: 'run',
        line: before + 1 + i,
        command: part.trim(),
        shown: null,
        expects: usual,
      })
    part = ''
  }
  return commands
}

/**
 * Finds the first line that a command printed otherwise than the page shows. A line `…` stands for
 * any lines. Ids and authors of applies, times, commits and fingerprints may differ.
 *
 * @returns null if there is none
 */
export function findDifference(
  shown: string[],
  printed: string[],
  { asks, anyNumbers }: Expectations,
): string | null {
  const normalise = (lines: string[]): string[] =>
    trimBlankLines(lines.map((line) => normaliseLine(line, anyNumbers)))
  const question = shown.findIndex((line) => asks && line.includes('Type "yes" to continue'))
  // A blank line precedes the question.
  const expected = normalise(question < 0 ? shown : shown.toSpliced(question - 1, 2))
  const actual = normalise(printed)
  let position = 0
  let skips = false
  for (let i = 0; i < expected.length; i++) {
    const line = expected[i] ?? ''
    if (line === '…') {
      skips = true
      continue
    }
    // A page breaks long lines as a terminal does.
    const unbroken = joinBroken(expected, i)
    const start = position
    while (skips && position < actual.length && !unbroken.has(actual[position] ?? '')) position++
    const taken = unbroken.get(actual[position] ?? '')
    if (taken === undefined)
      return `expected "${line}", got "${actual[start] ?? '(no more lines)'}"`
    i += taken
    position++
    skips = false
  }
  if (!skips && position < actual.length)
    return `expected no more lines, got "${actual[position] ?? ''}"`
  return null
}

/** Joins a line with the indented ones after it: text → number of lines that were joined. */
function joinBroken(lines: string[], first: number): Map<string, number> {
  let text = lines[first] ?? ''
  const joined = new Map([[text, 0]])
  for (let i = first + 1; (lines[i] ?? '').startsWith('  '); i++) {
    text += ` ${(lines[i] ?? '').trim()}`
    joined.set(text, i - first)
  }
  return joined
}

/** Matches the ids of applies that a page shows with those that were printed in their place. */
export function matchIds(shown: string[], printed: string[]): Map<string, string> {
  const ids = new Map<string, string>()
  for (const line of shown) {
    const found = printed.find((each) => normaliseLine(each, false) === normaliseLine(line, false))
    const actual = found?.match(applyId) ?? []
    for (const [i, id] of (line.match(applyId) ?? []).entries()) ids.set(id, actual[i] ?? id)
  }
  return ids
}

const applyId = /\d{8}T\d{6}Z-[0-9a-f]{4}/g

function normaliseLine(line: string, anyNumbers: boolean): string {
  const named = line
    .trimEnd()
    .replaceAll(applyId, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replaceAll(/\b[0-9a-f]{12}\b/g, '<commit>')
    .replaceAll(/\bby [^\s,]+(?=, started| at <time>| · |$)/g, 'by <author>')
    .replaceAll(/\(secret [0-9a-f]{8}\)/g, '(secret <fingerprint>)')
  if (!anyNumbers) return named
  return named
    .replaceAll(/\d[\d.:-]*[kMG]?/g, '0')
    .replaceAll(/[▁▂▃▄▅▆▇█]/gu, '▁')
    .replaceAll(/ +/g, ' ')
}

function trimBlankLines(lines: string[]): string[] {
  const first = lines.findIndex((line) => line !== '')
  const last = lines.findLastIndex((line) => line !== '')
  return first < 0 ? [] : lines.slice(first, last + 1)
}
