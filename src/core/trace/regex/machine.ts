import { getOrAdd } from '../../model/lists.ts'
import { lowerAscii } from '../../model/text/lower-ascii.ts'
import { findChars, type CharSet, type Expression, type Node, type Repeat } from './syntax.ts'

/** A step of a program: it reads a character, goes on to others, or tests a place. */
interface Step {
  op:
    | 'char'
    | 'split'
    | 'save'
    | 'start'
    | 'end'
    | 'boundary'
    | 'inside'
    | 'match'
    | 'look'
    | 'look-not'
    | 'refer'
    | 'check'
  chars: CharSet | null
  /** Next step, and the less preferred one of a split; the register of a save or a check. */
  next: number
  other: number
  /** The part of a look-around; the groups of a reference, or those that a save clears. */
  body?: Program
  groups?: number[]
}

/** A compiled expression. */
export interface Program {
  steps: Step[]
  /** Where groups begin and end, from the first register on; 0 if that is not found. */
  slots: number
  ignoresCase: boolean
  /** Reads texts towards their start. */
  isBackward: boolean
  /** What each match begins with. */
  prefix: string
  /** Whether what groups have matters for what goes on. */
  refers: boolean
}

/** Says that a text takes more steps than are made. */
class GivenUp extends Error {}

/**
 * Compiles an expression to steps that are followed all at once, without going back.
 *
 * @param slots twice the number of groups and the whole, to find them; 0 to test only
 */
export function compileProgram(node: Node, slots: number, ignoresCase: boolean): Program {
  return new Compiler(slots, ignoresCase, false, 0).compile({ kind: 'group', number: 0, of: node })
}

const programs = new WeakMap<Expression, (Program | undefined)[]>()

/**
 * Compiles an expression once.
 *
 * @param keeps whether groups are to be found
 */
export function compileExpression(
  expression: Expression,
  ignoresCase: boolean,
  keeps: boolean,
): Program {
  const slots = keeps || expression.refers ? 2 * expression.groups + 2 : 0
  const known = getOrAdd(programs, expression, () => [])
  const place = Number(ignoresCase) + 2 * Number(slots > 0)
  return (known[place] ??= compileProgram(expression.node, slots, ignoresCase))
}

class Compiler {
  readonly #steps: Step[] = []
  readonly #program: Program
  /** Repetitions around what is compiled. */
  #depth: number

  constructor(slots: number, ignoresCase: boolean, isBackward: boolean, depth: number) {
    const steps = this.#steps
    this.#depth = depth
    this.#program = { steps, slots, ignoresCase, isBackward, prefix: '', refers: false }
  }

  compile(node: Node): Program {
    this.#add(node)
    this.#push('match')
    for (const { op, chars } of this.#steps) {
      const char = findOnly(chars)
      if (op !== 'save' && char === '') break
      this.#program.prefix += char
    }
    return this.#program
  }

  #push(op: Step['op'], other = -1, chars: CharSet | null = null): Step {
    const step = { op, chars, next: this.#steps.length + 1, other }
    this.#steps.push(step)
    return step
  }

  #add(node: Node): void {
    const { slots, ignoresCase, isBackward } = this.#program
    switch (node.kind) {
      case 'empty':
        return
      case 'char':
        this.#push('char', -1, ignoresCase ? findChars(node.chars.raw, 'i') : node.chars)
        return
      case 'sequence':
        for (const part of isBackward ? node.of.toReversed() : node.of) this.#add(part)
        return
      case 'group':
        if (slots > 0) this.#push('save', 2 * node.number + Number(isBackward))
        this.#add(node.of)
        if (slots > 0) this.#push('save', 2 * node.number + Number(!isBackward))
        return
      case 'choice':
        this.#addChoice(node.of)
        return
      case 'repeat':
        this.#addRepeat(node)
        return
      case 'look': {
        const body = new Compiler(slots, ignoresCase, node.isBehind, this.#depth).compile(node.of)
        this.#program.refers ||= body.refers
        this.#push(node.isNegated ? 'look-not' : 'look').body = body
        return
      }
      case 'refer':
        this.#program.refers = true
        this.#push('refer').groups = node.groups
        return
      default:
        this.#push(node.kind)
    }
  }

