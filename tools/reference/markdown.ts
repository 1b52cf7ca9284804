/** Text of Markdown pages: prose with escapes and wrapped lines, code, tables. */

const width = 120
/**
 * Text of descriptions that is code: commands in quotes, `${env:NAME}`, `{$append: […]}`, `--yes`,
 * `[1, 5%]`, `EDGEWISE_TOKEN`, `edgewise.yaml`, `cert_id`, `guards.maxDomains`.
 */
const code = new RegExp(
  [
    '"edgewise [^"]*"',
    String.raw`\{\$[^{}]*\}`,
    String.raw`\$?\$\{[^{}]*\}`,
    String.raw`\[+[^[\]\n]+\]+`,
    '--[a-z][a-z-]*',
    String.raw`\b[A-Z]+(?:_[A-Z]+)+\b`,
    String.raw`\.?\bedgewise(?:\.yaml\b|(?:/[\w.]*\w)+)`,
    String.raw`\b(?:[a-z][a-z0-9]*\.)*(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]+[A-Z]\w*)\b`,
  ].join('|'),
  'g',
)

/** A page that `npm run generate` writes, with its note. */
export function formatPage(title: string, ...parts: string[]): string {
  const note = '<!-- Generated -->'
  return `${[`# ${title}`, note, ...parts].join('\n\n')}\n`
}

/**
 * Formats sentences of a schema or of the program as a paragraph. Text in backticks stays; names of
 * fields, keys and options get them; other characters with a meaning in Markdown are escaped.
 *
 * @param first prefix of the first line, such as a bullet
 * @param next prefix of the other lines
 */
export function formatProse(text: string, first = '', next = ''): string {
  return wrap(formatInline(text), first, next)
}

/** Formats sentences without line ends, as for a cell of a table. */
export function formatInline(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .split(/(`[^`]*`|\]\([^)]*\))/)
    .map((part, i) => (i % 2 === 1 ? part : markNames(part)))
    .join('')
}

function markNames(text: string): string {
  let result = ''
  let end = 0
  for (const match of text.matchAll(code)) {
    const found = match[0].replace(/^"(.*)"$/, '$1')
    result += escapeText(text.slice(end, match.index)) + formatCode(found)
    end = match.index + match[0].length
  }
  return result + escapeText(text.slice(end))
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\*<]/g, String.raw`\$&`)
}

/** Formats text as a code span, whatever backticks it contains. */
export function formatCode(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `\`${text}\`` : `${fence} ${text} ${fence}`
}

/** Formats a code block whose fence is longer than every one in the text. */
export function formatBlock(language: string, text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`
}

/** Formats a table of cells that are Markdown. */
export function formatTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll(/(?<!\\)\|/g, String.raw`\|`)).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Returns the anchor that code hosts give a heading. */
export function createAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

/** Breaks lines between words, never in code, nor so that a line begins with the mark of a list. */
function wrap(text: string, first: string, next: string): string {
  const words = joinMarks(text.match(/(?:`+[^`]*`+|\S)+/g) ?? [])
  const lines: string[] = []
  let line = first
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = next
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line].join('\n')
}

/** Joins a word that would be the mark of a list or heading to the word before it. */
function joinMarks(words: string[]): string[] {
  const joined: string[] = []
  for (const word of words) {
    const isMark = /^(?:[-+*>#=~]+|\d+[.)])$/.test(word)
    const before = joined.at(-1)
    if (isMark && before !== undefined) joined.splice(-1, 1, `${before} ${word}`)
    else joined.push(word)
  }
  return joined
}
