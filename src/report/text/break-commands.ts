import { plainText } from './escape-invisible.ts'

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
