/**
 * Characters that a text may hide or that control what shows it. Joiners are kept: emoji and
 * several scripts need them. The last four are letters without a glyph.
 */
export const unsafe = String.raw`[^\P{C}\u200c\u200d\p{Co}\p{Cn}]|[\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]`
/** Printable ASCII and line ends. Node matches it sooner than it compiles other patterns. */
export const plainText = /^[\n\x20-\x7e]*$/

/** Formats JSON with a line end; it hides nothing, as `escapeJson`. */
export function formatJson(value: unknown, indent?: number): string {
  return `${escapeJson(JSON.stringify(value, null, indent))}\n`
}

/** Escapes invisible characters of a text that is JSON; its value stays the same. */
export function escapeJson(json: string): string {
  // Outside of strings JSON has no such character but line ends and tabs.
  return plainText.test(json)
    ? json
    : json.replace(new RegExp(String.raw`(?![\n\t])(?:${unsafe})`, 'gu'), escapeUnits)
}

/** Escapes each unit of UTF-16 as in JSON. */
export function escapeUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}
