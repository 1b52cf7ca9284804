import { Automaton } from '../effects/witness/automaton.ts'
import { compileProgram, type Program } from '../trace/regex/machine.ts'
import { parseCore } from '../trace/regex/syntax.ts'
import { isUrlChar } from './find-url.ts'

/** Greatest number of pairs of steps, and of states in the search for a text that fails. */
const maxStates = 10_000
/** Greatest number of ways within a loop, of which pairs are made. */
const maxWays = 1_000
const chars = Array.from({ length: 95 }, (_, i) => i + 32)

/** A step that reads a character, with the ways to the next such steps; 2 stands for more. */
type Ways = Map<number, number>

/**
 * Finds whether an engine that backtracks may need exponential time for a pattern: a step can come
 * back to itself on two ways with the same text (exponential degree of ambiguity), and the text
 * can go on so that the match fails. False if that is not proved.
 *
 * @param starts texts with which subjects, which are URLs, begin; empty for any URL
 * @param spend counts the states that are visited
 */
export function isExpensive(
  pattern: string,
  whole: boolean,
  ignoresCase: boolean,
  starts: readonly string[],
  spend: (states: number) => void,
): boolean {
  const core = /[*+{]/.test(pattern) ? parseCore(pattern) : null
  if (core === null) return false
  const program = compileProgram(core.node, 0, ignoresCase)
  const alphabet = chars.filter((code) => isUrlChar(String.fromCharCode(code)))
  const steps = program.steps.flatMap(({ op }, i) => (op === 'char' ? [i] : []))
  if (steps.length ** 2 > maxStates) return false
  const ways = new Map(steps.map((at) => [at, listWays(program, program.steps[at]?.next ?? -1)]))
  const shares = createShares(program, alphabet)
  const looping = listComponents(steps, (at) =>
    [...(ways.get(at)?.keys() ?? [])].filter((next) => shares(next, next)),
  )
  const reachable = reachSteps(program, whole, starts, ways, shares)
  return looping.some((loop) => {
    const at = loop.find((step) => reachable.has(step))
    return (
      at !== undefined &&
      isAmbiguous(loop, ways, shares) &&
      canFail(program, at, whole, alphabet, spend)
    )
  })
}

/** The ways from a step to the steps that read the next character, without one in between. */
function listWays({ steps }: Program, from: number, isStart = false): Ways {
  const found: Ways = new Map()
  const counts = new Map<number, number>()
  const stack = [from]
  while (stack.length > 0) {
    const at = stack.pop() ?? -1
    const step = steps[at]
    const count = (counts.get(at) ?? 0) + 1
    counts.set(at, count)
    if (step === undefined || count > 2) continue
    if (step.op === 'char') found.set(at, count)
    else if (step.op === 'split') stack.push(step.next, ...(step.other >= 0 ? [step.other] : []))
    else if (step.op === 'save' || (isStart && step.op === 'start')) stack.push(step.next)
  }
  return found
}

type Shares = (a: number, b: number) => boolean

/** Whether two steps read a character in common, remembered. */
function createShares({ steps }: Program, alphabet: number[]): Shares {
  const known = new Map<number, boolean>()
  return (a, b) => {
    const name = Math.min(a, b) * steps.length + Math.max(a, b)
    const found =
      known.get(name) ??
      alphabet.some((c) => steps[a]?.chars?.ascii[c] === 1 && steps[b]?.chars?.ascii[c] === 1)
    known.set(name, found)
    return found
  }
}

/** The steps that a subject can come to, behind one of its beginnings. */
function reachSteps(
  program: Program,
  whole: boolean,
  starts: readonly string[],
  ways: ReadonlyMap<number, Ways>,
  shares: Shares,
): Set<number> {
  const automaton = new Automaton(program, whole)
  const begun = (starts.length === 0 ? [''] : starts).map((text) =>
    Array.from(text).reduce((at, char) => automaton.step(at, char.charCodeAt(0)), automaton.start),
  )
  const stack = begun.flatMap((state) =>
    automaton.listThreads(state).flatMap((at) => [...listWays(program, at, true).keys()]),
  )
  const found = new Set<number>()
  while (stack.length > 0) {
    const at = stack.pop() ?? -1
    if (found.has(at) || !shares(at, at)) continue
    found.add(at)
    for (const next of ways.get(at)?.keys() ?? []) stack.push(next)
  }
  return found
}

/** Whether two different ways within a loop read the same text. */
function isAmbiguous(loop: number[], ways: ReadonlyMap<number, Ways>, shares: Shares): boolean {
  const inside = new Set(loop)
  const within = (at: number) => [...(ways.get(at) ?? [])].filter(([next]) => inside.has(next))
  if (loop.some((at) => within(at).some(([, count]) => count > 1))) return true
  if (loop.reduce((sum, at) => sum + within(at).length, 0) > maxWays) return false
  const pairs = loop.flatMap((a) => loop.map((b) => [a, b] as const))
  const name = (a: number, b: number) => a * 1e6 + b
  const follow = (pair: number): number[] => {
    const [a, b] = [Math.floor(pair / 1e6), pair % 1e6]
    return within(a).flatMap(([x]) =>
      within(b).flatMap(([y]) => (shares(x, y) ? [name(x, y)] : [])),
    )
  }
  const components = listComponents(
    pairs.map(([a, b]) => name(a, b)),
    follow,
  )
  const isSame = (pair: number) => Math.floor(pair / 1e6) === pair % 1e6
  return components.some((found) => found.some(isSame) && !found.every(isSame))
}

/** Whether a text that comes back to a step can go on so that it does not match. */
function canFail(
  program: Program,
  at: number,
  whole: boolean,
  alphabet: number[],
  spend: (states: number) => void,
): boolean {
  const automaton = new Automaton(program, whole, at)
  const isBack = (state: number) =>
    automaton.listThreads(state).some((thread) => listWays(program, thread).has(at))
  const walk = (from: number[]): Set<number> | null => {
    const seen = new Set(from)
    for (const state of seen) {
      if (seen.size > maxStates) return null
      spend(1)
      for (const char of alphabet) seen.add(automaton.step(state, char))
    }
    return seen
  }
  const back = [...(walk([automaton.start]) ?? [])].filter((state) => isBack(state))
  // Where a match has been found, whatever comes next, nothing is tried again.
  const isDone = (state: number) =>
    alphabet.every((char) => automaton.isSure(automaton.step(state, char)))
  const failing = walk(back.filter((state) => state !== automaton.start && !isDone(state)))
  return failing !== null && [...failing].some((state) => !automaton.accepts(state))
}

/** The strongly connected parts of a graph that have a cycle (Tarjan, without recursion). */
function listComponents(nodes: readonly number[], follow: (node: number) => number[]): number[][] {
  const found: number[][] = []
  const order = new Map<number, number>()
  const low = new Map<number, number>()
  const open: number[] = []
  const isOpen = new Set<number>()
  for (const root of nodes) {
    const stack: { node: number; next: number[] }[] = []
    const enter = (node: number) => {
      order.set(node, order.size)
      low.set(node, order.get(node) ?? 0)
      open.push(node)
      isOpen.add(node)
      stack.push({ node, next: follow(node) })
    }
    const lower = (node: number, value = 0) => low.set(node, Math.min(low.get(node) ?? 0, value))
    if (!order.has(root)) enter(root)
    while (stack.length > 0) {
      const { node, next } = stack.at(-1) ?? { node: root, next: [] }
      const target = next.pop()
      if (target !== undefined) {
        if (!order.has(target)) enter(target)
        else if (isOpen.has(target)) lower(node, order.get(target))
        continue
      }
      stack.pop()
      const above = stack.at(-1)
      if (above !== undefined) lower(above.node, low.get(node))
      if (low.get(node) !== order.get(node)) continue
      const part = open.splice(open.lastIndexOf(node))
      for (const each of part) isOpen.delete(each)
      if (part.length > 1 || follow(node).includes(node)) found.push(part)
    }
  }
  return found
}
