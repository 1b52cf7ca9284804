import type { Json } from '../../model/json.ts'
import { matchesAll } from '../../trace/match/regex.ts'
import { writeGlob } from '../../trace/match/url.ts'
import { listSecretNames } from '../../trace/secret-text.ts'
import type { Settings } from '../../trace/readings.ts'
import { compileProgram, type Program } from '../../trace/regex/machine.ts'
import { escapePattern, parseCore, parsePattern } from '../../trace/regex/syntax.ts'
import type { PatternForm } from '../effective.ts'
import { Automaton } from './automaton.ts'

/** The URLs that a pattern matches. */
export interface Language {
  program: Program
  automaton: Automaton
  /** The part of the URL that it sees: whole, path and query, or path. */
  sees: 'W' | 'Q' | 'P'
}

/** What is in the way of a language: a pattern that can't be decided, or a secret. */
export class NoLanguage extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/**
 * Builds the languages of which a URL must be in one to match a pattern.
 *
 * @throws NoLanguage
 */
export function buildLanguages(form: PatternForm, settings: Settings): Language[] {
  const { kind, text } = form
  if (kind === 'all' || (kind === 'regex' && matchesAll(text))) return everything
  if (kind === 'secret')
    throw new NoLanguage(`not-given secret:${listSecretNames(text).join(' and secret:')}`)
  const folds = readCase(form.folds, settings)
  const build = (pattern: string | null, sees: Language['sees'], whole: boolean): Language[] => {
    const expression = pattern === null ? null : parsePattern(pattern)
    if (expression === null) return []
    const program = compileProgram(expression.node, 0, folds)
    return [{ program, automaton: new Automaton(program, whole), sees }]
  }
  const path = (pattern: string | null) =>
    build(pattern, kind !== 'dir' && settle(settings, 7) !== 'path' ? 'Q' : 'P', true)
  if (kind === 'ext') return path(buildSuffix(text.replace(/^\./, ''), settings))
  if (kind === 'dir' || kind === 'route') return path(buildPath(kind, text, settings))
  const literal =
    form.extent === 'R27' && settle(settings, 27) === 'either'
      ? build(escapePattern(text), 'W', true)
      : []
  if (parseCore(text) === null) throw new NoLanguage(`undecidable ${text}`)
  const whole = form.extent !== 'search' && settle(settings, 4) === 'whole'
  return [...build(text, readSubject(form.sees, settings), whole), ...literal]
}

/** The answer of a reading. */
export function settle({ answers }: Settings, number: number): Json {
  return answers[number] ?? null
}

/** Whether case is ignored. */
export function readCase(folds: boolean | string, settings: Settings): boolean {
  if (typeof folds === 'boolean') return folds
  const [name = '', value] = folds.split(':')
  const answer = settle(settings, Number(name.slice(1)))
  if (name === 'R6') return answer === 'insensitive'
  if (name === 'R24') return (value === 'no') === (answer === 'labels')
  return (value === 'yes') === (answer === 'name')
}

function readSubject(sees: PatternForm['sees'], settings: Settings): Language['sees'] {
  if (sees !== 'R5') return sees
  const answer = settle(settings, 5)
  return answer === 'path' ? 'P' : answer === 'path-and-query' ? 'Q' : 'W'
}

const program = compileProgram(parsePattern('.*')?.node ?? { kind: 'empty' }, 0, false)
const everything: Language[] = [{ program, automaton: new Automaton(program, true), sees: 'P' }]

/** Texts that end in a dot and the suffix; null if no file can (R12). */
function buildSuffix(suffix: string, settings: Settings): string | null {
  if (suffix.includes('/')) return null
  if (suffix.includes('.') && settle(settings, 12) === 'last-dot') return null
  return `.*${escapePattern(`.${suffix}`)}`
}

/** Texts that lie below a directory, or are a full path (R8 to R11). */
function buildPath(kind: 'dir' | 'route', entry: string, settings: Settings): string | null {
  if (!entry.startsWith('/') && settle(settings, 9) === 'never') return null
  const begin = entry.startsWith('/') ? entry : `/${entry}`
  const isOpen = kind === 'dir' && !begin.endsWith('/') && settle(settings, 10) === 'segment'
  const isDeep = kind === 'dir' ? settle(settings, 11) === 'recursive' : null
  return writeGlob(isOpen ? `${begin}/` : begin, String(settle(settings, 8)), isDeep)
}
