import type { AST } from '@eslint-community/regexpp'
import { RegExpParser } from '@eslint-community/regexpp'

/** Steps after which an interpreted expression is undecidable. */
const maxSteps = 1_000_000

/**
 * An instruction of the interpreter. `jump`s are absolute; `slot`s are registers: captures first,
 * then counters and places of loops.
 */
type Instruction =
  | { op: 'char'; test: (code: number) => boolean; isBackward: boolean }
  | { op: 'assert'; test: (text: string, at: number) => boolean }
  | { op: 'save' | 'count'; slot: number }
  | { op: 'clear'; from: number; to: number }
  | { op: 'refer'; groups: number[]; isBackward: boolean }
  | { op: 'jump'; to: number }
  | { op: 'try'; first: number; second: number }
  | {
      op: 'loop'
      counter: number
      place: number
      min: number
      max: number
      isGreedy: boolean
      exit: number
    }
  | { op: 'look'; code: Instruction[]; isNegated: boolean }
  | { op: 'end' }

const parse = new Map<string, AST.Pattern | null>()

/**
 * Matches a text as ECMAScript's `RegExp` does, with no flag but `i`, step by step.
 *
 * @param whole whether the match must be the whole text
 * @returns the place of the match and of its groups, -1 for one without a part; null for no match;
 *   undecidable after 1,000,000 steps, and for a pattern that `RegExp` refuses
 */
export function interpret(
  pattern: string,
  text: string,
  ignoresCase: boolean,
  whole: boolean,
): number[] | null | 'undecidable' {
  const ast = parsePattern(pattern)
  if (ast === null) return 'undecidable'
  const compiler = new Compiler(ignoresCase)
  const code = compiler.compile(ast, whole)
  const machine = new Machine(text, ignoresCase)
  for (let start = 0; start <= (whole ? 0 : text.length); start++) {
    const registers = Array.from({ length: compiler.slots }, () => -1)
    const found = machine.run(code, start, registers)
    if (found === 'undecidable') return found
    if (found !== null) return found.slice(0, compiler.captures)
  }
  return null
}

