import type { Language } from '../effects/witness/languages.ts'
import type { Program } from '../trace/regex/machine.ts'

/**
 * The URLs of a domain in a form that patterns see (R2). `plain` are those that all forms have in
 * common, and `loose` has all of them.
 */
export type Space = 'plain' | 'loose' | 'as-sent' | 'normalised' | 'decoded'

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
 * What was read: a host below a wildcard, a port with its digits, a path with the dots of its
 * segment (`x`: it has others), a query (`?`: it must not end yet).
 */
interface Place {
  part: 'host' | 'port' | 'path' | 'query'
  mark: string
}

/** A URL that goes on from another one. */
interface Node extends Place {
  states: number[]
  text: string
  before: Node | null
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
  if (budget.states <= 0) return undefined
  const languages = [...new Set([...wanted.must.flat(), ...wanted.never])]
  const locate = (language: Language) => languages.indexOf(language)
  const walk = new Walk(
    languages,
    space,
    wanted.must.map((group) => group.map(locate)),
    wanted.never.map(locate),
  )
  const found = walk.find(domain, budget)
  if (found === null || found === undefined) return found
  const texts: string[] = []
  for (let node: Node | null = found; node !== null; node = node.before) texts.push(node.text)
  return texts.toReversed().join('')
}

class Walk {
  readonly #languages: Language[]
  readonly #must: number[][]
  readonly #never: number[]
  readonly #chars: readonly string[]
  /** Whether a path may contain `?`; whether segments of dots and empty queries are left. */
  readonly #isOpen: boolean
  readonly #isRaw: boolean
  readonly #seen = new Set<string>()
  readonly #queue: Node[] = []

  constructor(languages: Language[], space: Space, must: number[][], never: number[]) {
    this.#languages = languages
    this.#must = must
    this.#never = never
    this.#chars = chooseChars(languages, space)
    this.#isOpen = space === 'loose' || space === 'decoded'
    this.#isRaw = space === 'loose' || space === 'as-sent'
  }

  find(domain: string, budget: Budget): Node | null | undefined {
    const length = this.#languages.reduce((sum, { program }) => sum + program.steps.length, 0)
    const cost = Math.ceil((length * this.#chars.length) / maxWork)
    const seesHost = this.#languages.some(({ sees }) => sees === 'W')
    const isWild = domain.startsWith('.')
    for (const scheme of seesHost ? ['https', 'http'] : ['https']) {
      const states = this.#languages.map(({ sees, automaton }) =>
        sees === 'W' ? automaton.start : waiting,
      )
      const none: Node = { part: 'host', mark: '', states, text: '', before: null }
      const host = isWild ? (seesHost ? '' : `x${domain}`) : domain
      const start = this.#go(none, `${scheme}://${host}`, 'host', '')
      if (isWild && seesHost) this.#queue.push(start)
      else this.#endHost(start, seesHost)
    }
    for (const node of this.#queue) {
      if (this.#isWanted(node)) return node
      if (this.#seen.size >= maxStates || budget.states <= 0) return undefined
      budget.states -= cost
      this.#follow(node, domain)
    }
    return null
  }

  #isWanted(node: Node): boolean {
    if (node.part === 'query' ? node.mark === '?' : node.part !== 'path' || !mayEnd(node))
      return false
    const has = (i: number) => this.#accepts(node, i)
    return this.#must.every((group) => group.some(has)) && !this.#never.some(has)
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

  #follow(node: Node, domain: string): void {
    const { part, mark } = node
    if (part === 'host') {
      const form = mark === '' ? /[a-z0-9_]/ : /[a-z0-9_.-]/
      for (const char of this.#chars) if (form.test(char)) this.#add(node, char, part, 'x')
      if (mark !== '') this.#endHost(this.#go(node, domain, part, mark), true)
    } else if (part === 'port') {
      const [scheme, digits] = [mark.slice(0, 5), mark.slice(5)]
      if (digits !== '' && Number(digits) <= 65_535 && digits !== getDefaultPort(scheme))
        this.#add(
          this.#open(node, () => false),
          '/',
          'path',
          '',
        )
      for (const char of digits.length === 5 ? '' : digits === '' ? '812345679' : '8012345679')
        this.#add(node, char, part, mark + char)
    } else if (part === 'query') for (const char of this.#chars) this.#add(node, char, part, '')
    else {
      for (const char of this.#chars)
        if ((this.#isOpen || char !== '?') && (char !== '/' || mayEnd(node)))
          this.#add(node, char, part, this.#isRaw || char === '/' ? '' : addToSegment(mark, char))
      if (mayEnd(node))
        this.#add(
          this.#open(node, (i) => this.#languages[i]?.sees === 'P'),
          '?',
          'query',
          this.#isRaw ? '' : '?',
        )
    }
  }

  /** A URL goes on with its path, or has a port first. */
  #endHost(node: Node, hasPort: boolean): void {
    this.#add(
      this.#open(node, () => false),
      '/',
      'path',
      '',
    )
    let first = node
    while (first.before !== null) first = first.before
    if (hasPort) this.#add(node, ':', 'port', first.text.startsWith('https') ? 'https' : 'http:')
  }

  /** Begins the parts that see less than the whole, and ends those that see the path alone. */
  #open(node: Node, ends: (i: number) => boolean): Node {
    const states = node.states.map((state, i) => {
      if (state === waiting) return this.#languages[i]?.automaton.start ?? state
      return ends(i) ? (this.#accepts(node, i) ? won : lost) : state
    })
    return { ...node, states }
  }

  #go(node: Node, text: string, part: Place['part'], mark: string): Node {
    const states = node.states.map((state, i) => {
      const automaton = this.#languages[i]?.automaton
      if (state < 0 || automaton === undefined) return state
      let at = state
      for (let n = 0; n < text.length; n++) at = automaton.step(at, text.charCodeAt(n))
      return at
    })
    return { part, mark, states, text, before: node.text === '' ? null : node }
  }

  #add(node: Node, text: string, part: Place['part'], mark: string): void {
    const next = this.#go(node, text, part, mark)
    const key = `${part} ${part === 'port' ? classifyPort(mark) : mark} ${next.states.join()}`
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    if (!this.#isHopeless(next)) this.#queue.push(next)
  }

  #accepts({ states }: Node, i: number): boolean {
    const state = states[i] ?? waiting
    return state >= 0 ? this.#languages[i]?.automaton.accepts(state) === true : state === won
  }
}

/** Whether a segment may end: those of dots have been removed. */
function mayEnd({ mark }: Place): boolean {
  return mark !== '.' && mark !== '..'
}

function addToSegment(segment: string, char: string): string {
  return char === '.' && (segment === '' || segment === '.') ? `${segment}.` : 'x'
}

/** What makes a difference of a port: its length, how it compares, and the one that is left out. */
function classifyPort(mark: string): string {
  const digits = mark.slice(5)
  const greatest = '65535'.slice(0, digits.length)
  const order = digits < greatest ? 0 : digits === greatest ? 1 : 2
  const isPrefix = getDefaultPort(mark.slice(0, 5)).startsWith(digits)
  return `${digits.length} ${order} ${isPrefix ? mark : ''}`
}

function getDefaultPort(scheme: string): string {
  return scheme === 'https' ? '443' : '80'
}

/** All printable characters, the plain ones first. */
const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(i + 32)).toSorted(
  (a, b) => rankChar(a) - rankChar(b),
)

