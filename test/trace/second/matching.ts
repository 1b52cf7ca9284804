import { parseCore } from './core-regex.ts'
import { findSecret, splitList } from './items.ts'
import { known, some, bind, unknown, yes, type Cond, type Result } from './result.ts'
import { isPlain, readSubject, type Source, type SubjectKind } from './subjects.ts'
import type { World } from './trace.ts'

/** Regexes that match every subject, known or not. */
const always = ['.*', '^.*', '.*$', '^.*$', '(.*)', '^(.*)$']

/** A text field, in whose place a secret may stand. */
export function readText(world: World, text: unknown): Result<string> {
  const secret = findSecret(text)
  if (secret === null) return known(String(text))
  const value = world.facts.secrets.get(secret)
  return value === undefined ? unknown(`not-given secret:${secret}`) : known(value)
}

/** Puts ASCII letters into lower case. */
export function lower(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Whether a match without a field for it is without regard to case. */
export function isInsensitive(world: World): boolean {
  return world.is('R6', 'insensitive')
}

/** A regex and how it is matched. */
export interface RegexUse {
  pattern: string
  ci: boolean
  /** ITEM/POINTER of the regex. */
  where: string
  /** `search`, or what R4 says. */
  extent: 'search' | 'R4'
}

/** Builds the regex for a match; null if it is undecidable. */
export function compile(
  world: World,
  { pattern, ci, extent }: RegexUse,
  subject: string,
): RegExp | null {
  if (!isPlain(subject)) return null
  if (parseCore(pattern) === null && world.is('R1', 'core')) return null
  const text = extent === 'R4' && world.is('R4', 'whole') ? `^(?:${pattern})$` : pattern
  try {
    // The pattern by itself must be valid too.
    new RegExp(pattern)
    return new RegExp(text, ci ? 'i' : '')
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Whether a regex matches every subject. */
export function matchesAll(pattern: string): boolean {
  return always.includes(pattern)
}

export function matchRegex(world: World, use: RegexUse, subject: Result<string>): Cond {
  if (matchesAll(use.pattern)) return yes
  return bind(subject, (text) => {
    const regex = compile(world, use, text)
    return regex === null ? unknown(`undecidable ${use.where}`) : known(regex.test(text))
  })
}

/** The subject of a regex on URLs, where none is stated. */
export function readRegexSubject(world: World, source: Source, where: string): Result<string> {
  return readSubject(world, source, world.reading('R5') as SubjectKind, `undecidable ${where}`)
}

export type PatternKind = 'ext' | 'dir' | 'route' | 'regex' | 'all'

/** A pattern on URLs and how it is matched. */
export interface PatternUse {
  kind: PatternKind
  pattern: unknown
  ci: boolean
  where: string
  source: Source
  /** The subject of a regex if it is stated. */
  regexSubject?: SubjectKind
}

/** Matches a pattern by its kind (request semantics, 3.1). */
export function matchPattern(world: World, use: PatternUse): Cond {
  const { kind, ci, where, source, regexSubject } = use
  if (kind === 'all') return yes
  return bind(readText(world, use.pattern), (pattern) => {
    if (kind === 'regex') {
      const regex: RegexUse = { pattern, ci, where, extent: 'R4' }
      const subject =
        regexSubject === undefined
          ? readRegexSubject(world, source, where)
          : readSubject(world, source, regexSubject, `undecidable ${where}`)
      return matchRegex(world, regex, subject)
    }
    const entries = splitList(pattern).map((entry) => (ci ? lower(entry) : entry))
    return some(...entries.map((entry) => () => matchEntry(world, { ...use, kind }, entry)))
  })
}

function matchEntry(
  world: World,
  { kind, ci, where, source }: PatternUse & { kind: 'ext' | 'dir' | 'route' },
  entry: string,
): Cond {
  const subjectKind = kind !== 'dir' && world.is('R7', 'path-and-query') ? 'path-and-query' : 'path'
  const subject = readSubject(world, source, subjectKind, `undecidable ${where}`)
  return bind(subject, (raw) => {
    const text = ci ? lower(raw) : raw
    if (kind === 'ext') return known(matchSuffix(world, entry.replace(/^\./, ''), text))
    return known(
      kind === 'dir' ? matchDirectory(world, entry, text) : matchRoute(world, entry, text),
    )
  })
}

function matchSuffix(world: World, suffix: string, text: string): boolean {
  const file = text.slice(text.lastIndexOf('/') + 1)
  if (world.is('R12', 'ends-with')) return file.endsWith(`.${suffix}`)
  const dot = file.lastIndexOf('.')
  return dot >= 0 && file.slice(dot + 1) === suffix
}

/** The entry with a leading `/`; null if it matches nothing without one. */
function addSlash(world: World, entry: string): string | null {
  if (entry.startsWith('/')) return entry
  return world.is('R9', 'root') ? `/${entry}` : null
}

/** The source of a regex for text in which `*` stands for other text. */
function translateStars(world: World, text: string): string {
  const parts = text.split('*').map((part) => part.replace(/[\\^$.|?+()[\]{}/-]/g, '\\$&'))
  return parts.length === 1 ? parts.join('') : parts.join(world.is('R8', 'any') ? '.*' : '[^/]*')
}

function matchDirectory(world: World, entry: string, text: string): boolean {
  const rooted = addSlash(world, entry)
  if (rooted === null) return false
  const isClosed = rooted.endsWith('/')
  const start = !isClosed && world.is('R10', 'segment') ? `${rooted}/` : rooted
  const rest = world.is('R11', 'recursive') ? '.*' : '[^/]*'
  return new RegExp(`^${translateStars(world, start)}${rest}$`, 's').test(text)
}

function matchRoute(world: World, entry: string, text: string): boolean {
  const rooted = addSlash(world, entry)
  return rooted !== null && new RegExp(`^${translateStars(world, rooted)}$`, 's').test(text)
}

/** Matches an entry for texts, with `^` and `$` (request semantics, 3.1, "text"). */
export function matchText(world: World, entry: string, subject: string, ci: boolean): boolean {
  const [text, whole] = ci ? [lower(entry), lower(subject)] : [entry, subject]
  const [atStart, atEnd] = [text.startsWith('^'), text.endsWith('$')]
  if (atStart && atEnd) return whole === text.slice(1, -1)
  if ((atStart || atEnd) && world.is('R22', 'anchor'))
    return atStart ? whole.startsWith(text.slice(1)) : whole.endsWith(text.slice(0, -1))
  return whole.includes(text)
}
