import { getOrAdd } from '../model/lists.ts'
import { Environment } from '@marcbachmann/cel-js'
import { toSeconds } from '../catalog/cache-time.ts'
import {
  chooseAlternative,
  findSeparator,
  getAnnotations,
  getField,
  isUnit,
  splitEntries,
  type ItemSchema,
  type Parent,
} from '../catalog/value/item-schema.ts'
import { isObject, type Json } from '../model/json.ts'
import { functions } from './functions.ts'
import type { Subject } from './subject.ts'
import { matchText } from './match-text.ts'
import { explainPath, listVariables, type VariableName } from './variables.ts'

/** Values of variables; whole numbers are of type bigint. */
export type Variables = Partial<Record<VariableName, unknown>>

/** The value of an expression, or in a clause why it has none. */
export type Outcome = { value: unknown } | { fault: string }

/** A compiled expression in CEL. */
export interface Expression {
  text: string
  /** The variables that it mentions. */
  names: ReadonlySet<string>
  /** What it reads of variables, as `['config', 'origin', 'origin_mode']`. */
  paths: string[][]
  /** Evaluates it, with at most the steps that are left of the budget. */
  evaluate(values: Variables, budget: Budget): Outcome
}

/** Fault of an expression, at a position of its text. */
export interface ExpressionFault {
  fault: string
  at: number
}

/** Steps that a policy may still take in this run. */
export interface Budget {
  left: number
}

/** Limits of an expression, and of one evaluation: steps are nodes, and pieces of large values. */
export const expressionLimits = { length: 4096, nodes: 1000, depth: 50, steps: 100_000 }

const limits = {
  maxAstNodes: expressionLimits.nodes,
  maxDepth: expressionLimits.depth,
  maxListElements: 200,
  maxMapEntries: 200,
}

/** A node of a syntax tree. The package evaluates each through its own `evaluate`. */
interface Node {
  op: string
  args: unknown
  meta: { alternate?: Node; macro?: unknown }
  /** Its last value. */
  last?: unknown
  evaluate: Evaluate
}
type Evaluate = (this: Node, evaluator: Runner, node: Node, context: unknown) => unknown
interface Runner {
  run(node: Node, context: unknown): unknown
}

/** An expression that takes too much work. */
class TooMuchWork extends Error {}

const environments = new Map<Subject, Environment>()

function getEnvironment(on: Subject): Environment {
  return getOrAdd(environments, on, () => {
    const created = new Environment({ limits, homogeneousAggregateLiterals: false })
    for (const name of listVariables(on)) created.registerVariable(name, 'map')
    return created
  })
}

/**
 * Compiles an expression with the variables of a subject. Unknown variables, items and fields are
 * faults, as is a type that can't be `expected`.
 */
export function compileExpression(
  text: string,
  on: Subject,
  expected: 'bool' | 'any',
): Expression | ExpressionFault {
  if (text.length > expressionLimits.length)
    return { fault: `expected at most ${expressionLimits.length} characters`, at: 0 }
  const meter: Meter = { left: 0, isExhausted: false }
  try {
    const parsed = getEnvironment(on).parse(text)
    const checked = parsed.check()
    if (!checked.valid) return explainError(checked.error)
    const isBool = checked.type === 'bool' || checked.type === 'dyn'
    if (expected === 'bool' && !isBool)
      return { fault: `expected true or false, got the type ${checked.type ?? '?'}`, at: 0 }
    const root = parsed.ast as unknown as Node
    const paths = listPaths(root)
    for (const path of paths) {
      const fault = explainPath(path)
      if (fault !== null) return { fault, at: Math.max(0, text.indexOf(path.join('.'))) }
    }
    for (const node of listNodes(root)) limitNode(node, meter)
    const names = new Set(paths.map(([name = '']) => name))
    const evaluate = (values: Variables, budget: Budget) =>
      runMetered(() => parsed(values) as unknown, expected, meter, budget)
    return { text, names, paths, evaluate }
  } catch (error) {
    return explainError(error)
  }
}

