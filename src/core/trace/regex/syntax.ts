import { RegExpParser, type AST } from '@eslint-community/regexpp'

/** A regular expression as ECMAScript reads it without a flag. */
export type Node =
  | { kind: 'empty' | 'start' | 'end' | 'boundary' | 'inside' }
  | { kind: 'char'; chars: CharSet }
  | { kind: 'group'; number: number; of: Node }
  | { kind: 'sequence' | 'choice'; of: Node[] }
  | Repeat
  | { kind: 'look'; of: Node; isBehind: boolean; isNegated: boolean }
  | { kind: 'refer'; groups: number[] }

export interface Repeat {
  kind: 'repeat'
  of: Node
  min: number
  max: number
  isLazy: boolean
  /** The groups in it: the first, and the one after the last. */
  groups: [number, number]
}

/** Which of U+0000 to U+007F match; `others`: whether all beyond do. */
export interface CharSet {
  ascii: Uint8Array
  others: boolean
  raw: string
}

export interface Expression {
  node: Node
  groups: number
  /** Whether it lies in the common core: PCRE, RE2 and ECMAScript read it alike. */
  isCore: boolean
  /** Whether a quantifier follows a group, so that engines differ in what is captured. */
  repeatsGroup: boolean
  /** Whether a part of it refers to what a group has matched. */
  refers: boolean
  /** At most how many steps it is compiled to. */
  size: number
}

/** Greatest product of the counts of nested quantifiers in the core. */
const maxCopies = 1000
/** Greatest length of a pattern that is decided. */
export const maxLength = 4096
/** Greatest depth of groups. */
const maxDepth = 200

const parser = new RegExpParser({ ecmaVersion: 2024 })
const parsed = new Map<string, Expression | null>()

/** Parses a pattern; null if `RegExp` refuses it, or if it is too deep. */
export function parsePattern(pattern: string): Expression | null {
  let found = parsed.get(pattern)
  if (found === undefined) {
    found = parseNew(pattern)
    if (parsed.size >= 1000) parsed.clear()
    parsed.set(pattern, found)
  }
  return found
}

/** Parses a pattern of the common core (request semantics, 3.1); null if it is outside. */
export function parseCore(pattern: string): Expression | null {
  const found = pattern.length > maxLength ? null : parsePattern(pattern)
  return found?.isCore === true ? found : null
}

