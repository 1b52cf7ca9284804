/**
 * The common core of regular expressions: what PCRE, RE2 and ECMAScript read alike (request
 * semantics, 3.1).
 */
export type Node =
  | { kind: 'empty' | 'start' | 'end' | 'boundary' | 'inside' }
  | { kind: 'char'; chars: CharSet }
  | { kind: 'group'; number: number; of: Node }
  | { kind: 'sequence' | 'choice'; of: Node[] }
  | { kind: 'repeat'; of: Node; min: number; max: number; isLazy: boolean }

/** Which of U+0000 to U+007F match; `others`: whether all beyond do. */
export interface CharSet {
  ascii: Uint8Array
  others: boolean
}

export interface Expression {
  node: Node
  groups: number
  /** Whether a quantifier follows a group, so that engines differ in what is captured. */
  repeatsGroup: boolean
}

/** Greatest count of a quantifier, also of nested ones multiplied. */
const maxCount = 1000
/** Greatest length of a pattern that is decided. */
const maxLength = 4096

/** Parses a pattern; null if it is outside of the common core. */
export function parseCore(pattern: string): Expression | null {
  if (pattern.length > maxLength || !/^[ -~]*$/.test(pattern)) return null
  const parser = new Parser(pattern)
  try {
    return parser.parse()
  } catch (error) {
    if (error instanceof OutsideCore) return null
    throw error
  }
}

class OutsideCore extends Error {}

