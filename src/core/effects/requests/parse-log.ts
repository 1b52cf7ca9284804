import { EdgewiseError } from '../../model/edgewise-error.ts'
import { createHash } from 'node:crypto'
import { pickDefined } from '../../model/json.ts'
import { parseAddress } from '../../trace/request.ts'
import { mergeEntries, type RequestEntry, type RequestFile } from './parse-requests.ts'

/** How a log is read. */
export interface LogOptions {
  /** Scheme and host of targets that have none, such as `https://www.example.com`. */
  base?: string
  /** Greatest number of lines that are read. */
  sample?: number
}

/** The requests of a log, and how many lines it has. */
export interface LogFile extends RequestFile {
  /** Lines that are not blank, whether they were read or not. */
  lines: number
}

/**
 * Reads a log in the combined format: `ip - user [time] "METHOD target HTTP/x" status size
 * "referer" "user-agent"`, perhaps with more behind it. `-` is an absent header. Status and size
 * are those of the answer that the client got, and are not used. Lines of another form, or
 * with bytes that are not UTF-8, are skipped.
 *
 * @throws EdgewiseError `usage` if there is no request
 */
export function readCombinedLog(text: string, name: string, options: LogOptions = {}): LogFile {
  let lines = 0
  for (const _ of text.matchAll(filled))
    if (++lines > maxLines)
      throw new EdgewiseError('usage', `${name} has more than ${maxLines} lines`, 'Split it.')
  const { sample = lines, base } = options
  const chosen = sample < lines ? new Set(chooseEvenly(lines, sample)) : null
  return { ...mergeEntries(parseLines(text, chosen, name, base), name), lines }
}

/** Lines that are read in seconds. */
const maxLines = 5_000_000
/** A line that is not blank. */
const filled = /\S[^\n]*/g

function* parseLines(
  text: string,
  chosen: ReadonlySet<number> | null,
  name: string,
  base: string | undefined,
): Iterable<RequestEntry> {
  let position = 0
  for (const [line] of text.matchAll(filled))
    if (chosen?.has(position++) !== false) yield parseCombined(line, name, base)
}

/**
 * Chooses entries that stand for all: the list is cut into `count` stretches of equal length, and
 * of each stretch one entry is taken, its place by a hash of the stretch's number. So all parts of
 * the list count alike, a rhythm in it does not show, and equal lists give equal choices.
 */
export function sampleEvenly<T>(list: readonly T[], count: number): readonly T[] {
  if (count >= list.length) return list
  const chosen = new Set(chooseEvenly(list.length, count))
  return list.filter((_, position) => chosen.has(position))
}

function chooseEvenly(length: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const [start = 0, end = 0] = [i, i + 1].map((n) => Math.floor((n * length) / count))
    const hash = createHash('sha256').update(String(i)).digest().readUInt32BE(0)
    return start + (hash % (end - start))
  })
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const timeForm = /^(\d\d)\/([A-Z][a-z][a-z])\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/

function parseCombined(line: string, name: string, base: string | undefined): RequestEntry {
  const fault = { place: name, fault: 'expected a line of the combined log format' }
  const [ip = ''] = line.split(' ', 1)
  const open = line.indexOf('[')
  const close = line.indexOf(']', open)
  const [target, referer, agent] = readQuoted(line, close)
  const [, method, url = ''] = /^([!-~]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(target ?? '') ?? []
  const address = parseAddress(ip)
  const at = readTime(line.slice(open + 1, close))
  const isComplete = referer !== undefined && agent !== undefined && method !== undefined
  // The decoder has replaced bytes that are not UTF-8.
  if (/[\0\uFFFD]/.test(line) || address === null || at === null || !isComplete) return fault
  const isWhole = /^https?:\/\//i.test(url)
  if (!isWhole && (base === undefined || !url.startsWith('/'))) return fault
  return {
    place: name,
    request: pickDefined({
      url: isWhole ? url : `${base?.replace(/\/$/, '')}${url}`,
      method: method.toUpperCase(),
      headers: { referer: readHeader(referer), 'user-agent': readHeader(agent) },
      ip: address,
      at,
    }),
    count: 1,
  }
}

/** Reads the texts in quotes after a place; a backslash takes the next character, or `xHH`. */
function readQuoted(line: string, from: number): string[] {
  const texts: string[] = []
  let open: number | null = null
  for (let i = Math.max(from, 0); i < line.length; i++) {
    if (line[i] === '\\' && open !== null) i++
    else if (line[i] === '"' && open === null) open = i + 1
    else if (line[i] === '"') {
      texts.push(unescape(line.slice(open ?? 0, i)))
      open = null
    }
  }
  return texts
}

function unescape(text: string): string {
  return text.replace(/\\(?:x([0-9A-Fa-f]{2})|(.))/g, (_, hex?: string, char = '') =>
    hex === undefined ? String(char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

function readHeader(text: string): string | null {
  return text === '-' ? null : text
}

/** Reads `10/Oct/2000:13:55:36 -0700` as Unix seconds; null for other text. */
function readTime(text: string): number | null {
  const [, day, month = '', year, clock, hours, minutes] = timeForm.exec(text) ?? []
  const number = String(months.indexOf(month) + 1).padStart(2, '0')
  const ms = Date.parse(`${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  return Number.isNaN(ms) ? null : ms / 1000
}
