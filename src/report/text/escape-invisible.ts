// The joiners stay: emoji and several scripts need them.
const unsafe = /[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/gu
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Text whose control characters, direction marks and other invisible characters are written as
 * escapes (`\n`, `\u{1b}`), so that what comes from a file or a service can neither drive the
 * terminal nor hide. Line ends are escaped as well.
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    unsafe,
    (character) => named[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** `visible` for a text of several lines: its line ends stay. */
export function escapeInvisibleInLines(text: string): string {
  return text.split(/\r?\n/).map(escapeInvisible).join('\n')
}
