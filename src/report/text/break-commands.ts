/** One character that comparisons of texts may ignore, except line ends. */
const ignored = String.raw`(?![\n\r])[\p{C}\p{Default_Ignorable_Code_Point}]`
/** One blank, or an ignored character. */
const blank = String.raw`(?![\n\r])[\s\p{C}\p{Default_Ignorable_Code_Point}]`
const leadingColons = new RegExp(`(^|[\\n\\r])((?:${blank})*):(?=(?:${ignored})*:)`, 'gu')
const hashes = new RegExp(`(#(?:${ignored})*)#(?=(?:${ignored}|[A-Za-z])*\\[)`, 'gu')
const sections = /(section_(?:start|end)):(?=\d)/g

/**
 * Breaks what a CI runner would execute in a log: leading `::`, `##[` anywhere, sections. One
 * character of each is written as in JSON (`#\u0023[error]`), so that JSON keeps its values.
 */
export function breakCommands(text: string): string {
  return text
    .replace(leadingColons, String.raw`$1$2\u003a`)
    .replace(hashes, String.raw`$1\u0023`)
    .replace(sections, String.raw`$1\u003a`)
}