/** Steps that are left of an evaluation. */
interface Meter {
  left: number
  isExhausted: boolean
}

function runMetered(
  run: () => unknown,
  expected: 'bool' | 'any',
  meter: Meter,
  budget: Budget,
): Outcome {
  const granted = Math.min(expressionLimits.steps, budget.left)
  meter.left = granted
  meter.isExhausted = false
  let outcome: Outcome
  try {
    const value = run()
    outcome =
      expected === 'any' || typeof value === 'boolean'
        ? { value }
        : { fault: `expected true or false, got ${describe(value)}` }
  } catch (error) {
    outcome = { fault: explainError(error).fault }
  }
  budget.left -= granted - Math.max(0, meter.left)
  // Operators such as "||" go on after an error, and so would hide this one.
  if (meter.isExhausted) return { fault: tooMuchWork }
  return outcome
}

const tooMuchWork = 'it takes too much work. Simplify the expression.'

/** Counts the work of a node, and matches expressions in linear time. */
function limitNode(node: Node, meter: Meter): void {
  let inner = node.evaluate
  const limited: Evaluate = function (evaluator, own, context) {
    charge(meter, node.op === 'call' || node.op === 'rcall' ? 10 : 1)
    const value = isMatch(node)
      ? runMatch(node.args, (part) => evaluator.run(part, context), meter)
      : inner.call(node, evaluator, own, context)
    charge(meter, weigh(value))
    refuseMixed(node)
    node.last = value
    return value
  }
  // The package replaces the function of a node by a quicker one when it first runs.
  Object.defineProperty(node, 'evaluate', {
    get: () => limited,
    set: (next: Evaluate) => {
      inner = next
    },
  })
}

function charge(meter: Meter, steps: number): void {
  meter.left -= steps
  if (meter.left >= 0) return
  meter.isExhausted = true
  throw new TooMuchWork(tooMuchWork)
}

const weights = new WeakMap<object, number>()

/** Weighs a value: the steps that comparing it with another one may take. */
function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length >> 5
  if (typeof value !== 'object' || value === null) return 0
  // A list may still grow.
  if (Array.isArray(value)) return value.length >> 2
  return getOrAdd(
    weights,
    value,
    () => Object.values(value).reduce((sum: number, each) => sum + 1 + weigh(each), 0) >> 3,
  )
}

/**
 * Refuses to compare values that are never equal, such as a text with a number: in CEL that is
 * false, so that a policy would allow everything.
 */
function refuseMixed({ op, args }: Node): void {
  if (op !== '==' && op !== '!=' && op !== 'in') return
  const [left, right] = (args as [Node, Node]).map(({ last }) => last)
  const others = op === 'in' ? (Array.isArray(right) ? right : []) : [right]
  const [kind = null, ...found] = [left, ...others].map(nameKind)
  if (kind === null || found.length === 0) return
  if (found.some((each) => each === null || each === kind)) return
  throw new TypeError(
    `it compares a ${kind} with a ${found[0]}, which are never equal. Convert one with ` +
      'int(…) or string(…), or look into a list with "in".',
  )
}

function nameKind(value: unknown): string | null {
  if (Array.isArray(value)) return 'list'
  const kinds: Record<string, string> = {
    string: 'text',
    bigint: 'number',
    number: 'number',
    boolean: 'true or false',
  }
  return kinds[typeof value] ?? null
}

type MatchArgs = [name: string, receiver: Node, args: [Node]]

function isMatch(node: Node): node is Node & { args: MatchArgs } {
  return node.op === 'rcall' && (node.args as MatchArgs)[0] === 'matches'
}

function runMatch(
  [, receiver, [argument]]: MatchArgs,
  run: (node: Node) => unknown,
  meter: Meter,
): boolean {
  const [text, pattern] = [run(receiver), run(argument)]
  if (typeof text !== 'string' || typeof pattern !== 'string')
    throw new TypeError(`matches() expects two texts, got ${describe(text)}`)
  return matchText(text, pattern, (steps) => charge(meter, steps))
}

