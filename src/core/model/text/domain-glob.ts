import { append } from '../lists.ts'

/** Matches a domain name; letter case does not count. */
export type DomainMatcher = (domain: string) => boolean

/** One character: that one, or a test for several. */
type Unit = string | ((character: string) => boolean)
/** Units between two `*`; a text where all are plain. */
type Piece = string | Unit[]
/** Pieces around `*`, without an alternative. */
type Sequence = Piece[]

/** Maximum number of sequences of a glob: each `{a,b}` doubles them. */
const maxSequences = 1000

const unsupported =
  'expected only "*", "?", "[abc]", "{a,b}", "@(a|b)" and a leading "!" as special characters'

/** Explains why a text is no glob of domain names; null if it is one. */
export function findGlobFault(glob: string): string | null {
  const parsed = parseGlob(glob)
  return 'fault' in parsed ? parsed.fault : null
}

/**
 * Compiles a glob over domain names. Matching takes time in proportion to the lengths, whatever the
 * glob: an expression would go back for each `*`. A glob with a fault matches nothing.
 */
export function compileDomainGlob(glob: string): DomainMatcher {
  const parsed = parseGlob(glob)
  if ('fault' in parsed) return () => false
  const { isNegated, sequences } = parsed
  return (domain) => {
    const name = domain.toLowerCase()
    return sequences.some((sequence) => matchSequence(sequence, name)) !== isNegated
  }
}

/**
 * Estimates the work of matching a glob with a domain: one for each sequence, more for what is
 * looked for at each character.
 */
export function weighDomainGlob(glob: string): number {
  const parsed = parseGlob(glob)
  if ('fault' in parsed) return 1
  return parsed.sequences.reduce(
    (sum, [, ...others]) =>
      sum + others.reduce((all, each) => all + (typeof each === 'string' ? 0 : each.length), 1),
    0,
  )
}

/**
 * Compiles a list of patterns, as each place that takes a list means it: the last pattern that
 * matches a domain decides, and one after `!` takes domains out. A list that begins with such a
 * pattern has all domains but those.
 */
export function compileDomainGlobs(patterns: readonly string[]): DomainMatcher {
  const rules = patterns.map((pattern) => {
    const takesOut = isTakingOut(pattern)
    return { takesOut, matches: compileDomainGlob(takesOut ? pattern.slice(1) : pattern) }
  })
  const otherwise = rules[0]?.takesOut ?? false
  return (domain) => {
    const last = rules.findLast(({ matches }) => matches(domain))
    return last === undefined ? otherwise : !last.takesOut
  }
}

/** Tests whether a pattern of a list takes domains out. */
export function isTakingOut(pattern: string): boolean {
  return pattern.startsWith('!')
}

type Parsed = { isNegated: boolean; sequences: Sequence[] } | { fault: string }