function parseNew(pattern: string): Expression | null {
  if (isDeep(pattern)) return null
  try {
    new RegExp(pattern)
    return new Reader(pattern).read(parser.parsePattern(pattern))
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function isDeep(pattern: string): boolean {
  let depth = 0
  const marks = pattern.match(/\\.|\[(?:\\.|[^\]\\])*|[()]/gs) ?? []
  return marks.some((mark) => (depth += mark === '(' ? 1 : mark === ')' ? -1 : 0) > maxDepth)
}

const anyEscape = '\\\\[dDwWsS!-/:-@[-^`{-~]'
const coreChar = /^(?:[^\\{]|\\[!-/:-@[-^`{-~])$/
const inClass = '(?:[^\\\\\\][-]|\\[(?![:.=]))'
const coreClass = new RegExp(
  `^\\[\\^?(?!\\^)(?:${inClass}-${inClass}|${inClass}|${anyEscape})+-?\\]$`,
)

/** Reads what the parser of a package returns. */
class Reader {
  #isCore: boolean
  #repeatsGroup = false
  readonly #numbers = new Map<AST.CapturingGroup, number>()
  /** The groups of references, which may open later: to be numbered, and as they were parsed. */
  readonly #references: [number[], AST.CapturingGroup[]][] = []

  constructor(pattern: string) {
    this.#isCore = /^[ -~]*$/.test(pattern)
  }

  read(pattern: AST.Pattern): Expression {
    const node = this.#readChoice(pattern)
    for (const [groups, found] of this.#references)
      for (const group of found) groups.push(this.#numbers.get(group) ?? 0)
    const copies = countCopies(node)
    return {
      node,
      groups: this.#numbers.size,
      isCore: this.#isCore && copies <= maxCopies,
      repeatsGroup: this.#repeatsGroup,
      refers: this.#references.length > 0,
      size: copies * pattern.raw.length,
    }
  }

  #readChoice({ alternatives }: { alternatives: AST.Alternative[] }): Node {
    const parts = alternatives.map(({ elements }): Node => ({
      kind: 'sequence',
      of: elements.map((element) => this.#readElement(element)),
    }))
    const [first] = parts
    return parts.length === 1 && first !== undefined ? first : { kind: 'choice', of: parts }
  }

  #readElement(element: AST.Element): Node {
    const { raw } = element
    switch (element.type) {
      case 'Character':
        this.#isCore &&= coreChar.test(raw)
        return {
          kind: 'char',
          chars: findChars(`\\u${element.value.toString(16).padStart(4, '0')}`),
        }
      case 'CharacterClass':
        this.#isCore &&= coreClass.test(raw)
        return { kind: 'char', chars: findChars(raw) }
      case 'CharacterSet':
        return { kind: 'char', chars: findChars(raw) }
      case 'Group':
        return this.#readChoice(element)
      case 'CapturingGroup': {
        const number = this.#numbers.set(element, this.#numbers.size + 1).size
        this.#isCore &&= element.name === null
        return { kind: 'group', number, of: this.#readChoice(element) }
      }
      case 'Quantifier':
        return this.#readQuantifier(element)
      case 'Assertion':
        return this.#readAssertion(element)
      case 'Backreference': {
        this.#isCore = false
        const groups: number[] = []
        this.#references.push([groups, [element.resolved].flat()])
        return { kind: 'refer', groups }
      }
      default:
        throw new SyntaxError(`"${raw}" is read only with a flag`)
    }
  }

  #readQuantifier({ element, min, max, greedy }: AST.Quantifier): Node {
    const first = this.#numbers.size + 1
    const of = this.#readElement(element)
    this.#repeatsGroup ||= of.kind !== 'char'
    return {
      kind: 'repeat',
      of,
      min,
      max,
      isLazy: !greedy,
      groups: [first, this.#numbers.size + 1],
    }
  }

  #readAssertion(element: AST.Assertion): Node {
    if (element.kind === 'word') return { kind: element.negate ? 'inside' : 'boundary' }
    if (!('alternatives' in element)) return { kind: element.kind }
    this.#isCore = false
    const isBehind = element.kind === 'lookbehind'
    return { kind: 'look', of: this.#readChoice(element), isBehind, isNegated: element.negate }
  }
}

/** Counts how often the most repeated part is compiled, once more if it has no end. */
function countCopies(node: Node): number {
  if (node.kind === 'sequence' || node.kind === 'choice')
    return node.of.reduce((most, part) => Math.max(most, countCopies(part)), 1)
  if (node.kind === 'group') return countCopies(node.of)
  if (node.kind !== 'repeat') return 1
  const { of, min, max } = node
  const copies = max < Number.POSITIVE_INFINITY ? max : of.kind === 'char' ? min : min + 1
  return Math.max(copies, 1) * countCopies(of)
}

const sets = new Map<string, CharSet>()

/**
 * Finds the characters of a class, or of another expression for one.
 *
 * @param flag `i` to ignore the case of letters
 */
export function findChars(raw: string, flag: '' | 'i' = ''): CharSet {
  const known = sets.get(flag + raw)
  if (known !== undefined) return known
  const regex = new RegExp(`^${raw}$`, `s${flag}`)
  const has = (code: number) => regex.test(String.fromCharCode(code))
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(has(code)))
  const found = { ascii, others: has(0x100), raw }
  if (sets.size >= 1000) sets.clear()
  sets.set(flag + raw, found)
  return found
}

/** Writes a pattern that stands for a text. */
export function escapePattern(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/g, '\\$&')
}
