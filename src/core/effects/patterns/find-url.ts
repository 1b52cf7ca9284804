import { getOrAdd } from '../../model/lists.ts'
import { compileProgram, type Program } from '../../trace/regex/machine.ts'
import { parseCore } from '../../trace/regex/syntax.ts'
import { Automaton } from './automaton.ts'
import type { Language } from './languages.ts'

/**
 * The URLs of a domain in a form that patterns see (R2); `plain` are those that all forms have in
 * common.
 */
export type Space = 'plain' | 'as-sent' | 'normalised' | 'decoded'

/** A URL must be in one language of each group, and in none of the others. */
export interface Wanted {
  must: Language[][]
  never: Language[]
}

/**
 * States that may still be visited, as many as one comparison counts for; keeps the time for a
 * list bounded.
 */
export interface Budget {
  states: number
}

/** Greatest number of states of one product of automata. */
const maxStates = 10_000
/** Steps of programs times characters that count as one state. */
const maxWork = 10_000

/** State of an automaton before its part, and after it without and with a match. */
const [waiting, lost, won] = [-1, -2, -3]

/**
 * A URL that goes on in a part: below a wildcard, after the host, in a port, in a path, in a query
 * that must not end yet, or in one that may.
 */
interface Node {
  part: 'label' | 'host' | 'port' | 'path' | 'asked' | 'query'
  states: number[]
  text: string
}

/** What URLs with a host and a port are like, and what they are not: ports by default. */
const port = '[1-9]\\d{0,3}|[1-5]\\d{4}|6(?:[0-4]\\d{3}|5(?:[0-4]\\d\\d|5(?:[0-2]\\d|3[0-5])))'
const origin = buildLanguage(`^https?://[a-z0-9_][a-z0-9_.-]*(?::(?:${port}))?/`, 'W')
const defaultPort = buildLanguage('^https://[^/]*:443/|^http://[^/]*:80/', 'W')
/** Segments that are removed from a path. */
const dots = buildLanguage('/\\.{1,2}(?:/|$)', 'P')

function buildLanguage(text: string, sees: Language['sees']): Language {
  const program = compileProgram(parseCore(text)?.node ?? { kind: 'empty' }, 0, false)
  return { program, automaton: new Automaton(program, false), sees }
}

/**
 * Finds a shortest URL of a domain with a wanted membership; null if there is none, undefined if
 * there are too many states. Exact: every URL of the space is one that requests can have.
 */
export function findUrl(
  domain: string,
  space: Space,
  wanted: Wanted,
  budget: Budget,
): string | null | undefined {
  const walk = new Walk(domain, space, wanted)
  for (const { text } of walk.visit(budget)) return text
  return walk.isCut ? undefined : null
}

/** A shortest URL of a set of languages, and the languages that have it. */
export interface Told {
  url: string
  members: ReadonlySet<Language>
}

/** Greatest number of sets of languages that are told apart. */
const maxSets = 300

/**
 * Finds a shortest URL for each set of languages that have one in common, and in no other language.
 *
 * @returns `isComplete`: whether every URL of the space is like one of these
 */
export function exploreUrls(
  domain: string,
  space: Space,
  languages: readonly Language[],
): { urls: Told[]; isComplete: boolean } {
  const walk = new Walk(domain, space, { must: [], never: [] }, languages)
  const urls = new Map<string, Told>()
  for (const node of walk.visit({ states: Infinity })) {
    const own = languages.filter((each) => walk.has(node, each))
    const name = own.map((each) => languages.indexOf(each)).join()
    if (urls.has(name)) continue
    if (urls.size >= maxSets) return { urls: [...urls.values()], isComplete: false }
    urls.set(name, { url: node.text, members: new Set(own) })
  }
  return { urls: [...urls.values()], isComplete: !walk.isCut }
}

/** Visits the URLs of a domain that languages want, of those that they tell apart the shortest. */
class Walk {
  /** Whether it has ended before all URLs were visited. */
  isCut = false
  readonly #domain: string
  readonly #space: Space
  readonly #seesHost: boolean
  readonly #languages: Language[]
  readonly #must: number[][]
  readonly #never: number[]
  readonly #chars: readonly string[]
  readonly #seen = new Set<string>()
  readonly #queue: Node[] = []

  /** @param told further languages that are told apart */
  constructor(domain: string, space: Space, wanted: Wanted, told: readonly Language[] = []) {
    const own = [...wanted.must.flat(), ...wanted.never, ...told]
    const seesHost = own.some(({ sees }) => sees === 'W')
    const must = seesHost ? [...wanted.must, [origin]] : wanted.must
    const never = [
      ...wanted.never,
      ...(seesHost ? [defaultPort] : []),
      ...(space === 'as-sent' ? [] : [dots]),
    ]
    const languages = [...new Set([...must.flat(), ...never, ...told])]
    const locate = (language: Language) => languages.indexOf(language)
    this.#domain = domain
    this.#space = space
    this.#seesHost = seesHost
    this.#languages = languages
    this.#must = must.map((group) => group.map(locate))
    this.#never = never.map(locate)
    this.#chars = chooseChars(own, alphabets[space])
  }