function parseGlob(glob: string): Parsed {
  const bangs = /^!*/.exec(glob)?.[0].length ?? 0
  if (/^!+\(/.test(glob)) return { fault: unsupported }
  const tokens = tokenize(glob.slice(bangs).toLowerCase())
  if ('fault' in tokens) return tokens
  const reader = { tokens: tokens.list, next: 0 }
  const sequences = parseAlternatives(reader, 0)
  if (sequences === null || reader.next < reader.tokens.length)
    return {
      fault: `expected at most ${maxSequences} alternatives in a glob, each "{" and "(" closed`,
    }
  return { isNegated: bangs % 2 === 1, sequences: sequences.map(joinUnits) }
}

/** A unit, a `*`, or what opens, separates and closes alternatives. */
type Separator = '*' | '{' | '}' | ',' | '|'
type Token = { kind: Separator } | { kind: 'unit'; unit: Unit }

function tokenize(text: string): { list: Token[] } | { fault: string } {
  const list: Token[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '\\') list.push({ kind: 'unit', unit: text[++at] ?? '\\' })
    else if (character === '?' && text[at + 1] !== '(')
      list.push({ kind: 'unit', unit: () => true })
    else if (character === '[') {
      const end = text.indexOf(']', at + 2)
      const unit = end < 0 ? null : compileClass(text.slice(at + 1, end))
      if (unit === null) return { fault: `"[" at position ${at + 1} begins no class` }
      list.push({ kind: 'unit', unit })
      at = end
    } else if (/[?*+!]\(|\+/.test(text.slice(at, at + 2))) return { fault: unsupported }
    else if (character === '@' && text[at + 1] === '(') continue
    else if (character === '(') list.push({ kind: '{' })
    else if (character === ')') list.push({ kind: '}' })
    else if ('*{},|'.includes(character)) list.push({ kind: character as Separator })
    else list.push({ kind: 'unit', unit: character })
  }
  return { list }
}

/** Compiles the inside of `[…]`: characters, ranges, `^` at its begin; null for others. */
function compileClass(text: string): Unit | null {
  const isNegated = text.startsWith('^')
  const inside = isNegated ? text.slice(1) : text
  if (!/^[\w.-]+$/.test(inside)) return null
  const ranges = [...inside.matchAll(/(.)-(.)|./g)].map(([one, from = one, to = one]) => [from, to])
  return (character) =>
    ranges.some(([from = '', to = '']) => from <= character && character <= to) !== isNegated
}

interface Reader {
  tokens: Token[]
  next: number
}

/** A sequence under construction: units and `*`. */
type Draft = (Unit | null)[]

/** Parses to the end, or to the `}` that closes a level; null with too many alternatives. */
function parseAlternatives(reader: Reader, level: number): Draft[] | null {
  if (level > 8) return null
  const finished: Draft[] = []
  let drafts: Draft[] = [[]]
  for (; reader.next < reader.tokens.length; reader.next++) {
    const token = reader.tokens[reader.next]
    if (token === undefined || (token.kind === '}' && level > 0)) break
    if (token.kind === '{') {
      reader.next++
      const inner = parseAlternatives(reader, level + 1)
      if (inner === null || reader.tokens[reader.next]?.kind !== '}') return null
      if (drafts.length * inner.length > maxSequences) return null
      drafts = drafts.flatMap((draft) => inner.map((each) => [...draft, ...each]))
    } else if (token.kind === '|' && level === 0) return null
    else if ((token.kind === ',' || token.kind === '|') && level > 0) {
      append(finished, drafts)
      drafts = [[]]
      if (finished.length > maxSequences) return null
    } else {
      const unit = token.kind === 'unit' ? token.unit : token.kind === '*' ? null : token.kind
      for (const draft of drafts) draft.push(unit)
    }
  }
  return [...finished, ...drafts]
}

function joinUnits(draft: Draft): Sequence {
  const pieces: Unit[][] = [[]]
  for (const unit of draft)
    if (unit === null) pieces.push([])
    else pieces.at(-1)?.push(unit)
  return pieces.map((units) =>
    units.every((unit) => typeof unit === 'string') ? units.join('') : units,
  )
}

/** Matches pieces from left to right; the leftmost place of each leaves most to those after it. */
function matchSequence(sequence: Sequence, name: string): boolean {
  const [first = '', ...others] = sequence
  const last = others.pop()
  if (!isAt(first, name, 0)) return false
  if (last === undefined) return first.length === name.length
  const end = name.length - last.length
  let at = first.length
  for (const piece of others) {
    at = findPiece(piece, name, at)
    if (at < 0) return false
    at += piece.length
  }
  return at <= end && isAt(last, name, end)
}

function findPiece(piece: Piece, name: string, from: number): number {
  if (typeof piece === 'string') return name.indexOf(piece, from)
  for (let at = from; at + piece.length <= name.length; at++) if (isAt(piece, name, at)) return at
  return -1
}

function isAt(piece: Piece, name: string, at: number): boolean {
  if (typeof piece === 'string') return name.startsWith(piece, at)
  return piece.every((unit, i) => {
    const character = name[at + i]
    if (character === undefined) return false
    return typeof unit === 'string' ? unit === character : unit(character)
  })
}
