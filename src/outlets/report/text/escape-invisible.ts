import { escapeUnits, plainText, unsafe } from '../../../core/model/json.ts'

// Own colours and line ends, on a terminal also own movements of the cursor.
const ownInLog = String.raw`\u001b\[[\d;]*m|\r?\n|\t`
const ownOnTerminal = String.raw`\u001b\[[\d;?]*[A-Za-z]|[\r\n\t]`
const plainLine = /^[\x20-\x7e]*$/
const strayPatterns = new Map<string, RegExp>()
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Escapes control characters, direction marks and other invisible characters (`\n`, `\u{1b}`), so
 * that text from a file or a service can't control the terminal or hide. Also escapes line ends.
 */
export function escapeInvisible(text: string): string {
  if (plainLine.test(text)) return text
  return text.replace(
    new RegExp(unsafe, 'gu'),
    (character) => named[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** Formats a text as a YAML scalar in double quotes, in which those characters are escaped. */
export function quoteVisibly(text: string): string {
  return JSON.stringify(text).replace(new RegExp(unsafe, 'gu'), (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16)
    return digits.length > 4 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`
  })
}

/**
 * Escapes what `escapeInvisible` escapes in a whole output, except colours and line ends, and on a
 * terminal movements of the cursor. Writes escapes of JSON, so that JSON keeps its values.
 */
export function escapeStray(text: string, onTerminal: boolean): string {
  if (plainText.test(text)) return text
  const own = onTerminal ? ownOnTerminal : ownInLog
  const stray = strayPatterns.get(own) ?? new RegExp(`(${own})|${unsafe}`, 'gu')
  strayPatterns.set(own, stray)
  return text.replace(stray, (found, kept?: string) =>
    kept === undefined ? escapeUnits(found) : found,
  )
}

/** Escapes each line of a text; line ends stay. */
export function escapeInvisibleInLines(text: string): string {
  return text.split(/\r?\n/).map(escapeInvisible).join('\n')
}

/** One character that comparisons of texts may ignore, except line ends. */
const ignored = String.raw`(?![\n\r])[\p{C}\p{Default_Ignorable_Code_Point}]`
/** One blank, or an ignored character. */
const blank = String.raw`(?![\n\r])[\s\p{C}\p{Default_Ignorable_Code_Point}]`
const sections = /(section_(?:start|end)):(?=\d)/g
/** Patterns that are compiled when a text needs them. */
let patterns: { leadingColons: RegExp; hashes: RegExp } | undefined

/**
 * Breaks what a CI runner would execute in a log: leading `::`, `##[` anywhere, sections. One
 * character of each is written as in JSON (`#\u0023[error]`), so that JSON keeps its values.
 */
export function breakCommands(text: string): string {
  if (plainText.test(text) && !/::|##|section_/.test(text)) return text
  patterns ??= {
    leadingColons: new RegExp(`(^|[\\n\\r])((?:${blank})*):(?=(?:${ignored})*:)`, 'gu'),
    hashes: new RegExp(`(#(?:${ignored})*)#(?=(?:${ignored}|[A-Za-z])*\\[)`, 'gu'),
  }
  return text
    .replace(patterns.leadingColons, String.raw`$1$2\u003a`)
    .replace(patterns.hashes, String.raw`$1\u0023`)
    .replace(sections, String.raw`$1\u003a`)
}
