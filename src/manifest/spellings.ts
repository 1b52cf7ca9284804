/**
 * The spellings in which a text may stand within another one that somebody made of it: as it is,
 * escaped for JSON (once or twice), for URLs and forms, or as base64. Longest first, so that none
 * leaves a part of another behind.
 */
export function listSpellings(text: string): string[] {
  const json = escaped(text)
  const bytes = Buffer.from(text)
  const url = encodeURIComponent(bytes.toString())
  const form = url.replaceAll('%20', '+')
  const base64 = [0, 1, 2]
    .map((before) => withinBase64(bytes, before))
    .filter((part) => part.length >= shortest)
  return [
    ...new Set([
      text,
      json,
      escaped(json),
      url,
      form,
      lowerCased(url),
      lowerCased(form),
      ...base64,
      ...base64.map((part) => part.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ].toSorted((a, b) => b.length - a.length)
}

/** A text without a value, in whatever spelling. */
export function removeValue(text: string, value: string, instead: string): string {
  return listSpellings(value).reduce((clean, spelling) => clean.replaceAll(spelling, instead), text)
}

/** A shorter part of base64 may be a part of anything. */
const shortest = 6

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Percent escapes may have small letters. */
function lowerCased(url: string): string {
  return url.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())
}

/**
 * What base64 makes of bytes that begin so many bytes into a group of three, without what their
 * neighbours have a say in.
 */
function withinBase64(bytes: Buffer, before: number): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replace(/=+$/, '')
  const start = before === 0 ? 0 : before + 1
  return text.slice(start, (before + bytes.length) % 3 === 0 ? undefined : -1)
}
