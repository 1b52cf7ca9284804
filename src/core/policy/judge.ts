import { getOrAdd } from '../model/lists.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { formatPointerStep, getOwn, isObject, type Json, type JsonObject } from '../model/json.ts'
import {
  expressionLimits,
  type Budget,
  type Expression,
  type Outcome,
  type Variables,
} from './expression.ts'
import { listSome } from '../model/text/words.ts'
import { formatMessage } from './message.ts'
import type { Policy, Violation } from './policy.ts'
import { variables, type VariableName } from './variables.ts'

/** What a policy judges: a domain, a change, a write, a plan or a request. */
export interface Case {
  domain: Domain | null
  /** The item of a change. */
  item: ItemKey | null
  /** Variables whose values are equal wherever the key is, whatever the domain. */
  keys: Partial<Record<VariableName, string | number>>
  /** Why answers of a trace are not known, by their path; absent for none. */
  unknown?: ReadonlyMap<string, string[]>
  /** Values of the variables. */
  values: Variables
  /** The same case with other answers of readings that nobody has set; absent for none. */
  variants?: readonly Variant[]
}

/** A case with another answer of a reading. */
export interface Variant {
  reading: string
  /** The answer of the case itself. */
  assumed: string
  /** The keys of a trace under which it has other answers. */
  stages: ReadonlySet<string>
  create(): Case
}

/** The violations of a policy, and the number of cases that it judged. */
export interface Judgement {
  violations: Violation[]
  judged: number
}

/** Finds the steps that all policies together may take on a number of cases. */
export function createBudget(cases: number): Budget {
  return { left: 10 * limitSteps(cases) }
}

/** Limits the steps of one policy. */
function limitSteps(cases: number): number {
  return 20 * expressionLimits.steps + 2000 * cases
}

/**
 * Judges cases by a policy. An expression that does not mention the domain is evaluated once for
 * cases whose variables are equal. One without an answer counts as violated, and so does one that
 * would be violated by another answer of a reading that nobody has set.
 *
 * @param shared what all policies of a run may still take
 */
export function judge(policy: Policy, cases: readonly Case[], shared: Budget): Judgement {
  const granted = Math.min(limitSteps(cases.length), shared.left)
  const budget = { left: granted }
  const evaluateWhen = policy.when === null ? null : createEvaluation(policy.when, budget)
  const evaluateDeny = createEvaluation(policy.deny, budget)
  const violations: Violation[] = []
  const passes = (each: Case) =>
    isFalse(evaluateWhen?.(each) ?? { value: true }) || isFalse(evaluateDeny(each))
  let judged = 0
  for (const each of cases) {
    const selected = evaluateWhen?.(each) ?? { value: true }
    const isSelected = !isFalse(selected)
    if (isSelected) judged++
    const denied = 'fault' in selected || !isSelected ? selected : evaluateDeny(each)
    const found = isFalse(denied) ? findTurned(policy, each, passes) : denied
    if (found !== null) violations.push(createViolation(policy, each, found, budget))
  }
  shared.left -= granted - budget.left
  return { violations, judged }
}

function isFalse(outcome: Outcome): boolean {
  return 'value' in outcome && outcome.value === false
}

/**
 * Finds the reading on which it rests that a case passes, of those that change what the policy
 * reads of the trace; null if it passes in any case.
 */
function findTurned(
  { deny, when }: Policy,
  { variants = [] }: Case,
  passes: (each: Case) => boolean,
): Outcome | null {
  const paths = [...deny.paths, ...(when?.paths ?? [])].filter(([name]) => name === 'trace')
  const turned = variants.find(
    ({ stages, create }) =>
      paths.some(([, stage]) => stage === undefined || stages.has(stage)) && !passes(create()),
  )
  if (turned === undefined) return null
  const { reading, assumed } = turned
  return {
    fault: `it passes only if ${reading} is ${assumed}; set ${reading} with trace.assume`,
  }
}

function createEvaluation(expression: Expression, budget: Budget): (each: Case) => Outcome {
  const names = (Object.keys(variables) as VariableName[]).filter((name) =>
    expression.names.has(name),
  )
  const namesDomain = expression.paths.some(
    ([name, step]) => name === 'domain' || (name === 'change' && (step ?? 'domain') === 'domain'),
  )
  const known = new Map<string, Outcome>()
  return ({ keys, values }) => {
    if (namesDomain || names.some((name) => keys[name] === undefined))
      return expression.evaluate(values, budget)
    const key = names.map((name) => keys[name]).join(' ')
    return getOrAdd(known, key, () => expression.evaluate(values, budget))
  }
}

function createViolation(policy: Policy, each: Case, denied: Outcome, budget: Budget): Violation {
  const { name, level, on } = policy
  const fault = 'fault' in denied ? (explainUnknown(policy, each) ?? denied.fault) : null
  const { item, pointer } = findRead(policy, each)
  const message =
    fault === null
      ? formatMessage(policy.message, each.values, budget)
      : `the policy has no answer${nameCase(each)}: ${fault}`
  return { policy: name, level, on, domain: each.domain, item, pointer, message, fault }
}

/** Explains the first answer that a policy reads and that is not known; null if there is none. */
function explainUnknown({ deny, when }: Policy, { unknown }: Case): string | null {
  for (const path of [...(when?.paths ?? []), ...deny.paths]) {
    const steps = path.map((_, i) => path.slice(0, i + 1).join('.'))
    const known = steps.find((step) => unknown?.has(step))
    if (known !== undefined)
      return `"${known}" is not known (${listSome(unknown?.get(known) ?? [])})`
  }
  return null
}

function nameCase({ domain, values }: Case): string {
  const url = (values.request as { url?: unknown } | undefined)?.url
  return typeof url === 'string' ? ` for ${url}` : domain === null ? '' : ` for ${domain}`
}

/** Finds the part of an item that a policy looks at first. */
function findRead(
  { deny, when }: Policy,
  { item, values }: Case,
): { item: ItemKey | null; pointer: string } {
  const after = values.change === undefined ? null : (values.change as { after: Json }).after
  const steps = [...deny.paths, ...(when?.paths ?? [])]
  for (const [name, first = '', ...others] of steps) {
    if (item !== null && name === 'change' && first === 'after')
      return { item, pointer: resolve(after, others) }
    const config = values.config as JsonObject | undefined
    if (name === 'config' && config !== undefined && Object.hasOwn(config, first))
      return { item: first, pointer: resolve(getOwn(config, first) ?? null, others) }
  }
  return { item, pointer: '' }
}

/** Builds the pointer of a path, as far as a value has it. */
function resolve(value: Json, path: string[]): string {
  const [step, ...others] = path
  if (step === undefined || !isObject(value) || !Object.hasOwn(value, step)) return ''
  return formatPointerStep(step) + resolve(value[step] ?? null, others)
}
