import { map, Unknown, type Answer } from '../answer.ts'
import { compileProgram, testMatch, type Program } from '../regex/machine.ts'
import { anyChar, oneChar, type CharSet, type Node } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import type { Run } from '../run.ts'
import { formatAuthority, isPrintable, type Forms, type RequestUrl, type Subjects } from '../url.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import { fold, ignoresCase, type CaseRule } from './case.ts'
import { matchRegex, Regex, type Extent } from './regex.ts'

/** A URL that patterns see. */
export interface Subject {
  url: RequestUrl
  forms: Forms
}

/** How the pattern of a rule is read: suffixes, directories, full paths, one expression, all. */
export type PatternKind = 'ext' | 'dir' | 'route' | 'regex' | 'all'

/** The text that a regular expression sees: the whole URL, path and query, or what R5 says. */
export type RegexSubject = 'W' | 'Q' | 'R5'

/** A compiled pattern for URLs. */
export interface UrlPattern {
  kind: PatternKind
  place: string
  /** Why it is unknown: it is a secret. */
  unknown: Unknown | null
  suffixes: Suffixes
  paths: PathEntry[]
  regex: Regex
}

interface Suffixes {
  plain: ReadonlySet<string>
  lower: ReadonlySet<string>
  /** Those with a dot in them. */
  dotted: string[]
}

/** An entry of directories or full paths; `programs`: of one with `*`, by what `*` matches. */
interface PathEntry {
  text: string
  hasStar: boolean
  programs: Map<string, Program>
}

/**
 * Compiles a pattern (request semantics, 3.1).
 *
 * @param place item and pointer, for reasons
 */
export function compilePattern(kind: PatternKind, text: Text, place: string): UrlPattern {
  const entries = typeof text === 'string' ? text.split(',').map((entry) => entry.trim()) : []
  const regex = new Regex(kind === 'regex' ? text : '', place)
  const plain = readPlain(text)
  const suffixes = kind === 'ext' ? entries.map((entry) => entry.replace(/^\./, '')) : []
  const paths = kind === 'dir' || kind === 'route' ? entries : []
  return {
    kind,
    place,
    unknown: plain instanceof Unknown ? plain : null,
    suffixes: {
      plain: new Set(suffixes),
      lower: new Set(suffixes.map((entry) => fold(entry, true))),
      dotted: suffixes.filter((entry) => entry.includes('.')),
    },
    paths: paths.map((entry) => ({
      text: entry,
      hasStar: entry.includes('*'),
      programs: new Map(),
    })),
    regex,
  }
}

/** Tests whether a URL matches a pattern. */
export function matchUrl(
  run: Run,
  pattern: UrlPattern,
  subject: Answer<Subject>,
  rule: CaseRule,
  sees: RegexSubject = 'R5',
): Answer<boolean> {
  if (pattern.kind === 'all') return true
  if (pattern.unknown !== null) return pattern.unknown
  if (pattern.kind === 'regex') return matchUrlRegex(run, pattern.regex, subject, rule, sees)
  return map(subject, ({ forms }) => {
    const { path, full } = chooseForm(run, forms)
    const isPath = pattern.kind === 'dir' || path === full || run.reading('R7') === 'path'
    const seen = isPath ? path : full
    if (seen === null) return Unknown.of(`undecidable ${pattern.place}`)
    const folds = ignoresCase(run, rule)
    return pattern.kind === 'ext'
      ? matchSuffix(run, pattern.suffixes, seen, folds)
      : pattern.paths.some((entry) => matchPath(run, entry, seen, folds, pattern.kind === 'dir'))
  })
}

/**
 * Tests whether a regular expression matches a URL.
 *
 * @param withPort whether the whole URL has the port
 */
