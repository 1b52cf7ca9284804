/** Maximum number of encodings around each other that are undone. */
const maxRounds = 3
/** Minimum length of a run of hex digits or base64 characters that is decoded. */
const minRun = 11
/** Minimum length of a text that may have a secret. */
const minText = 4

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}

/**
 * Lists what a text may mean: as it is; without JSON escapes, XML references and percent-encoding;
 * and its hex digits, base64 and lists of bytes decoded; up to three encodings around each other.
 */
export function listReadings(text: string): string[] {
  const readings = new Set([text])
  const decoded: string[] = []
  let last = [text]
  for (let round = 0; last.length > 0; round++) {
    const found = last.flatMap(decodeBytes)
    for (const bytes of found) decoded.push(bytes)
    if (round === maxRounds) break
    const unescaped = last.map((each) => decodeReferences(decodeEscapes(decodePercent(each))))
    last = [...new Set([...unescaped, ...found.map(findPrintable)])].filter(
      (each) => each.length >= minText && !readings.has(each),
    )
    for (const reading of last) readings.add(reading)
  }
  return [...readings, ...decoded]
}

/**
 * Tests whether a text contains one of these values in any letter case and encoding.
 *
 * @param minLength minimum length of a value; a shorter one may be a part of any name
 */
export function holdsValue(text: string, values: Iterable<string>, minLength: number): boolean {
  return createHoldTest(text)(values, minLength)
}

/** Creates the test of {@link holdsValue} for a text; it is read when a value is long enough. */
export function createHoldTest(text: string): (values: Iterable<string>, min: number) => boolean {
  let readings: string[] | null = null
  return (values, min) => {
    for (const value of values) {
      if (value.length < min) continue
      readings ??= listReadings(text.replace(/^[a-z][a-z\d+.-]*:\/\//i, '')).map((reading) =>
        reading.toLowerCase(),
      )
      const lower = value.toLowerCase()
      if (readings.some((reading) => reading.includes(lower))) return true
    }
    return false
  }
}

/** Decodes the runs of a text that may be bytes in another encoding. */
function decodeBytes(text: string): string[] {
  const digits = text.replace(/0x|[^0-9a-f]+/gi, '')
  const base64 = text.replace(/[^\w+/-]+/g, '')
  return [
    ...decodeRuns(digits, /[0-9a-f]{16,}/gi, 'hex', 2),
    ...decodeRuns(base64, /[\w+/-]{11,}/g, 'base64', 4),
    ...(text.match(/\d{1,3}(?:[\s,;]+\d{1,3}){7,}/g) ?? []).map((list) =>
      Buffer.from(list.split(/[\s,;]+/).map(Number)).toString('utf8'),
    ),
  ]
}

/** Returns the parts of decoded bytes that may be a text, without the noise around them. */
function findPrintable(decoded: string): string {
  return (decoded.replaceAll('\0', '').match(/[\t\n\r -~]{11,}/g) ?? []).join('\n')
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
    .replace(/(?:\\[0-3][0-7]{2})+/g, (run) =>
      Buffer.from(run.split('\\').slice(1).map(parseOctal)).toString('utf8'),
    )
    .replace(/\\(["'\\/])/g, '$1')
}

function parseOctal(digits: string): number {
  return parseInt(digits, 8)
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
