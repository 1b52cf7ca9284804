import type { Language } from './languages.ts'

/** Shortest URLs, one for each set of languages that have it. */
export interface Explored {
  /** `members`: for each language whether it has the URL. */
  urls: { url: string; members: boolean[] }[]
  /** Whether every URL of the domain is like one of these. */
  isComplete: boolean
}

/** Greatest number of states of a product of automata. */
const maxStates = 10_000
/** Greatest number of different sets; more are not complete. */
const maxSets = 300

/** What comes next in a URL: a host below a wildcard, a port, a path, a query. */
type Phase = 'host' | 'port' | 'path' | 'query'

interface Node {
  phase: Phase
  /** State of each automaton; of one that sees less, null before its part and after it. */
  states: readonly (number | null)[]
  /** For those that see the path alone, whether they have it. */
  ended: readonly boolean[]
  text: string
}

/**
 * Walks through all URLs of a domain, the shortest first, and tells apart those that different
 * languages have. The URLs are a little more than there are: ports have any digits.
 */
export function exploreUrls(domain: string, languages: readonly Language[]): Explored {
  const urls = new Map<string, Explored['urls'][number]>()
  const seen = new Set<string>()
  const chars = chooseChars(languages)
  let level = openUrls(domain, languages)
  while (level.length > 0) {
    const next: Node[] = []
    for (const node of level) {
      const key = `${node.phase} ${node.states.join()} ${node.ended.map(Number).join('')}`
      if (seen.has(key)) continue
      if (seen.size >= maxStates || urls.size >= maxSets)
        return { urls: [...urls.values()], isComplete: false }
      seen.add(key)
      if (node.phase === 'path' || node.phase === 'query') {
        const members = findMembers(languages, node)
        const name = members.map(Number).join('')
        if (!urls.has(name)) urls.set(name, { url: node.text, members })
      }
      for (const each of follow(domain, languages, node, chars)) next.push(each)
    }
    level = next
  }
  return { urls: [...urls.values()], isComplete: true }
}

/** The beginnings of URLs up to the host; with a wildcard, up to what is before it. */
function openUrls(domain: string, languages: readonly Language[]): Node[] {
  const isWild = domain.startsWith('.')
  return ['https', 'http'].flatMap((scheme) => {
    const empty: Node = {
      phase: isWild ? 'host' : 'port',
      states: languages.map(({ sees, automaton }) => (sees === 'W' ? automaton.start : null)),
      ended: languages.map(() => false),
      text: '',
    }
    const start = readText(languages, empty, `${scheme}://${isWild ? 'a' : domain}`)
    return isWild ? [start] : afterHost(languages, start)
  })
}

/** A URL goes on with its path, or has a port first. */
function afterHost(languages: readonly Language[], node: Node): Node[] {
  return [openPath(languages, node), { ...readText(languages, node, ':'), phase: 'port' }]
}

function openPath(languages: readonly Language[], node: Node): Node {
  const states = node.states.map((state, i) => state ?? languages[i]?.automaton.start ?? null)
  return readText(languages, { ...node, states, phase: 'path' }, '/')
}

function follow(
  domain: string,
  languages: readonly Language[],
  node: Node,
  chars: readonly string[],
): Node[] {
  const read = (char: string) => readText(languages, node, char)
  if (node.phase === 'host') {
    const host = chars.filter((char) => /[a-z0-9-]/.test(char)).map(read)
    return [...afterHost(languages, readText(languages, node, domain)), ...host, read('.')]
  }
  if (node.phase === 'port') {
    const hasDigit = /:\d+$/.test(node.text)
    const digits = node.text.length > 0 ? '8012345679'.split('') : []
    const isFull = /:\d{5}$/.test(node.text)
    return [...(hasDigit ? [openPath(languages, node)] : []), ...(isFull ? [] : digits.map(read))]
  }
  if (node.phase === 'query') return chars.map(read)
  return [...chars.filter((char) => char !== '?').map(read), openQuery(languages, node)]
}

/** Those that see the path alone are at their end. */
function openQuery(languages: readonly Language[], node: Node): Node {
  const ended = findMembers(languages, node)
  const isPath = (i: number) => languages[i]?.sees === 'P'
  const states = node.states.map((state, i) => (isPath(i) ? null : state))
  const open: Node = {
    ...node,
    states,
    ended: ended.map((is, i) => is && isPath(i)),
    phase: 'query',
  }
  return readText(languages, open, '?')
}

function readText(languages: readonly Language[], node: Node, text: string): Node {
  const states = node.states.map((state, i) => {
    const automaton = languages[i]?.automaton
    if (state === null || automaton === undefined) return state
    return Array.from(text).reduce((at, char) => automaton.step(at, char.charCodeAt(0)), state)
  })
  return { ...node, states, text: node.text + text }
}

function findMembers(languages: readonly Language[], { states, ended }: Node): boolean[] {
  return languages.map(({ automaton }, i) => {
    const state = states[i] ?? null
    return state === null ? ended[i] === true : automaton.accepts(state)
  })
}

/** The characters of a URL, the plain ones first. */
const inUrl = Array.from({ length: 94 }, (_, i) => String.fromCharCode(i + 33))
  .filter((char) => !'"<>`#\\'.includes(char))
  .toSorted((a, b) => rankChar(a) - rankChar(b))

function rankChar(char: string): number {
  if (char === 'x') return 0
  const rank = [/[a-w]/, /[yz]/, /[0-9]/, /[A-Z]/, /[_.~-]/].findIndex((each) => each.test(char))
  return rank < 0 ? 6 : rank + 1
}

/** One character of each kind that no automaton tells apart. */
function chooseChars(languages: readonly Language[]): string[] {
  const sets = new Set(languages.flatMap(({ program }) => program.steps.map(({ chars }) => chars)))
  const chosen = new Map<string, string>()
  for (const char of inUrl) {
    const code = char.charCodeAt(0)
    const bits = [...sets].map((set) => set?.ascii[code] ?? 0).join('')
    const kind = `${bits} ${/\w/.test(char)} ${'/?'.includes(char) ? char : ''}`
    if (!chosen.has(kind)) chosen.set(kind, char)
  }
  return [...chosen.values()]
}