function parsePattern(pattern: string): AST.Pattern | null {
  const known = parse.get(pattern)
  if (known !== undefined) return known
  let ast: AST.Pattern | null = null
  try {
    new RegExp(pattern)
    ast = new RegExpParser({ ecmaVersion: 2024 }).parsePattern(pattern)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  if (parse.size > 1000) parse.clear()
  parse.set(pattern, ast)
  return ast
}

class Compiler {
  slots = 0
  captures = 0
  readonly #ignoresCase: boolean
  readonly #numbers = new Map<AST.CapturingGroup, number>()

  constructor(ignoresCase: boolean) {
    this.#ignoresCase = ignoresCase
  }

  compile(ast: AST.Pattern, whole: boolean): Instruction[] {
    this.#countGroups(ast)
    this.captures = 2 * (this.#numbers.size + 1)
    this.slots = this.captures
    const code: Instruction[] = [{ op: 'save', slot: 0 }]
    this.#choice(code, ast.alternatives, false)
    code.push({ op: 'save', slot: 1 })
    if (whole) code.push({ op: 'assert', test: (text, at) => at === text.length })
    code.push({ op: 'end' })
    return code
  }

  #countGroups(node: AST.Pattern | AST.Element | AST.Alternative): void {
    if (node.type === 'CapturingGroup') this.#numbers.set(node, this.#numbers.size + 1)
    if (node.type === 'Quantifier') this.#countGroups(node.element)
    if ('alternatives' in node) for (const each of node.alternatives) this.#countGroups(each)
    if (node.type === 'Alternative') for (const each of node.elements) this.#countGroups(each)
  }

  #choice(code: Instruction[], alternatives: AST.Alternative[], isBackward: boolean): void {
    const jumps: { op: 'jump'; to: number }[] = []
    alternatives.forEach((alternative, i) => {
      const isLast = i === alternatives.length - 1
      const entry = { op: 'try' as const, first: code.length + 1, second: -1 }
      if (!isLast) code.push(entry)
      const elements = isBackward ? alternative.elements.toReversed() : alternative.elements
      for (const element of elements) this.#element(code, element, isBackward)
      if (isLast) return
      const jump = { op: 'jump' as const, to: -1 }
      jumps.push(jump)
      code.push(jump)
      entry.second = code.length
    })
    for (const jump of jumps) jump.to = code.length
  }

  #element(code: Instruction[], element: AST.Element, isBackward: boolean): void {
    switch (element.type) {
      case 'Character':
      case 'CharacterSet':
      case 'CharacterClass':
        code.push({ op: 'char', test: this.#testChar(element), isBackward })
        return
      case 'Group':
        this.#choice(code, element.alternatives, isBackward)
        return
      case 'CapturingGroup': {
        const slot = 2 * (this.#numbers.get(element) ?? 0)
        code.push({ op: 'save', slot: slot + Number(isBackward) })
        this.#choice(code, element.alternatives, isBackward)
        code.push({ op: 'save', slot: slot + Number(!isBackward) })
        return
      }
      case 'Backreference': {
        const resolved = [element.resolved].flat()
        const groups = resolved.map((group) => this.#numbers.get(group) ?? 0)
        code.push({ op: 'refer', groups, isBackward })
        return
      }
      case 'Assertion':
        this.#assertion(code, element)
        return
      case 'Quantifier':
        this.#quantifier(code, element, isBackward)
        return
      default:
        throw new SyntaxError(`"${element.raw}" is read only with a flag`)
    }
  }

  #assertion(code: Instruction[], element: AST.Assertion): void {
    if (element.kind === 'lookahead' || element.kind === 'lookbehind') {
      const inner: Instruction[] = []
      this.#choice(inner, element.alternatives, element.kind === 'lookbehind')
      inner.push({ op: 'end' })
      code.push({ op: 'look', code: inner, isNegated: element.negate })
    } else if (element.kind === 'word') {
      const { negate } = element
      const test = (text: string, at: number) =>
        (isWordAt(text, at - 1) !== isWordAt(text, at)) !== negate
      code.push({ op: 'assert', test })
    } else {
      const isStart = element.kind === 'start'
      code.push({ op: 'assert', test: (text, at) => at === (isStart ? 0 : text.length) })
    }
  }

  #quantifier(code: Instruction[], element: AST.Quantifier, isBackward: boolean): void {
    const [counter, place] = [this.slots++, this.slots++]
    const inside = [...this.#numbers].filter(
      ([group]) => group.start >= element.start && group.end <= element.end,
    )
    const numbers = inside.map(([, number]) => number)
    const { min, max, greedy } = element
    code.push({ op: 'count', slot: counter })
    const loop = {
      op: 'loop' as const,
      counter,
      place,
      min,
      max,
      isGreedy: greedy,
      exit: -1,
    }
    const start = code.length
    code.push(loop)
    if (numbers.length > 0)
      code.push({ op: 'clear', from: 2 * (numbers[0] ?? 0), to: 2 * (numbers.at(-1) ?? 0) + 2 })
    this.#element(code, element.element, isBackward)
    code.push({ op: 'jump', to: start })
    loop.exit = code.length
  }

  #testChar(
    element: AST.Character | AST.CharacterSet | AST.CharacterClass,
  ): (code: number) => boolean {
    const source = element.raw
    const regex = new RegExp(`^${source === '' ? '(?:)' : source}$`, this.#ignoresCase ? 'i' : '')
    const known = new Map<number, boolean>()
    return (code) => {
      let found = known.get(code)
      if (found === undefined) known.set(code, (found = regex.test(String.fromCharCode(code))))
      return found
    }
  }
}

function isWordAt(text: string, at: number): boolean {
  return /\w/.test(text[at] ?? ' ')
}

interface Thread {
  pc: number
  at: number
  registers: number[]
}

class Machine {
  readonly #text: string
  readonly #ignoresCase: boolean
  #steps = 0

  constructor(text: string, ignoresCase: boolean) {
    this.#text = text
    this.#ignoresCase = ignoresCase
  }

  /** Runs code from a place; the registers of the first match, null without one. */
  run(code: Instruction[], start: number, from: number[]): number[] | null | 'undecidable' {
    const waiting: Thread[] = [{ pc: 0, at: start, registers: [...from] }]
    for (;;) {
      const thread = waiting.pop()
      if (thread === undefined) return null
      for (;;) {
        if (++this.#steps > maxSteps) return 'undecidable'
        const step = code[thread.pc]
        if (step === undefined || step.op === 'end') return thread.registers
        const goesOn = this.#step(step, thread, waiting)
        if (goesOn === 'undecidable') return goesOn
        if (!goesOn) break
      }
    }
  }

  #step(step: Instruction, thread: Thread, waiting: Thread[]): boolean | 'undecidable' {
    thread.pc++
    switch (step.op) {
      case 'char': {
        const index = step.isBackward ? thread.at - 1 : thread.at
        thread.at += step.isBackward ? -1 : 1
        return index >= 0 && index < this.#text.length && step.test(this.#text.charCodeAt(index))
      }
      case 'assert':
        return step.test(this.#text, thread.at)
      case 'save':
        thread.registers[step.slot] = thread.at
        return true
      case 'count':
        thread.registers[step.slot] = 0
        return true
      case 'clear':
        thread.registers.fill(-1, step.from, step.to)
        return true
      case 'jump':
        thread.pc = step.to
        return true
      case 'try':
        waiting.push({ pc: step.second, at: thread.at, registers: [...thread.registers] })
        thread.pc = step.first
        return true
      case 'refer':
        return this.#refer(step, thread)
      case 'loop':
        return loopOn(step, thread, waiting)
      case 'look':
        return this.#look(step, thread)
      default:
        return true
    }
  }

  #refer(step: Extract<Instruction, { op: 'refer' }>, thread: Thread): boolean {
    const [start, end] = findPart(step.groups, thread.registers)
    if (start < 0 || end < 0) return true
    const wanted = this.#text.slice(start, end)
    const from = step.isBackward ? thread.at - wanted.length : thread.at
    if (from < 0) return false
    const given = this.#text.slice(from, from + wanted.length)
    thread.at = step.isBackward ? from : from + wanted.length
    if (!this.#ignoresCase) return given === wanted
    return given.length === wanted.length && given.toUpperCase() === wanted.toUpperCase()
  }

  #look(step: Extract<Instruction, { op: 'look' }>, thread: Thread): boolean | 'undecidable' {
    const found = this.run(step.code, thread.at, thread.registers)
    if (found === 'undecidable') return found
    if (step.isNegated) return found === null
    if (found !== null) thread.registers = found
    return found !== null
  }
}

function findPart(groups: number[], registers: number[]): [number, number] {
  const taken = groups.find((group) => (registers[2 * group + 1] ?? -1) >= 0) ?? groups[0] ?? 0
  return [registers[2 * taken] ?? -1, registers[2 * taken + 1] ?? -1]
}

/** Goes round once more, or leaves the loop; an empty round beyond the least number fails. */
function loopOn(
  step: Extract<Instruction, { op: 'loop' }>,
  thread: Thread,
  waiting: Thread[],
): boolean {
  const { registers } = thread
  const count = registers[step.counter] ?? 0
  const isEmpty = count > step.min && registers[step.place] === thread.at
  if (isEmpty) return false
  const enter = (to: Thread) => {
    to.registers[step.counter] = count + 1
    to.registers[step.place] = to.at
  }
  if (count < step.min) {
    enter(thread)
    return true
  }
  const exit = step.exit
  if (count >= step.max) {
    thread.pc = exit
    return true
  }
  const other: Thread = { pc: thread.pc, at: thread.at, registers: [...registers] }
  if (step.isGreedy) {
    other.pc = exit
    enter(thread)
  } else {
    thread.pc = exit
    enter(other)
  }
  waiting.push(other)
  return true
}