export function matchUrlRegex(
  run: Run,
  regex: Regex,
  subject: Answer<Subject>,
  rule: CaseRule,
  sees: RegexSubject = 'R5',
  withPort = true,
  extent: Extent = 'R4',
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  return map(subject, ({ url, forms }) => {
    const { path, full } = chooseForm(run, forms)
    const authority = formatAuthority(withPort ? url : { ...url, port: null })
    const isPlain = full !== null && (forms.areEqual || isPrintable(full))
    if (isPlain && regex.excludes(lowerAscii(authority + full))) return false
    const seen = sees === 'R5' ? run.reading('R5') : wholes[sees]
    const text =
      seen === 'path' ? path : seen === 'whole-url' && full !== null ? authority + full : full
    return matchRegex(run, regex, text, ignoresCase(run, rule), extent)
  })
}

const wholes = { W: 'whole-url', Q: 'path-and-query' }

/** Path and query in the form that patterns see (R2). */
export function chooseForm(run: Run, forms: Forms): Subjects {
  if (forms.areEqual) return forms.sent
  const form = run.reading('R2')
  return form === 'normalised' ? forms.normalised : form === 'decoded' ? forms.decoded : forms.sent
}

function matchSuffix(
  run: Run,
  { plain, lower, dotted }: Suffixes,
  seen: string,
  folds: boolean,
): boolean {
  const file = fold(seen.slice(seen.lastIndexOf('/') + 1), folds)
  const dot = file.lastIndexOf('.')
  if (dot < 0) return false
  if ((folds ? lower : plain).has(file.slice(dot + 1))) return true
  const ends = dotted.some((entry) => file.endsWith(`.${fold(entry, folds)}`))
  return ends && run.reading('R12') === 'ends-with'
}

/** Tests an entry of directories, below which anything may follow, or of full paths. */
function matchPath(
  run: Run,
  entry: PathEntry,
  path: string,
  folds: boolean,
  isDirectory: boolean,
): boolean {
  const { text, hasStar } = entry
  const tail = isDirectory ? 'recursive' : ''
  const rooted = text.startsWith('/') ? text : `/${text}`
  if (!testPath(entry, rooted, path, folds, 'any', tail)) return false
  if (!text.startsWith('/') && run.reading('R9') === 'never') return false
  const star = hasStar ? run.reading('R8') : 'any'
  if (!isDirectory) return testPath(entry, rooted, path, folds, star, '')
  const closes = !rooted.endsWith('/') && run.reading('R10') === 'segment'
  return testPath(entry, closes ? `${rooted}/` : rooted, path, folds, star, run.reading('R11'))
}

function testPath(
  entry: PathEntry,
  text: string,
  path: string,
  folds: boolean,
  star: string,
  tail: string,
): boolean {
  if (entry.hasStar) return testStars(entry, text, path, folds, star, tail)
  const [wanted, given] = [fold(text, folds), fold(path, folds)]
  if (tail === '') return given === wanted
  if (!given.startsWith(wanted)) return false
  return tail === 'recursive' || !given.slice(wanted.length).includes('/')
}

function testStars(
  entry: PathEntry,
  text: string,
  path: string,
  folds: boolean,
  star: string,
  tail: string,
): boolean {
  const key = `${text} ${folds} ${star} ${tail}`
  let program = entry.programs.get(key)
  if (program === undefined) {
    const parts = text.split('*').map(parseLiteral)
    const between = repeatAny(star === 'any' ? anyChar : noSlash)
    const after = tail === '' ? [] : [repeatAny(tail === 'recursive' ? anyChar : noSlash)]
    const of = parts.flatMap((part, i) => (i === 0 ? part : [between, ...part]))
    program = compileProgram({ kind: 'sequence', of: [...of, ...after] }, 0, folds)
    entry.programs.set(key, program)
  }
  return testMatch(program, path, true)
}

/** Every character but a slash. */
export const noSlash: CharSet = {
  ascii: Uint8Array.from({ length: 128 }, (_, i) => Number(i !== 47)),
  others: true,
}

/** Repeats characters any number of times. */
export function repeatAny(chars: CharSet): Node {
  const of: Node = { kind: 'char', chars }
  return { kind: 'repeat', of, min: 0, max: Number.POSITIVE_INFINITY, isLazy: false }
}

/** The characters of a text; one beyond ASCII never stands in a path as sent. */
export function parseLiteral(text: string): Node[] {
  return Array.from(text, (char) => ({ kind: 'char', chars: oneChar(char) }))
}
