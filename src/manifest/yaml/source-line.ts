import { catalogue } from '../../core/catalog/catalogue.ts'
import { maskCredentials } from '../../core/catalog/header-credentials.ts'
import { listParts, type ItemSchema } from '../../core/catalog/value/item-schema.ts'
import type { Place } from '../../core/model/problem.ts'
import type { SourceFile } from './yaml-file.ts'

/**
 * Creates a lookup of source lines for messages. The text after the name of a secret field is
 * masked unless it is a reference. Works on the text alone, so invalid YAML is covered as well.
 */
export function createSourceLineLookup(
  listFiles: () => SourceFile[],
): (place: Place) => string | null {
  let texts: Map<string, string> | undefined
  let recent: { file: string; lines: string[] } | null = null
  // A line may be as long as its file, and have all problems of it.
  let masked: { file: string; line: number; text: string } | null = null
  return (place) => {
    if (masked?.file === place.file && masked.line === place.line) return masked.text
    texts ??= new Map(listFiles().map((file) => [file.path, file.text]))
    const text = texts.get(place.file)
    if (text === undefined) return null
    if (recent?.file !== place.file) recent = { file: place.file, lines: text.split('\n') }
    const line = recent.lines[place.line - 1]?.replace(/\r$/, '')
    if (line === undefined) return null
    const isHidden = belongsToSecret(line, recent.lines, place.line - 1)
    masked = { ...place, text: isHidden ? maskText(line) : maskCredentials(maskSecrets(line)) }
    return masked.text
  }
}

/** Maximum number of lines that are searched for a secret field above a line. */
const maxAbove = 10_000

/**
 * Tests whether a line continues the value of a secret field above it, or may do so: the search
 * ends after many lines.
 *
 * @param index of the line
 */
function belongsToSecret(line: string, lines: string[], index: number): boolean {
  let indent = measureIndent(line)
  let isPrevious = true
  for (let at = index - 1; at >= 0; at--) {
    if (at < index - maxAbove) return true
    const each = lines[at] ?? ''
    if (!/^\s*[^\s#]/.test(each)) continue
    if (isPrevious && isOpenField(each, true)) return true
    isPrevious = false
    if (indent === 0) return false
    if (measureIndent(each) >= indent) continue
    if (isOpenField(each, false)) return true
    indent = measureIndent(each)
  }
  return false
}

function maskSecrets(line: string): string {
  for (const match of line.matchAll(getSecretPattern())) {
    const start = match.index + match[0].length
    if (!isReference(line.slice(start))) return line.slice(0, start) + maskText(line.slice(start))
  }
  return line
}

function measureIndent(line: string): number {
  return line.length - line.trimStart().length
}

/**
 * Tests whether a line has the name of a secret field whose value may be below.
 *
 * @param isEmpty whether nothing may follow the name; else anything but a mapping, a list and a
 * reference
 */
function isOpenField(line: string, isEmpty: boolean): boolean {
  const text = line.replace(/(^|\s)#[^]*$/, '')
  return [...text.matchAll(getSecretPattern())].some(({ index, 0: name }) => {
    const rest = text.slice(index + name.length)
    return isEmpty ? rest === '' : !/^[{[]/.test(rest) && !isReference(rest)
  })
}

function isReference(text: string): boolean {
  return /^["']?\$\{/.test(text)
}

function maskText(text: string): string {
  return isReference(text.trimStart()) ? text : text.replaceAll(/\S/g, '*')
}

let pattern: RegExp | undefined
function getSecretPattern(): RegExp {
  if (pattern !== undefined) return pattern
  const holders = [...catalogue.values()].filter((spec) => listSecretNames(spec.schema).length > 0)
  const names = new Set(['token', ...holders.flatMap((spec) => listSecretNames(spec.schema))])
  // If an item that should have secret fields is text or a list of text instead, that text may be
  // the secret.
  const whole = holders.map(
    (spec) => `${spec.key}["']?\\s*:(?!\\s*(?:$|[{&*#|>]|\\[\\s*(?:\\{|$)))`,
  )
  pattern = new RegExp(
    `(?<![\\w-])["']?(?:(?:${[...names].join('|')})["']?\\s*:|${whole.join('|')})\\s*`,
    'g',
  )
  return pattern
}

function listSecretNames(schema: ItemSchema): string[] {
  const own = Object.entries(schema.properties ?? {}).filter(([, { writeOnly }]) => writeOnly)
  return [...own.map(([name]) => name), ...listParts(schema).flatMap(listSecretNames)]
}