function rankChar(char: string): number {
  return [/x/, /[a-w]/, /[yz]/, /[0-9]/, /[A-Z]/, /[_~-]/, /./].findIndex((each) => each.test(char))
}

/** Whether a URL as sent may have a character in its path or query. */
export function isUrlChar(char: string): boolean {
  return /[!-~]/.test(char) && !'"<>`#\\'.includes(char)
}

/** One character of each kind that no automaton and no part of a URL treats differently. */
function chooseChars(languages: readonly Language[], space: Space): readonly string[] {
  const start = alphabets[space === 'plain' ? space : isUrlSpace(space) ? 'url' : 'any']
  let { kinds, count } = start
  for (const classes of new Set(languages.map(({ program }) => classify(program)))) {
    const names = new Map<number, number>()
    kinds = kinds.map((kind, i) => {
      const name = kind * 128 + (classes[start.codes[i] ?? 0] ?? 0)
      return names.get(name) ?? names.set(name, names.size).size - 1
    })
    count = names.size
  }
  return Array.from({ length: count }, (_, kind) => start.chars[kinds.indexOf(kind)] ?? '')
}

function isUrlSpace(space: Space): boolean {
  return space !== 'loose' && space !== 'decoded'
}

/** The characters of a space, by how the parts of a URL treat them; the plain ones first. */
function listAlphabet(has: (char: string) => boolean) {
  const chars = printable.filter(has)
  const names = new Map<string, number>()
  const kinds = chars.map((char) => {
    const name = String('/?._-'.includes(char) ? char : /[a-z0-9]/.test(char))
    return names.get(name) ?? names.set(name, names.size).size - 1
  })
  return { chars, codes: chars.map((char) => char.charCodeAt(0)), kinds, count: names.size }
}

const alphabets = {
  plain: listAlphabet((char) => isUrlChar(char) && char !== '%'),
  url: listAlphabet(isUrlChar),
  any: listAlphabet(() => true),
}

const classes = new WeakMap<Program, number[]>()

/** The class of each character of ASCII; all steps treat those of one class alike. */
function classify(program: Program): number[] {
  const known = classes.get(program)
  if (known !== undefined) return known
  const sets = [...new Set(program.steps.flatMap(({ chars }) => (chars === null ? [] : [chars])))]
  const names = new Map<string, number>()
  const found = Array.from({ length: 128 }, (_, code) => {
    const name = sets.map(({ ascii }) => ascii[code]).join('')
    return names.get(name) ?? names.set(name, names.size).size - 1
  })
  classes.set(program, found)
  return found
}
