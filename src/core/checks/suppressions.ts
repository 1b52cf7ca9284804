import type { Diagnostic, DiagnosticCode, Place } from '../model/problem.ts'
import { type Levels, applyLevel, explainCode } from './levels.ts'

/** A comment in a manifest or profile that begins with `edgewise:`. */
export interface MarkedComment extends Place {
  /** Number of the YAML document within the file, from 0. */
  document: number
  /** Text after `edgewise:`, without blanks around it. */
  text: string
  /** Line that it is about, from 1: its own, or the first one below the comments; or null. */
  target: number | null
}

/** A finding that a comment allows, with the reason that the comment gives. */
export interface Suppressed {
  diagnostic: Diagnostic
  reason: string
}

/** Findings with their levels, and those that comments allow. */
export interface Judged {
  diagnostics: Diagnostic[]
  suppressed: Suppressed[]
}

/** A well-formed comment. */
interface Suppression {
  comment: MarkedComment
  code: string
  date: string
  reason: string
  isUsed: boolean
}

/** What findings are judged by. */
export interface Judging {
  levels: Levels
  comments: readonly MarkedComment[]
  /** Time, ms: a comment holds until the end of its day, UTC. */
  now: number
  /** Whether these are all findings, so that a comment without any is a finding itself. */
  isComplete: boolean
}

const form = '"# edgewise: allow CODE until YYYY-MM-DD: REASON"'

/**
 * Gives each finding its level, takes out those that a comment beside them allows, and adds
 * findings about comments that allow nothing. Errors are never allowed.
 */
export function judge(found: readonly Diagnostic[], judging: Judging): Judged {
  const { levels, comments, now, isComplete } = judging
  const own: Diagnostic[] = []
  const byPlace = new Map<string, Suppression>()
  const valid: Suppression[] = []
  for (const comment of comments) {
    const parsed = parseComment(comment, now)
    if ('severity' in parsed) own.push(parsed)
    else {
      valid.push(parsed)
      if (comment.target !== null)
        byPlace.set(formatKey(comment.file, comment.target, parsed.code), parsed)
    }
  }
  const suppressed: Suppressed[] = []
  const kept = found.filter((diagnostic) => {
    const allowed = findAllowing(diagnostic, byPlace)
    if (allowed === undefined) return true
    allowed.isUsed = true
    suppressed.push({ diagnostic, reason: allowed.reason })
    return false
  })
  // A document with an error lacks findings.
  if (isComplete && !found.some(({ severity }) => severity === 'error'))
    for (const { comment, code, isUsed } of valid)
      if (!isUsed) own.push(createUnused(comment, code))
  const diagnostics = [...kept, ...own].flatMap((each) => applyLevel(each, levels) ?? [])
  return { diagnostics, suppressed }
}

function findAllowing(
  diagnostic: Diagnostic,
  byPlace: ReadonlyMap<string, Suppression>,
): Suppression | undefined {
  if (diagnostic.severity === 'error' || byPlace.size === 0) return undefined
  return byPlace.get(formatKey(diagnostic.file, diagnostic.line, diagnostic.code))
}

function formatKey(file: string, line: number, code: string): string {
  return `${line} ${code} ${file}`
}

/** Parses a comment, or returns the finding about it. */
function parseComment(comment: MarkedComment, now: number): Suppression | Diagnostic {
  const [, code, date, reason] =
    /^allow ([a-z-]{1,64}) until (\d{4}-\d\d-\d\d): ?(\S.*)$/.exec(comment.text) ?? []
  if (code === undefined || date === undefined || reason === undefined)
    return createFinding(comment, 'suppression-invalid', `expected ${form}, ${describe(comment)}`)
  const end = parseEnd(date)
  if (end === null)
    return createFinding(comment, 'suppression-invalid', `there is no day "${date}"`)
  const fault = code.startsWith('suppression-')
    ? `"${code}" is about such comments, and no comment can allow it. Set it under "checks".`
    : explainCode(code)
  if (fault !== null) return createFinding(comment, 'suppression-unknown', fault)
  if (now < end) return { comment, code, date, reason, isUsed: false }
  return createFinding(
    comment,
    'suppression-expired',
    `it allowed ${code} until ${date}. Correct what it is about, or decide on a later day.`,
  )
}

/** Describes what a comment lacks. */
function describe({ text }: MarkedComment): string {
  const lacksReason = /^allow [a-z-]{1,64} until \d{4}-\d\d-\d\d:?$/.test(text)
  return lacksReason
    ? 'got no reason'
    : `got "${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`
}

/** Returns the first ms after a day in UTC; null if there is no such day. */
function parseEnd(date: string): number | null {
  const start = Date.parse(`${date}T00:00:00Z`)
  const isDay = !Number.isNaN(start) && new Date(start).toISOString().startsWith(date)
  return isDay ? start + 86_400_000 : null
}

function createUnused(comment: MarkedComment, code: string): Diagnostic {
  const where = comment.target === null ? 'below it' : `on line ${comment.target}`
  return createFinding(
    comment,
    'suppression-unused',
    `there is no ${code} ${where}. Remove the comment, or put it directly above the rule.`,
  )
}

const summaries = {
  'suppression-invalid': 'This comment allows nothing',
  'suppression-unknown': 'This comment allows an unknown code',
  'suppression-expired': 'This comment has expired',
  'suppression-unused': 'This comment is not needed',
} as const satisfies Partial<Record<DiagnosticCode, string>>

function createFinding(
  comment: MarkedComment,
  code: keyof typeof summaries,
  detail: string,
): Diagnostic {
  const { text: _, target: __, ...place } = comment
  return { severity: 'warning', code, summary: summaries[code], detail, ...place }
}