  #addChoice(parts: Node[]): void {
    const ends: Step[] = []
    parts.forEach((part, i) => {
      const isLast = i === parts.length - 1
      const split = isLast ? null : this.#push('split')
      this.#add(part)
      if (split === null) return
      ends.push(this.#push('split'))
      split.other = this.#steps.length
    })
    for (const end of ends) end.next = this.#steps.length
  }

  /** A round beyond the least number that reads nothing fails; each round begins without groups. */
  #addRepeat({ of, min, max, isLazy, groups }: Repeat): void {
    const keeps = this.#program.slots > 0 && of.kind !== 'char'
    const place = this.#program.slots + ++this.#depth
    const splits: Step[] = []
    const addRound = (isChecked: boolean) => {
      if (isChecked) splits.push(this.#push('split'))
      if (keeps) this.#push('save', place).groups = groups
      this.#add(of)
      if (keeps && isChecked) this.#push('check', place)
    }
    for (let i = 0; i < min; i++) addRound(false)
    const start = this.#steps.length
    if (max === Number.POSITIVE_INFINITY) {
      addRound(true)
      this.#push('split').next = start
    } else for (let i = min; i < max; i++) addRound(true)
    for (const split of splits) {
      split.other = this.#steps.length
      if (isLazy) [split.next, split.other] = [split.other, split.next]
    }
    this.#depth--
  }
}

/** The only character of a set; empty if there are none or several. */
function findOnly(chars: CharSet | null): string {
  if (chars === null || chars.others) return ''
  const code = chars.ascii.indexOf(1)
  return chars.ascii.lastIndexOf(1) === code ? String.fromCharCode(code) : ''
}

/**
 * Finds where the leftmost match begins and ends, by the preferences of alternatives and
 * quantifiers, and its groups, -1 for one that took no part; empty if the program only tests.
 * Takes time in proportion to program × text, but for look-arounds and references.
 *
 * @param whole whether all of the text must match
 * @param left steps that are made at most; one counts once more for each register that it carries
 * @returns null without a match, undefined if it takes more steps
 */
export function findMatch(
  program: Program,
  text: string,
  whole: boolean,
  left = Number.POSITIVE_INFINITY,
): number[] | null | undefined {
  const isAnchored = whole || program.steps[0]?.op === 'start'
  try {
    const found = new Run(program, text, { left }).find(0, none, isAnchored, whole)
    return found && Array.from({ length: program.slots }, (_, i) => found[i] ?? -1)
  } catch (error) {
    if (error instanceof GivenUp) return undefined
    throw error
  }
}

/** Where groups begin and end, how far a reference is read, and where rounds began. */
type Registers = readonly (number | undefined)[]

const none: Registers = []

/** A step of the program, and what was found on the way to it. */
interface Thread {
  index: number
  own: Registers
}

/** One run of a program over a text: the threads at a place, most preferred first. */
class Run {
  readonly #program: Program
  readonly #text: string
  /** Steps that may still be made, together with those of look-arounds. */
  readonly #budget: { left: number }
  /** Place + 1 at which a step was last added. */
  readonly #seen: Int32Array
  /** The steps that were added at a place, with what matters in their registers. */
  readonly #states = new Set<string>()
  #threads: Thread[] = []

  constructor(program: Program, text: string, budget: { left: number }) {
    this.#program = program
    this.#text = text
    this.#budget = budget
    this.#seen = new Int32Array(program.steps.length)
  }

