/**
 * Lists the spellings that a text may have inside another one: plain, escaped for JSON (once or
 * twice), for URLs and forms, or as base64. Longest first, so that replacing one leaves no part of
 * another.
 */
export function listSpellings(text: string): string[] {
  const json = escapeJson(text)
  const bytes = Buffer.from(text)
  const url = encodeURIComponent(bytes.toString())
  const form = url.replaceAll('%20', '+')
  const base64 = [0, 1, 2]
    .map((before) => encodeWithin(bytes, before))
    .filter((part) => part.length >= minLength)
  return [
    ...new Set([
      text,
      json,
      escapeJson(json),
      url,
      form,
      lowerCaseEscapes(url),
      lowerCaseEscapes(form),
      ...base64,
      ...base64.map((part) => part.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ].toSorted((a, b) => b.length - a.length)
}

/** Minimum length of a base64 part; a shorter one may be a part of anything. */
const minLength = 6

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Percent escapes may be in lower case. */
function lowerCaseEscapes(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
}

/**
 * Encodes bytes as base64 at an offset within a group of three, without the characters that depend
 * on neighbouring bytes.
 */
function encodeWithin(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/={1,2}$/, '')
  const start = before === 0 ? 0 : before + 1
  return text.slice(start, (before + bytes.length) % 3 === 0 ? undefined : -1)
}
