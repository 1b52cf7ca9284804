/** Maximum number of encodings around each other that are undone. */
const maxRounds = 3
/** Minimum length of a run of hex digits or base64 characters that is decoded. */
const minRun = 11

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/**
 * Lists what a text may mean: as it is; without JSON escapes, XML references and percent-encoding,
 * several times over; and its runs of hex digits and base64 decoded.
 */
export function listReadings(text: string): string[] {
  const unescaped = [text]
  for (let last = text; unescaped.length <= maxRounds;) {
    const next = decodeReferences(decodeEscapes(decodePercent(last)))
    if (next === last) break
    unescaped.push(next)
    last = next
  }
  return unescaped.flatMap((reading) => [
    reading,
    ...decodeRuns(reading.replace(/[^0-9a-f]+/gi, ''), /[0-9a-f]{16,}/gi, 'hex', 2),
    ...decodeRuns(reading.replace(/\s+/g, ''), /[\w+/-]{11,}/g, 'base64', 4),
  ])
}

/** Decodes the runs of characters of an encoding, from each place at which a group may begin. */
function decodeRuns(
  text: string,
  pattern: RegExp,
  encoding: 'hex' | 'base64',
  group: number,
): string[] {
  if (text.length < minRun) return []
  return (text.match(pattern) ?? []).flatMap((run) =>
    Array.from({ length: group }, (_, i) => Buffer.from(run.slice(i), encoding).toString('utf8')),
  )
}

/** Undoes percent-encoding wherever it is well-formed. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .replace(/\\u\{?([0-9a-f]{1,6})\}?/gi, (_, code: string) =>
      decodeCodePoint(parseInt(code.slice(0, 4), 16)),
    )
    .replace(/\\x([0-9a-f]{2})/gi, (_, code: string) => decodeCodePoint(parseInt(code, 16)))
    .replace(/\\(["'\\/])/g, '$1')
}

function decodeReferences(text: string): string {
  if (!text.includes('&')) return text
  return text
    .replace(/&#x([0-9a-f]{1,6});?/gi, (_, code: string) => decodeCodePoint(parseInt(code, 16)))
    .replace(/&#(\d{1,7});?/g, (_, code: string) => decodeCodePoint(Number(code)))
    .replace(/&([a-z]+);/g, (whole, name: string) =>
      Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole,
    )
}

function decodeCodePoint(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