  /** @param isAnchored whether the match begins at the start */
  find(start: number, given: Registers, isAnchored: boolean, whole: boolean): Registers | null {
    const { isBackward, prefix } = this.#program
    const last = isBackward ? 0 : this.#text.length
    let best: Registers | null = null
    for (let at = start; ; at += isBackward ? -1 : 1) {
      if (this.#threads.length === 0) {
        if (at !== start && (best !== null || isAnchored)) return best
        if (!isAnchored && prefix !== '') at = this.#text.indexOf(prefix, at)
        if (at < 0) return null
      }
      if (best === null && (at === start || !isAnchored)) this.#add(0, at, given)
      best = this.#read(at, whole && at !== last) ?? best
      if (at === last || (best !== null && this.#program.slots === 0)) return best
    }
  }

  /** Reads a character with all threads, up to one that matches; its registers. */
  #read(at: number, mustGoOn: boolean): Registers | null {
    const { steps, isBackward } = this.#program
    const threads = this.#threads
    this.#threads = []
    this.#states.clear()
    const code = this.#text.charCodeAt(isBackward ? at - 1 : at)
    const next = isBackward ? at - 1 : at + 1
    for (const { index, own } of threads) {
      const step = steps[index]
      if (step?.op === 'refer') this.#readReferred(step, index, code, next, own)
      else if (step?.op === 'match') {
        if (!mustGoOn) return own
      } else if (step && matches(step.chars, code)) this.#add(step.next, next, own)
    }
    return null
  }

  /** Adds the threads that a step leads to without a character. */
  #add(from: number, at: number, registers: Registers): void {
    const waiting: Thread[] = [{ index: from, own: registers }]
    for (let thread = waiting.pop(); thread !== undefined; thread = waiting.pop()) {
      const { index, own } = thread
      this.#budget.left -= 1 + own.length
      if (this.#budget.left < 0) throw new GivenUp()
      const step = this.#program.steps[index]
      if (step === undefined || this.#isSeen(index, at, own)) continue
      const reads = step.op === 'refer' && this.#findReferred(step, own) !== ''
      if (step.op === 'char' || step.op === 'match' || reads) this.#threads.push(thread)
      else if (step.op === 'split') {
        if (step.other >= 0) waiting.push({ index: step.other, own })
        waiting.push({ index: step.next, own })
      } else {
        const after = this.#pass(step, at, own)
        if (after !== null) waiting.push({ index: step.next, own: after })
      }
    }
  }

  #isSeen(index: number, at: number, registers: Registers): boolean {
    const { slots, refers } = this.#program
    if (!refers && registers.length <= slots) {
      const isSeen = this.#seen[index] === at + 1
      this.#seen[index] = at + 1
      return isSeen
    }
    const matters = refers
      ? registers.slice(1)
      : registers.slice(slots).map((place) => place === at)
    const state = `${index} ${matters.join()}`
    const isSeen = this.#states.has(state)
    this.#states.add(state)
    return isSeen
  }

  /** The registers after a step that reads nothing; null if it fails. */
  #pass(step: Step, at: number, registers: Registers): Registers | null {
    const { op, other, body, groups: [first = 0, end = 0] = [] } = step
    if (op === 'save') {
      const saved = [...registers].fill(-1, 2 * first, 2 * end)
      saved[other] = at
      return saved
    }
    if (op === 'check') return registers[other] === at ? null : registers
    if (op === 'refer') return registers
    if (body === undefined) return holdsAt(op, this.#text, at) ? registers : null
    const found = new Run(body, this.#text, this.#budget).find(at, registers, true, false)
    return op === 'look' ? found : found === null ? registers : null
  }

  /** The text of the group that a reference names; empty without one. */
  #findReferred({ groups = [] }: Step, registers: Registers): string {
    for (const group of groups) {
      const [start = -1, end = -1] = registers.slice(2 * group)
      if (start >= 0 && end >= 0) return this.#text.slice(start, end)
    }
    return ''
  }

  /** Reads one character of the text of a group. */
  #readReferred(step: Step, index: number, code: number, next: number, own: Registers): void {
    const { slots, ignoresCase, isBackward } = this.#program
    const text = this.#findReferred(step, own)
    const count = (own[slots] ?? 0) + 1
    const fold = (char: string) => (ignoresCase ? lowerAscii(char) : char)
    if (fold(text.at(isBackward ? -count : count - 1) ?? '') !== fold(String.fromCharCode(code)))
      return
    const registers = [...own]
    registers[slots] = count < text.length ? count : 0
    this.#add(count < text.length ? index : step.next, next, registers)
  }
}

const word = findChars('\\w')

function matches(chars: CharSet | null, code: number): boolean {
  return code > 127 ? chars?.others === true : chars?.ascii[code] === 1
}

function holdsAt(op: Step['op'], text: string, at: number): boolean {
  if (op === 'start') return at === 0
  if (op === 'end') return at === text.length
  const isBoundary = matches(word, text.charCodeAt(at - 1)) !== matches(word, text.charCodeAt(at))
  return op === 'boundary' ? isBoundary : !isBoundary
}
