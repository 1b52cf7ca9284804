import { catalogue } from '../catalog/catalogue.ts'
import type { Stage } from '../catalog/item-spec.ts'
import type { ItemKey } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { isSameAnswer, map, Unknown, type Answer } from '../trace/answer.ts'
import { checkKeys } from '../trace/check-keys.ts'
import type { Runs } from '../trace/doubt.ts'
import { fields, findField, type Field } from '../trace/fields.ts'
import { completeFacts, parseRequest, type Facts, type Visitor } from '../trace/request.ts'
import type { Rule } from '../trace/rule.ts'
import { listHeaders } from '../trace/header-fields.ts'
import { describeCheck, openRuns, type Compiled } from '../trace/trace.ts'
import type { Sides } from './sides.ts'

/**
 * Who notices: a visitor (`visible`), perhaps one who gets older or other content (`content`), or
 * nobody (`internal`).
 */
export type EffectClass = 'visible' | 'content' | 'internal'

/** Two different values, or answers of which at least one is not known. */
export type Verdict = 'differs' | 'may-differ'

/** An answer of one side: a value, or the sorted reasons for which it is unknown. */
export type SideAnswer = { value: Json } | { unknown: string[] }

/** An answer that a change changes, or may change. */
export interface Delta {
  /** Stage and name, as in the output of a trace: `cache.key`, `access.checks.referer`. */
  field: string
  class: EffectClass
  verdict: Verdict
  before: SideAnswer
  after: SideAnswer
}

/** A rule that decides on one side. */
export type SideRule = Rule & { side: 'before' | 'after' }

/** What a change does to one request. */
export interface Comparison {
  /** In the order of a trace; headers come last. */
  deltas: Delta[]
  /** Finds the rules that decide an answer on either side; those of no rule have none. */
  findRules(delta: Delta): SideRule[]
}

/** Stages whose items an answer rests on, by the stage under which it is shown. */
const readBy: Record<string, readonly Stage[]> = {
  '': ['connection', 'access', 'redirect'],
  checks: ['access'],
}
const internal = new Set(
  'rewrite auth range follow timeout connectTimeout backups weights'.split(' '),
)

/** How one answer of a trace is compared. */
interface Comparer {
  ask: Field['read']
  field: string
  class: EffectClass
  stages: readonly Stage[]
  /** Whether it counts as null while the request is not served. */
  needsServing: boolean
  /** The part of a value that is compared. */
  read(value: unknown): unknown
}

/** Which deltas are wanted: all, or those that are not internal, which takes less time. */
export type Wanted = 'all' | 'noticed'

/** One side of a comparison: answers are found when they are asked for. */
interface Side {
  compiled: Compiled
  runs: Runs
}

/**
 * Compares what both sides do to a request (request semantics, 6).
 *
 * @throws BadRequest for a bad fact
 */
export function compareRequest(sides: Sides, request: Json, visitor: Visitor): Comparison {
  return compareFacts(sides, completeFacts(parseRequest(request, sides.domain), visitor))
}

/** Compares what both sides do to a request whose facts are complete. */
export function compareFacts(sides: Sides, facts: Facts, wanted: Wanted = 'all'): Comparison {
  const [before, after] = [openSide(sides.before, facts), openSide(sides.after, facts)]
  const deltas: Delta[] = []
  const [isServedBefore, isServedAfter] = [mayBeServed(before), mayBeServed(after)]
  const isKept = isSameAnswer(readOutcome(before), readOutcome(after))
  const add = (comparer: Comparer) => {
    const { ask, field, class: found, needsServing, stages, read } = comparer
    if (found === 'internal' && wanted === 'noticed') return
    if (needsServing && !isServedBefore && !isServedAfter) return
    if (!mayBeReached(sides, comparer, isKept)) return
    const answer = ({ runs }: Side, isServed: boolean) =>
      needsServing && !isServed ? null : map(runs.answer(ask), read)
    const [left, right] = [answer(before, isServedBefore), answer(after, isServedAfter)]
    const verdict = judge(sides, stages, left, right)
    if (verdict === 'same') return
    deltas.push({ field, class: found, verdict, before: write(left), after: write(right) })
  }
  for (const comparer of comparers) add(comparer)
  if (isServedBefore || isServedAfter) {
    const headers = [...listHeaders(before.runs), ...listHeaders(after.runs)]
    for (const field of new Map(headers.map((each) => [each.path, each])).values())
      for (const comparer of createComparers(field)) add(comparer)
  }
  return {
    deltas,
    findRules: (delta) => [
      ...findRules(before, delta).map((rule) => ({ ...rule, side: 'before' as const })),
      ...findRules(after, delta).map((rule) => ({ ...rule, side: 'after' as const })),
    ],
  }
}

function openSide(compiled: Compiled, facts: Facts): Side {
  return { compiled, runs: openRuns(compiled, facts) }
}

function askField({ runs }: Side, path: string): Answer<unknown> {
  const field = findField(path)
  if (field === undefined) throw new RangeError(`expected an answer of a trace, got ${path}`)
  return runs.answer(field.read)
}

