import type { Json } from '../../model/json.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
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

/** What a pattern matches under some answers. */
export interface Shape {
  kind: 'all' | 'none' | 'ext' | 'dir' | 'route' | 'automaton'
  /** A suffix without its dot, a directory with its slash, or a path. */
  text: string
  folds: boolean
  /** Whether a directory contains what lies below its subdirectories. */
  isDeep: boolean
  sees: 'Q' | 'P'
}

/** Reads what a pattern matches (R7, R9 to R12). */
export function readShape(form: PatternForm, settings: Settings): Shape {
  const { kind, text } = form
  const folds = readCase(form.folds, settings)
  const sees = kind !== 'dir' && settle(settings, 7) !== 'path' ? 'Q' : 'P'
  const shape = (is: Shape['kind'], own = '', isDeep = true): Shape => {
    return { kind: is, text: folds ? lowerAscii(own) : own, folds, isDeep, sees }
  }
  if (kind === 'all' || (kind === 'regex' && matchesAll(text))) return shape('all')
  if (kind === 'regex' || kind === 'secret') return shape('automaton')
  if (kind === 'ext') {
    const suffix = text.replace(/^\./, '')
    const isOff = suffix.includes('.') && settle(settings, 12) === 'last-dot'
    return suffix.includes('/') || isOff ? shape('none') : shape('ext', suffix)
  }
  if (!text.startsWith('/') && settle(settings, 9) === 'never') return shape('none')
  const begin = text.startsWith('/') ? text : `/${text}`
  if (kind === 'route') return shape('route', begin)
  const isOpen = !begin.endsWith('/') && settle(settings, 10) === 'segment'
  return shape('dir', isOpen ? `${begin}/` : begin, settle(settings, 11) === 'recursive')
}

/**
 * Builds the languages of which a URL must be in one to match a pattern.
 *
 * @throws NoLanguage
 */
export function buildLanguages(form: PatternForm, settings: Settings): Language[] {
  const { kind, text, sees, extent } = form
  const shape = readShape(form, settings)
  if (shape.kind === 'all') return everything
  if (shape.kind === 'none') return []
  const build = (pattern: string, own: Language['sees'], whole: boolean): Language[] => {
    const expression = parsePattern(pattern)
    if (expression === null) return []
    const program = compileProgram(expression.node, 0, shape.folds)
    return [{ program, automaton: new Automaton(program, whole), sees: own }]
  }
  if (shape.kind !== 'automaton') return build(writeShape(shape, settings), shape.sees, true)
  if (kind === 'secret')
    throw new NoLanguage(`not-given secret:${listSecretNames(text).join(' and secret:')}`)
  if (parseCore(text) === null) throw new NoLanguage(`undecidable ${text}`)
  const whole = extent !== 'search' && settle(settings, 4) === 'whole'
  const isLiteral = extent === 'R27' && settle(settings, 27) === 'either'
  return [
    ...build(text, readSubject(sees, settings), whole),
    ...(isLiteral ? build(escapePattern(text), 'W', true) : []),
  ]
}

/** Writes texts that end in a suffix, lie below a directory, or are a path (R8), as a pattern. */
function writeShape({ kind, text, isDeep }: Shape, settings: Settings): string {
  if (kind === 'ext') return `.*${escapePattern(`.${text}`)}`
  return writeGlob(text, String(settle(settings, 8)), kind === 'dir' ? isDeep : null)
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