  *visit(budget: Budget): Generator<Node, void> {
    const length = this.#languages.reduce((sum, { program }) => sum + program.steps.length, 0)
    const cost = Math.ceil((length * this.#chars.length) / maxWork)
    const states = this.#languages.map(({ sees, automaton }) =>
      sees === 'W' ? automaton.start : waiting,
    )
    const isWild = this.#domain.startsWith('.')
    for (const scheme of this.#seesHost ? ['https', 'http'] : ['https']) {
      const start: Node = { part: 'label', states, text: '' }
      if (isWild && this.#seesHost) this.#add(start, `${scheme}://`, 'label')
      else this.#add(start, `${scheme}://${isWild ? 'x' : ''}${this.#domain}`, 'host')
    }
    for (const node of this.#queue) {
      if (this.#isWanted(node)) yield node
      this.isCut = this.#seen.size >= maxStates || budget.states <= 0
      if (this.isCut) return
      budget.states -= cost
      this.#follow(node)
    }
  }

  /** Tests whether a language has the URL of a node. */
  has(node: Node, language: Language): boolean {
    return this.#accepts(node, this.#languages.indexOf(language))
  }

  #isWanted(node: Node): boolean {
    const has = (i: number) => this.#accepts(node, i)
    return (
      /path|query/.test(node.part) &&
      this.#must.every((group) => group.some(has)) &&
      !this.#never.some(has)
    )
  }

  /** Whether no URL that begins like this one can be wanted. */
  #isHopeless({ states }: Node): boolean {
    const test = (i: number, end: number, method: 'isDead' | 'isSure') => {
      const state = states[i] ?? waiting
      return state === end || (state >= 0 && this.#languages[i]?.automaton[method](state) === true)
    }
    return (
      this.#must.some((group) => group.every((i) => test(i, lost, 'isDead'))) ||
      this.#never.some((i) => test(i, won, 'isSure'))
    )
  }

  #follow(node: Node): void {
    const { part } = node
    const goOn = (from: Node, texts: readonly string[], to = part) => {
      for (const text of texts) this.#add(from, text, to)
    }
    if (part === 'label') {
      const label = this.#chars.filter((char) => /[a-z0-9_.-]/.test(char))
      goOn(node, label)
      goOn(node, [this.#domain], 'host')
    } else if (part === 'host' || part === 'port') {
      goOn(this.#open(node, null), ['/'], 'path')
      if (this.#seesHost) goOn(node, Array.from(part === 'host' ? ':' : '8012345679'), 'port')
    } else if (part === 'path') {
      const mayAsk = this.#space === 'decoded'
      const path = this.#chars.filter((char) => mayAsk || char !== '?')
      goOn(node, path)
      goOn(this.#open(node, 'P'), ['?'], this.#space === 'as-sent' ? 'query' : 'asked')
    } else goOn(node, this.#chars, 'query')
  }

  /** Begins the parts that see less than the whole, and ends those that see the path alone. */
  #open(node: Node, ended: Language['sees'] | null): Node {
    const states = node.states.map((state, i) => {
      const language = this.#languages[i]
      if (state === waiting) return language?.automaton.start ?? state
      return language?.sees === ended ? (this.#accepts(node, i) ? won : lost) : state
    })
    return { ...node, states }
  }

  #add(node: Node, text: string, part: Node['part']): void {
    const states = node.states.map((state, i) => {
      const automaton = this.#languages[i]?.automaton
      if (state < 0 || automaton === undefined) return state
      let at = state
      for (let n = 0; n < text.length; n++) at = automaton.step(at, text.charCodeAt(n))
      return at
    })
    const key = `${part} ${states.join()}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    const next = { part, states, text: node.text + text }
    if (!this.#isHopeless(next)) this.#queue.push(next)
  }

  #accepts({ states }: Node, i: number): boolean {
    const state = states[i] ?? waiting
    return state >= 0 ? this.#languages[i]?.automaton.accepts(state) === true : state === won
  }
}

/** All printable characters, the plain ones first. */
const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(i + 32)).toSorted(
  (a, b) => rankChar(a) - rankChar(b),
)

function rankChar(char: string): number {
  return [/x/, /[a-z]/, /\w/, /./].findIndex((each) => each.test(char))
}

/** Whether a URL as sent may have a character in its path or query. */
export function isUrlChar(char: string): boolean {
  return /[!-~]/.test(char) && !'"<>`#\\'.includes(char)
}

/** The characters of a space, by how the parts of a URL treat them. */
function listAlphabet(has: (char: string) => boolean) {
  const chars = printable.filter(has)
  const kinds = chars.map((char) => {
    const place = '/?._-'.indexOf(char)
    return place < 0 ? 5 + Number(/[a-z0-9]/.test(char)) : place
  })
  return { chars, codes: chars.map((char) => char.charCodeAt(0)), kinds }
}

const url = listAlphabet(isUrlChar)
const alphabets = {
  plain: listAlphabet((char) => isUrlChar(char) && char !== '%'),
  'as-sent': url,
  normalised: url,
  decoded: listAlphabet(() => true),
}

/** One character of each kind that no automaton and no part of a URL treats differently. */
function chooseChars(
  languages: readonly Language[],
  { chars, codes, kinds: start }: ReturnType<typeof listAlphabet>,
): readonly string[] {
  let kinds = start
  for (const classes of new Set(languages.map(({ program }) => classify(program)))) {
    const names = new Map<number, number>()
    kinds = kinds.map((kind, i) => {
      const name = kind * 128 + (classes[codes[i] ?? 0] ?? 0)
      return getOrAdd(names, name, () => names.size)
    })
  }
  return chars.filter((_, i) => kinds.indexOf(kinds[i] ?? 0) === i)
}

const classes = new WeakMap<Program, number[]>()

/** The class of each character of ASCII; all steps treat those of one class alike. */
function classify(program: Program): number[] {
  return getOrAdd(classes, program, () => {
    const sets = [...new Set(program.steps.flatMap(({ chars }) => (chars === null ? [] : [chars])))]
    const names = new Map<string, number>()
    return Array.from({ length: 128 }, (_, code) =>
      getOrAdd(names, sets.map(({ ascii }) => ascii[code]).join(''), () => names.size),
    )
  })
}
