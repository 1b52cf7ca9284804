import { isSameAnswer, map, some, Unknown, type Answer } from '../answer.ts'
import type { Evaluation } from '../evaluation.ts'
import { compileProgram, testMatch, type Program } from '../regex/machine.ts'
import { anyChar, oneChar, type CharSet, type Node } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import { formatAuthority, type Forms, type RequestUrl } from '../url.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import { byCase, fold, type CaseRule } from './case.ts'
import { matchRegex, Regex } from './regex.ts'

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
  e: Evaluation,
  pattern: UrlPattern,
  subject: Answer<Subject>,
  rule: CaseRule,
  sees: RegexSubject = 'R5',
): Answer<boolean> {
  if (pattern.kind === 'all') return true
  if (pattern.unknown !== null) return pattern.unknown
  if (pattern.kind === 'regex' && pattern.regex.matchesAll) return true
  return map(subject, (known) => {
    switch (pattern.kind) {
      case 'regex':
        return matchUrlRegex(e, pattern.regex, known, rule, sees)
      case 'ext':
        return matchSuffix(e, pattern, known, rule)
      case 'dir':
        return matchDirectory(e, pattern, known, rule)
      default:
        return matchRoute(e, pattern, known, rule)
    }
  })
}

/**
 * Tests whether a regular expression matches a URL.
 *
 * @param withPort whether the whole URL has the port
 */
export function matchUrlRegex(
  e: Evaluation,
  regex: Regex,
  subject: Answer<Subject>,
  rule: CaseRule,
  sees: RegexSubject = 'R5',
  withPort = true,
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  return map(subject, ({ url, forms }) => {
    const { path, full } = chooseForm(e, forms)
    const from = withPort ? url : noPort(url)
    if (full !== null && regex.excludes(lowerAscii(formatAuthority(from) + full))) return false
    const text = sees === 'Q' ? full : seeWhole(e, sees, from, path, full)
    return byCase(e, rule, (ignoresCase) => matchRegex(e, regex, text, ignoresCase, 'R4'))
  })
}

function noPort(url: RequestUrl): RequestUrl {
  return { ...url, port: null }
}

function seeWhole(
  e: Evaluation,
  sees: 'W' | 'R5',
  url: RequestUrl,
  path: string | null,
  full: string | null,
): string | null {
  const seen = sees === 'W' ? 'whole-url' : e.reading('R5')
  if (seen === 'path') return path
  if (seen === 'path-and-query' || full === null) return full
  return formatAuthority(url) + full
}

/** Path and query in the form that patterns see (R2). */
export function chooseForm(e: Evaluation, forms: Forms): Forms['sent'] {
  if (forms.areEqual) return forms.sent
  const form = e.reading('R2')
  return form === 'normalised' ? forms.normalised : form === 'decoded' ? forms.decoded : forms.sent
}

/** Tests the path, or path and query by R7, where it makes a difference. */
function byQuery(
  e: Evaluation,
  { place }: UrlPattern,
  { url, forms }: Subject,
  test: (seen: string) => Answer<boolean>,
): Answer<boolean> {
  const { path, full } = chooseForm(e, forms)
  const see = (text: string | null) =>
    text === null ? Unknown.of(`undecidable ${place}`) : test(text)
  const alone = see(path)
  if (url.query === null || path === full) return alone
  const withQuery = see(full)
  return isSameAnswer(alone, withQuery) || e.reading('R7') === 'path' ? alone : withQuery
}

function matchSuffix(
  e: Evaluation,
  pattern: UrlPattern,
  subject: Subject,
  rule: CaseRule,
): Answer<boolean> {
  const { plain, lower, dotted } = pattern.suffixes
  return byQuery(e, pattern, subject, (seen) => {
    const file = seen.slice(seen.lastIndexOf('/') + 1)
    const dot = file.lastIndexOf('.')
    if (dot < 0) return false
    return byCase(e, rule, (ignoresCase) => {
      const suffix = fold(file.slice(dot + 1), ignoresCase)
      if ((ignoresCase ? lower : plain).has(suffix)) return true
      if (dotted.length === 0) return false
      const name = fold(file, ignoresCase)
      const ends = dotted.some((entry) => name.endsWith(`.${fold(entry, ignoresCase)}`))
      return ends && e.reading('R12') === 'ends-with'
    })
  })
}

function matchDirectory(
  e: Evaluation,
  pattern: UrlPattern,
  { forms }: Subject,
  rule: CaseRule,
): Answer<boolean> {
  const { path } = chooseForm(e, forms)
  if (path === null) return Unknown.of(`undecidable ${pattern.place}`)
  return byCase(e, rule, (ignoresCase) =>
    some(pattern.paths, (entry) => {
      const test = (star: string, isRooted: boolean, isPrefix: boolean, tail: string) =>
        testPath(entry, path, ignoresCase, star, isRooted, isPrefix, tail)
      if (!test('any', true, true, 'recursive')) return false
      const isRooted = entry.text.startsWith('/') || e.reading('R9') === 'root'
      const isPrefix = entry.text.endsWith('/') || e.reading('R10') === 'prefix'
      const star = entry.hasStar ? e.reading('R8') : 'any'
      return (
        test(star, isRooted, isPrefix, 'direct') ||
        (test(star, isRooted, isPrefix, 'recursive') && e.reading('R11') === 'recursive')
      )
    }),
  )
}

function matchRoute(
  e: Evaluation,
  pattern: UrlPattern,
  subject: Subject,
  rule: CaseRule,
): Answer<boolean> {
  return byQuery(e, pattern, subject, (seen) =>
    byCase(e, rule, (ignoresCase) =>
      some(pattern.paths, (entry) => {
        if (!testPath(entry, seen, ignoresCase, 'any', true, true, '')) return false
        const isRooted = entry.text.startsWith('/') || e.reading('R9') === 'root'
        const star = entry.hasStar ? e.reading('R8') : 'any'
        return testPath(entry, seen, ignoresCase, star, isRooted, true, '')
      }),
    ),
  )
}

/** Tests an entry of directories (`tail`: what may follow) or full paths (an empty `tail`). */
function testPath(
  entry: PathEntry,
  path: string,
  ignoresCase: boolean,
  star: string,
  isRooted: boolean,
  isPrefix: boolean,
  tail: string,
): boolean {
  const hasRoot = entry.text.startsWith('/')
  if (!hasRoot && !isRooted) return false
  const begin = hasRoot ? entry.text : `/${entry.text}`
  const text = isPrefix || begin.endsWith('/') ? begin : `${begin}/`
  if (entry.hasStar) return testStars(entry, text, path, ignoresCase, star, tail)
  const [wanted, given] = [fold(text, ignoresCase), fold(path, ignoresCase)]
  if (tail === '') return given === wanted
  if (!given.startsWith(wanted)) return false
  return tail === 'recursive' || !given.slice(wanted.length).includes('/')
}

function testStars(
  entry: PathEntry,
  text: string,
  path: string,
  ignoresCase: boolean,
  star: string,
  tail: string,
): boolean {
  const key = `${text} ${ignoresCase} ${star} ${tail}`
  let program = entry.programs.get(key)
  if (program === undefined) {
    const parts = text.split('*').map(parseLiteral)
    const between = repeatAny(star === 'any' ? anyChar : noSlash)
    const after = tail === '' ? [] : [repeatAny(tail === 'recursive' ? anyChar : noSlash)]
    const of = parts.flatMap((part, i) => (i === 0 ? part : [between, ...part]))
    program = compileProgram({ kind: 'sequence', of: [...of, ...after] }, 0, ignoresCase)
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