function readOutcome(side: Side): Answer<unknown> {
  return askField(side, 'outcome')
}

function mayBeServed(side: Side): boolean {
  const outcome = readOutcome(side)
  return outcome instanceof Unknown || outcome === 'served'
}

/** Tests whether what differs may change an answer; with another outcome it always may. */
function mayBeReached(
  { reached }: Sides,
  { field, stages, needsServing }: Comparer,
  isKept: boolean,
): boolean {
  const restsOnOutcome = needsServing || field.startsWith('response.')
  if (restsOnOutcome && !isKept) return true
  return reached.has(field) || stages.some((stage) => reached.has(stage))
}

function judge(
  { stages }: Sides,
  read: readonly Stage[],
  before: Answer<unknown>,
  after: Answer<unknown>,
): Verdict | 'same' {
  const unknown = Number(before instanceof Unknown) + Number(after instanceof Unknown)
  if (unknown === 0) return isSameAnswer(before, after) ? 'same' : 'differs'
  if (unknown === 1) return 'may-differ'
  return read.some((stage) => stages.has(stage)) ? 'may-differ' : 'same'
}

function write(answer: Answer<unknown>): SideAnswer {
  return answer instanceof Unknown
    ? { unknown: [...answer.reasons] }
    : { value: (answer ?? null) as Json }
}

const same = (value: unknown): unknown => value

/** Lists how an answer is compared; the deciding rule of the cache alone makes no delta. */
function createComparers({ path, stage: full, name, read: ask }: Field): Comparer[] {
  if (path === 'cache.rule') return []
  const [stage = '', isHeader] = full.split('.')
  const make = (as: string, read: Comparer['read'] = same): Comparer => ({
    ask,
    field: stage === 'checks' ? `access.checks.${as}` : as === name ? path : `${stage}.${as}`,
    class: classify(stage, isHeader === undefined ? as : ''),
    stages: readBy[stage] ?? [stage as Stage],
    needsServing:
      ['cache', 'origin'].includes(stage) ||
      (stage === 'response' && path !== 'response.status' && path !== 'response.location'),
    read,
  })
  if (path === 'origin.main')
    return [make(name, pluck('address')), make('weights', pluck('weight'))]
  return [make(name, path === 'origin.rewrite' ? readPattern : same)]
}

function classify(stage: string, name: string): EffectClass {
  if (stage === 'access' || stage === 'checks') return 'internal'
  if (stage === 'cache') return 'content'
  if (stage === 'origin') return internal.has(name) ? 'internal' : 'content'
  return 'visible'
}

function pluck(name: string): Comparer['read'] {
  return (targets) =>
    Array.isArray(targets)
      ? targets.map((target) => (isObject(target) ? (target[name] ?? null) : null))
      : targets
}

/** A rule by its item and text, wherever it stands. */
function readPattern(rule: unknown): unknown {
  return isObject(rule) ? { item: rule['item'], pattern: rule['pattern'] } : rule
}

const comparers = fields.flatMap(createComparers)

/** Finds the rules that decide an answer on one side: of checks, the cache, or rewriting. */
function findRules(side: Side, { field }: Delta): Rule[] {
  const named = (wanted: string): Rule[] => {
    const rule = askField(side, wanted)
    return isObject(rule) ? [rule as unknown as Rule] : []
  }
  const [stage, , check] = field.split('.')
  if (stage === 'cache') return named('cache.rule')
  if (field === 'origin.url' || field === 'origin.rewrite')
    return [...named('origin.rewrite'), ...(field === 'origin.url' ? named('cache.rule') : [])]
  if (field !== 'outcome' && stage !== 'access') return []
  return checkKeys.flatMap((item) => {
    if (check === undefined ? askField(side, `checks.${item}`) !== 'deny' : check !== item)
      return []
    const { rule } = describeCheck(side.compiled, side.runs, item)
    return rule === null ? [] : [rule]
  })
}

/** Lists the items that differ and that an answer rests on, sorted. */
export function listCauses(
  { changed }: Pick<Sides, 'changed'>,
  deltas: readonly Pick<Delta, 'field'>[],
): ItemKey[] {
  const stages = new Set<string>(
    deltas.flatMap(({ field }): readonly string[] => {
      const [stage = '', name] = field.split('.')
      return readBy[name === undefined ? '' : stage] ?? [stage]
    }),
  )
  return changed.filter((key) => catalogue.get(key)?.stages.some((each) => stages.has(each)))
}

const strength: Record<EffectClass, number> = { visible: 0, content: 1, internal: 2 }

/** Compares deltas and groups by class, then verdict; the strongest first. */
export function compareStrength(
  a: Pick<Delta, 'class' | 'verdict'>,
  b: Pick<Delta, 'class' | 'verdict'>,
): number {
  const byClass = strength[a.class] - strength[b.class]
  return byClass === 0 ? Number(a.verdict !== 'differs') - Number(b.verdict !== 'differs') : byClass
}
