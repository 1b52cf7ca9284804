import { getOrAdd } from '../../model/lists.ts'
import type { PatternForm } from '../effective.ts'
import { buildLanguages, readShape, settle, type Language, type Shape } from './languages.ts'
import type { Text } from '../../model/secret.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import { matchesAll } from '../../trace/match/regex.ts'
import type { Settings } from '../../trace/readings.ts'
import { parseCore, type Node } from '../../trace/regex/syntax.ts'
import { isPrintable, splitFull } from '../../trace/url.ts'
import { isUrlChar } from './find-url.ts'

/** How an entry covers another one, or rules cover a rule. */
export type Proof =
  | 'text'
  | 'suffix'
  | 'prefix'
  | 'cidr'
  | 'substring'
  | 'automaton'
  | 'union'
  | 'keys'

/** A URL as patterns see it, if all forms of R2 are the same. */
export interface SeenUrl {
  url: string
  W: string
  Q: string
  P: string
}

/** Splits a URL of the plain space. */
export function seeUrl(url: string): SeenUrl {
  const Q = url.slice(url.indexOf('/', url.indexOf('://') + 3))
  return { url, W: url, Q, P: splitFull(Q).path }
}

/** An entry: a pattern without commas, whatever the answers are. */
export class Entry {
  readonly form: PatternForm
  /** Whether it lies in the fragment that is decided. */
  readonly isDecidable: boolean
  /** Readings that it asks for, but R2. */
  readonly readings: number[]
  readonly #names = new WeakMap<Settings, string>()
  readonly #shapes = new Map<string, Shape>()
  readonly #languages = new Map<string, Language[]>()

  constructor(form: PatternForm) {
    this.form = form
    this.isDecidable =
      form.kind === 'regex'
        ? matchesAll(form.text) || isInFragment(form.text)
        : form.kind !== 'secret' && isPrintable(form.text)
    this.readings = listReadings(form)
  }

  /** Whether it is a regular expression that stands for all texts. */
  get matchesAll(): boolean {
    return this.form.kind === 'regex' && matchesAll(this.form.text)
  }

  /** Whether it is an expression that sees the whole URL, and so the host, under some answers. */
  get seesHost(): boolean {
    const { kind, sees, extent } = this.form
    return kind === 'regex' && !this.matchesAll && (sees !== 'Q' || extent === 'R27')
  }

  /** What it matches, if that is a plain text. */
  shape(settings: Settings): Shape {
    return getOrAdd(this.#shapes, this.nameAnswers(settings), () => {
      const shape = readShape(this.form, settings)
      return isPlain(shape) ? shape : { ...shape, kind: 'automaton' }
    })
  }

  /** Its languages; a URL must be in one. */
  languages(settings: Settings): Language[] {
    const name = this.nameAnswers(settings)
    return getOrAdd(this.#languages, name, () => buildLanguages(this.form, settings))
  }

  /** Whether it matches a URL. */
  matches(settings: Settings, seen: SeenUrl): boolean {
    const shape = this.shape(settings)
    if (shape.kind === 'none' || shape.kind === 'all') return shape.kind === 'all'
    if (shape.kind === 'automaton')
      return this.languages(settings).some(({ automaton, sees }) => {
        let at = automaton.start
        for (let i = 0; i < seen[sees].length; i++)
          at = automaton.step(at, seen[sees].charCodeAt(i))
        return automaton.accepts(at)
      })
    const path = shape.folds ? lowerAscii(seen.P) : seen.P
    if (shape.kind === 'route') return path === shape.text
    if (shape.kind === 'dir')
      return path.startsWith(shape.text) && (shape.isDeep || !path.includes('/', shape.text.length))
    return path.endsWith(`.${shape.text}`)
  }

  /** Names the answers that it asks for. */
  nameAnswers(settings: Settings): string {
    return getOrAdd(this.#names, settings, () =>
      this.readings.map((number) => settle(settings, number)).join(),
    )
  }
}

const entries = new Map<string, Entry>()
/** Entries that are kept over a fleet; their automata grow as they are used. */
const maxEntries = 5_000

/** Forgets all entries, and the states of their automata. */
export function forgetEntries(): void {
  entries.clear()
}

/** Returns the one entry of a form. */
export function keepEntry(form: PatternForm): Entry {
  const name = `${form.kind} ${form.folds} ${form.sees} ${form.extent} ${form.text}`
  const found = entries.get(name) ?? new Entry(form)
  if (entries.size >= maxEntries) entries.clear()
  entries.set(name, found)
  return found
}

/** Tests whether `^` and `$` stand only at the ends of an alternative, without `\b` and `\B`. */
function isInFragment(text: string): boolean {
  const core = parseCore(text)
  if (core === null) return false
  const parts = core.node.kind === 'choice' ? core.node.of : [core.node]
  return parts.every((part) => {
    const steps = part.kind === 'sequence' ? part.of : [part]
    const rest = steps.filter(
      ({ kind }, i) =>
        !(kind === 'start' && i === 0) && !(kind === 'end' && i === steps.length - 1),
    )
    return !rest.some(hasAnchor)
  })
}

