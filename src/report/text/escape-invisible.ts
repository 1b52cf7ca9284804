// Joiners are kept: emoji and several scripts need them.
const unsafe = /[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/gu
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Escapes control characters, direction marks and other invisible characters (`\n`, `\u{1b}`), so
 * that text from a file or a service can't control the terminal or hide. Also escapes line ends.
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    unsafe,
    (character) => named[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** Escapes each line of a text; line ends stay. */
export function escapeInvisibleInLines(text: string): string {
  return text.split(/\r?\n/).map(escapeInvisible).join('\n')
}