class Parser {
  readonly #text: string
  #at = 0
  #groups = 0
  #repeatsGroup = false
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): Expression {
    const { node } = this.#parseChoice()
    if (this.#at < this.#text.length) throw new OutsideCore()
    return { node, groups: this.#groups, repeatsGroup: this.#repeatsGroup }
  }

  /** `counts`: product of the counts of nested repetitions. */
  #parseChoice(): { node: Node; counts: number } {
    if (++this.#depth > 200) throw new OutsideCore()
    const parts = [this.#parseSequence()]
    while (this.#take('|')) parts.push(this.#parseSequence())
    this.#depth--
    const counts = parts.reduce((most, part) => Math.max(most, part.counts), 1)
    const [first] = parts
    if (parts.length === 1 && first !== undefined) return first
    return { node: { kind: 'choice', of: parts.map((part) => part.node) }, counts }
  }

  #parseSequence(): { node: Node; counts: number } {
    const of: Node[] = []
    let counts = 1
    while (this.#at < this.#text.length && !'|)'.includes(this.#text[this.#at] ?? '')) {
      const part = this.#parsePart()
      of.push(part.node)
      counts = Math.max(counts, part.counts)
    }
    return { node: of.length === 0 ? { kind: 'empty' } : { kind: 'sequence', of }, counts }
  }

  #parsePart(): { node: Node; counts: number } {
    if (this.#take('^')) return { node: { kind: 'start' }, counts: 1 }
    if (this.#take('$')) return { node: { kind: 'end' }, counts: 1 }
    if (this.#take('\\b')) return { node: { kind: 'boundary' }, counts: 1 }
    if (this.#take('\\B')) return { node: { kind: 'inside' }, counts: 1 }
    const isGroup = this.#text[this.#at] === '('
    const atom = this.#parseAtom()
    const found = /^(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})(\??)/.exec(
      this.#text.slice(this.#at, this.#at + 13),
    )
    if (found === null) return atom
    const [whole, sign, from, comma, to, lazy] = found
    this.#at += whole.length
    if (isGroup) this.#repeatsGroup = true
    const min = sign === undefined ? Number(from) : sign === '+' ? 1 : 0
    const max = findMax(sign, min, comma, to)
    const count = max === Number.POSITIVE_INFINITY ? min : max
    // A repetition without an end is compiled once more, and so are those within it.
    const copies = isGroup && max === Number.POSITIVE_INFINITY ? min + 1 : count
    const counts = Math.max(copies, 1) * atom.counts
    if (max < min || count > maxCount || counts > maxCount) throw new OutsideCore()
    return { node: { kind: 'repeat', of: atom.node, min, max, isLazy: lazy === '?' }, counts }
  }

  #parseAtom(): { node: Node; counts: number } {
    if (this.#take('(')) return this.#parseGroup()
    if (this.#take('.')) return { node: { kind: 'char', chars: anyChar }, counts: 1 }
    if (this.#take('[')) return { node: { kind: 'char', chars: this.#parseClass() }, counts: 1 }
    if (this.#take('\\')) return { node: { kind: 'char', chars: this.#parseEscape() }, counts: 1 }
    const char = this.#text[this.#at] ?? ''
    if (char === '' || '*+?{)'.includes(char)) throw new OutsideCore()
    this.#at++
    return { node: { kind: 'char', chars: oneChar(char) }, counts: 1 }
  }

  #parseGroup(): { node: Node; counts: number } {
    const isCapturing = !this.#take('?:')
    const number = isCapturing ? ++this.#groups : 0
    const { node, counts } = this.#parseChoice()
    if (!this.#take(')')) throw new OutsideCore()
    return { node: isCapturing ? { kind: 'group', number, of: node } : node, counts }
  }

  #parseEscape(): CharSet {
    const char = this.#text[this.#at++] ?? ''
    const named = classes[char]
    if (named !== undefined) return named
    if (!/^[!-/:-@[-^`{-~]$/.test(char)) throw new OutsideCore()
    return oneChar(char)
  }

  #parseClass(): CharSet {
    const isNegated = this.#take('^')
    const ascii = new Uint8Array(128)
    let isEmpty = true
    while (!this.#take(']')) {
      if (this.#take('-]')) {
        if (isEmpty) throw new OutsideCore()
        ascii[45] = 1
        break
      }
      if (this.#take('\\')) this.#parseEscape().ascii.forEach((is, i) => (ascii[i] ||= is))
      else this.#parseRange(ascii, isEmpty)
      isEmpty = false
    }
    if (isEmpty) throw new OutsideCore()
    return { ascii: isNegated ? ascii.map((is) => 1 - is) : ascii, others: isNegated }
  }

  #parseRange(ascii: Uint8Array, isFirst: boolean): void {
    const from = this.#parseClassChar(isFirst)
    const isRange = this.#text[this.#at] === '-' && this.#text[this.#at + 1] !== ']'
    if (isRange) this.#at++
    const to = isRange ? this.#parseClassChar(false) : from
    if (to < from) throw new OutsideCore()
    ascii.fill(1, from, to + 1)
  }

  #parseClassChar(isFirst: boolean): number {
    const char = this.#text[this.#at] ?? ''
    const opens = char === '[' && ':.='.includes(this.#text[this.#at + 1] ?? ' ')
    if (char === '' || '\\]-'.includes(char) || opens || (isFirst && char === '^'))
      throw new OutsideCore()
    this.#at++
    return char.charCodeAt(0)
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }
}

function findMax(
  sign: string | undefined,
  min: number,
  comma: string | undefined,
  to: string | undefined,
): number {
  if (sign === '?') return 1
  if (sign !== undefined) return Number.POSITIVE_INFINITY
  if (comma === undefined) return min
  return to === undefined ? Number.POSITIVE_INFINITY : Number(to)
}

function charsWhere(pattern: RegExp): CharSet {
  const ascii = new Uint8Array(128)
  for (let code = 0; code < 128; code++)
    if (pattern.test(String.fromCharCode(code))) ascii[code] = 1
  return { ascii, others: false }
}

/** The sets of one character, by its code, as far as they were asked for. */
const single: CharSet[] = []

/** The set of one character of ASCII. */
export function oneChar(char: string): CharSet {
  const code = char.charCodeAt(0)
  if (code > 127) return { ascii: new Uint8Array(128), others: false }
  return (single[code] ??= { ascii: new Uint8Array(128).fill(1, code, code + 1), others: false })
}

export const anyChar: CharSet = { ascii: new Uint8Array(128).fill(1), others: true }

const classes: Record<string, CharSet | undefined> = Object.assign(Object.create(null), {
  d: charsWhere(/\d/),
  D: charsWhere(/\D/),
  w: charsWhere(/\w/),
  W: charsWhere(/\W/),
  s: charsWhere(/\s/),
  S: charsWhere(/\S/),
})