/**
 * Finds the longest text that all plain URLs have that an entry matches, by case or not; empty if
 * nothing is decided.
 */
export function findCore(entry: Entry): string {
  const { kind, text, extent } = entry.form
  if (!entry.isDecidable || entry.matchesAll) return ''
  const node = kind === 'regex' ? parseCore(text)?.node : undefined
  const runs = node === undefined && kind !== 'all' ? text.split('*') : ['']
  if (node !== undefined) addRuns(node, runs)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  // By R27 the expression may be a URL itself, but no URL has a backslash.
  const isShared = extent !== 'R27' || text.includes('\\') || text.includes(longest)
  return isShared ? longest : ''
}

/** Adds the characters that follow each other in whatever an expression matches. */
function addRuns(node: Node, runs: string[]): void {
  if (node.kind === 'sequence') for (const part of node.of) addRuns(part, runs)
  else if (node.kind === 'group') addRuns(node.of, runs)
  else if (node.kind === 'choice' || node.kind === 'repeat') runs.push('')
  else if (node.kind === 'char') {
    const code = node.chars.ascii.indexOf(1)
    const isOne = !node.chars.others && code >= 0 && node.chars.ascii.lastIndexOf(1) === code
    runs.push(isOne ? (runs.pop() ?? '') + String.fromCharCode(code) : '')
  }
}

function hasAnchor(node: Node): boolean {
  if (node.kind === 'sequence' || node.kind === 'choice') return node.of.some(hasAnchor)
  if (node.kind === 'group' || node.kind === 'repeat') return hasAnchor(node.of)
  return node.kind !== 'char' && node.kind !== 'empty'
}

function listReadings({ kind, text, folds, sees, extent }: PatternForm): number[] {
  if (kind === 'all' || kind === 'secret' || (kind === 'regex' && matchesAll(text))) return []
  const byCase = typeof folds === 'string' ? [Number(/\d+/.exec(folds)?.[0])] : []
  if (kind === 'regex')
    return [
      ...byCase,
      ...(extent === 'search' ? [] : [4]),
      ...(extent === 'R27' ? [27] : []),
      ...(sees === 'R5' ? [5] : []),
    ].toSorted((a, b) => a - b)
  if (kind === 'ext') return [...byCase, 7, ...(text.slice(1).includes('.') ? [12] : [])]
  return [
    ...byCase,
    ...(kind === 'route' ? [7] : [11]),
    ...(text.includes('*') ? [8] : []),
    ...(text.startsWith('/') ? [] : [9]),
    ...(kind === 'dir' && !text.endsWith('/') ? [10] : []),
  ].toSorted((a, b) => a - b)
}

/** Tests whether a text is compared as it is: without a special character or a dot segment. */
function isPlain({ kind, text, sees }: Shape): boolean {
  if (kind === 'all' || kind === 'none') return true
  const isText = Array.from(text).every((char) => isUrlChar(char) && !'%*?'.includes(char))
  return kind !== 'automaton' && sees === 'P' && isText && !/\/\.{1,2}(?:\/|$)/.test(text)
}

/** Finds how an entry covers another one by their texts alone; null if it does not. */
export function coverByText(wide: Entry, narrow: Entry, settings: Settings): Proof | null {
  if (wide === narrow) return 'text'
  const [a, b] = [wide.shape(settings), narrow.shape(settings)]
  if (b.kind === 'none' || (b.kind === a.kind && a.kind === 'all')) return 'text'
  if (a.kind === 'all') return 'automaton'
  const isSame = wide.form.kind === narrow.form.kind && wide.form.text === narrow.form.text
  if (isSame && a.folds && !b.folds && a.kind !== 'automaton') return 'text'
  if (a.kind === 'automaton' || b.kind === 'automaton' || a.kind === 'none') return null
  const text = a.folds ? lowerAscii(b.text) : b.text
  if (b.folds && !a.folds && /[a-z]/i.test(b.text)) return null
  if (a.kind === 'dir' && a.text === '/' && a.isDeep) return 'prefix'
  if (a.kind === 'ext') {
    if (b.kind === 'dir') return null
    if (b.kind === 'ext' && text === a.text) return 'text'
    return (b.kind === 'ext' ? `.${text}` : text).endsWith(`.${a.text}`) ? 'suffix' : null
  }
  if (a.kind === 'route') return b.kind === 'route' && text === a.text ? 'text' : null
  if (b.kind === 'ext' || !text.startsWith(a.text)) return null
  const rest = text.slice(a.text.length)
  if (b.kind === 'dir' && rest === '') return a.isDeep || !b.isDeep ? 'text' : null
  return a.isDeep || (b.kind === 'route' && !rest.includes('/')) ? 'prefix' : null
}

/** Lists the texts of entries, and the secrets that stand for them. */
export function listTexts(of: readonly Entry[]): Text[] {
  return of.map(({ form: { kind, text } }) => (kind === 'secret' ? { $secret: text } : text))
}

/** The readings that some entries ask for, but R2. */
export function listReadingsOf(list: readonly Entry[]): number[] {
  return list.flatMap(({ readings }) => readings)
}