/** Lists the nodes of a syntax tree, and of those that its macros stand for. */
function listNodes(root: unknown, seen = new Set<Node>()): Set<Node> {
  if (Array.isArray(root)) for (const part of root) listNodes(part, seen)
  else if (isNode(root) && !seen.has(root)) {
    seen.add(root)
    listNodes(root.args, seen)
    listNodes(root.meta.alternate, seen)
  } else if (isObject(root) && 'iterable' in root)
    listNodes([root['iterable'], root['init'], root['step']], seen)
  return seen
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'op' in value && 'meta' in value
}

/** Lists what an expression reads: the longest path at each place, from a variable. */
function listPaths(root: Node): string[][] {
  const inner = new Set<Node>()
  const paths = new Map<string, string[]>()
  // Parents come before their parts.
  for (const node of listNodes(root)) {
    const path = inner.has(node) ? null : readPath(node, inner)
    if (path !== null) paths.set(path.join('\0'), path)
  }
  return [...paths.values()]
}

function readPath(node: Node, inner: Set<Node>): string[] | null {
  if (node.op === 'id') return [String(node.args)]
  if (node.op !== '.' && node.op !== '[]') return null
  const [of, step] = node.args as [Node, unknown]
  const name = isNode(step) ? (step.op === 'value' ? step.args : null) : step
  const before = readPath(of, inner)
  if (before === null || typeof name !== 'string') return null
  inner.add(of)
  return [...before, name]
}

/**
 * Converts a value for expressions, in which whole numbers are integers. By the schema of an item,
 * a text with several entries is a list, and a time is in seconds, without its unit.
 */
export function convertValue(value: Json, schema: ItemSchema = {}, parent?: Parent): unknown {
  const chosen = chooseAlternative(schema, value)
  if (Array.isArray(value)) return value.map((entry) => convertValue(entry, chosen.items))
  if (isObject(value)) {
    const fields = Object.entries(value).filter(([key]) => !isUnit(chosen, key))
    return Object.fromEntries(
      fields.map(([key, each]) => [
        key,
        convertValue(each, getField(chosen, key), { schema: chosen, value }),
      ]),
    )
  }
  const by = typeof value === 'string' ? findSeparator(chosen, parent) : null
  if (by !== null) return splitEntries(String(value), by)
  const { time } = getAnnotations(chosen)
  const number = time === undefined ? value : toSeconds(Number(value), String(parent?.value[time]))
  return Number.isSafeInteger(number) ? BigInt(Number(number)) : value
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'a map' : typeof value
}

/** Explains an error of the package, which quotes the expression below its summary. */
function explainError(error: unknown): ExpressionFault {
  if (error instanceof RangeError) return { fault: 'it is nested too deeply', at: 0 }
  if (!(error instanceof Error)) throw error
  const { summary, range } = error as { summary?: string; range?: { start: number } }
  const text = summary ?? error.message
  return { fault: explainSummary(text), at: range?.start ?? 0 }
}

function explainSummary(text: string): string {
  const missing = /^No such key: (.*)/s.exec(text)?.[1]
  if (missing !== undefined)
    return `the key "${missing}" is missing here. Test it with has(…), or select with "when".`
  const types = /^no such overload: (.*)/s.exec(text)?.[1]?.replaceAll(/dyn<(\w+)>/g, '$1')
  if (types !== undefined)
    return `these types do not fit: ${types}. Convert one with int(…) or string(…).`
  const call = /^found no matching overload for '((?:\w+\.)?(\w+)\(.*\))'$/s.exec(text)
  const [, signature = '', name = ''] = call ?? []
  if (call !== null)
    return Object.hasOwn(functions, name)
      ? `there is no ${signature}. An example of ${name}: ${functions[name]?.[1]}`
      : `there is no ${signature}. See "edgewise explain policy".`
  return text.slice(0, 500).replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())
}
