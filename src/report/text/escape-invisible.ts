// Joiners are kept: emoji and several scripts need them.
const unsafe = /[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}]/gu
// Own colours and line ends, on a terminal also own movements of the cursor.
const ownInLog = String.raw`\u001b\[[\d;]*m|\r?\n|\t`
const ownOnTerminal = String.raw`\u001b\[[\d;?]*[A-Za-z]|[\r\n\t]`
const strayInLog = new RegExp(`(${ownInLog})|${unsafe.source}`, 'gu')
const strayOnTerminal = new RegExp(`(${ownOnTerminal})|${unsafe.source}`, 'gu')
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

/**
 * Escapes what `escapeInvisible` escapes in a whole output, except colours and line ends, and on a
 * terminal movements of the cursor. Writes escapes of JSON, so that JSON keeps its values.
 */
export function escapeStray(text: string, onTerminal: boolean): string {
  return text.replace(onTerminal ? strayOnTerminal : strayInLog, (found, own?: string) =>
    own === undefined ? found.split('').map(escapeUnit).join('') : found,
  )
}

/** Escapes each line of a text; line ends stay. */
export function escapeInvisibleInLines(text: string): string {
  return text.split(/\r?\n/).map(escapeInvisible).join('\n')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
