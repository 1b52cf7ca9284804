import { map, Unknown, type Answer } from '../answer.ts'
import { compileExpression, findMatch } from '../regex/machine.ts'
import { escapePattern, parsePattern } from '../regex/syntax.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain } from '../secret-text.ts'
import type { Run } from '../run.ts'
import { formatAuthority, type Forms, type RequestUrl, type Subjects } from '../url.ts'
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

/** A compiled pattern for URLs: one text, as each kind reads it. */
export interface UrlPattern {
  kind: PatternKind
  place: string
  /** Why it is unknown: it is a secret. */
  unknown: Unknown | null
  suffixes: Suffixes
  paths: string[]
  regex: Regex
}

interface Suffixes {
  plain: ReadonlySet<string>
  lower: ReadonlySet<string>
  /** Those with a dot in them. */
  dotted: string[]
}

/**
 * Compiles a pattern (request semantics, 3.1).
 *
 * @param place item and pointer, for reasons
 */
export function compilePattern(kind: PatternKind, text: Text, place: string): UrlPattern {
  const entries = typeof text === 'string' ? text.split(',').map((entry) => entry.trim()) : []
  const suffixes = entries.map((entry) => entry.replace(/^\./, ''))
  const plain = readPlain(text)
  return {
    kind,
    place,
    unknown: plain instanceof Unknown ? plain : null,
    suffixes: {
      plain: new Set(suffixes),
      lower: new Set(suffixes.map((entry) => fold(entry, true))),
      dotted: suffixes.filter((entry) => entry.includes('.')),
    },
    paths: entries,
    regex: new Regex(text, place),
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
    const seen = sees === 'R5' ? run.reading('R5') : wholes[sees]
    const isWhole = seen === 'whole-url' && full !== null
    const shown = withPort ? url : { ...url, port: null }
    const text = seen === 'path' ? path : isWhole ? formatAuthority(shown) + full : full
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
  entry: string,
  path: string,
  folds: boolean,
  isDirectory: boolean,
): boolean {
  const rooted = fold(entry.startsWith('/') ? entry : `/${entry}`, folds)
  const given = fold(path, folds)
  const star = rooted.indexOf('*')
  if (!given.startsWith(star < 0 ? rooted : rooted.slice(0, star))) return false
  if (!entry.startsWith('/') && run.reading('R9') === 'never') return false
  if (!isDirectory && star < 0) return given === rooted
  const closes = isDirectory && !rooted.endsWith('/') && run.reading('R10') === 'segment'
  const wanted = closes ? `${rooted}/` : rooted
  const isDeep = isDirectory && run.reading('R11') === 'recursive'
  return star < 0
    ? given.startsWith(wanted) && (isDeep || !given.includes('/', wanted.length))
    : matchGlob(writeGlob(wanted, run.reading('R8'), isDirectory ? isDeep : null), given)
}

/**
 * Writes an entry with `*` as an expression for whole texts.
 *
 * @param isDeep whether any text may follow, or one without a slash; null for none
 */
export function writeGlob(entry: string, star: string, isDeep: boolean | null): string {
  const [within, any] = ['[^/]*', '.*']
  const parts = entry.split('*').map(escapePattern)
  const end = isDeep === null ? '' : isDeep ? any : within
  return parts.join(star === 'any' ? any : within) + end
}

function matchGlob(glob: string, text: string): boolean {
  const expression = parsePattern(glob)
  return (
    expression !== null &&
    findMatch(compileExpression(expression, false, false), text, true) !== null
  )
}
