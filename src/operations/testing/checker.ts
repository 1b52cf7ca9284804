import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { diffSnapshots } from '../../core/diff/diff-snapshots.ts'
import type { Change } from '../../core/model/change.ts'
import { groupBy } from '../../core/model/lists.ts'
import {
  unsetState,
  type Domain,
  type ItemKey,
  type ItemState,
  type Value,
} from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Plan } from '../../core/model/plan.ts'
import { findReference, mapSecrets } from '../../core/model/secret.ts'
import type { Configs } from '../../core/policy/cases.ts'
import { isAsExpected, isItemAsExpected, readPart } from '../../core/tests/match.ts'
import type { DecidingRule, TestFailure } from '../../core/tests/results.ts'
import type { Settings } from '../../core/trace/readings.ts'
import { buildOutput } from '../../core/trace/output.ts'
import { askReplies, compile, trace, type Asked, type Compiled } from '../../core/trace/trace.ts'
import type { Reply } from '../../core/trace/reply.ts'
import { BadRequest } from '../../core/trace/url.ts'
import { tryConfiguration } from '../../emulator/try-configuration.ts'
import type { LoadedTest, ReportProblem } from '../../manifest/tests/load-tests.ts'
import type { Computing } from '../runtime/parts.ts'
import { runPlanner } from '../submission/make-plan.ts'
import { readDesired } from '../tracing/candidates.ts'
import type { ResolvedTest, TestedWorkspace, Unit } from './resolve-tests.ts'

type Items = ReadonlyMap<ItemKey, ItemState>

/** What tests see of each configuration: its items, perhaps changed. */
export type View = (unit: Unit) => Items

/** An expectation that is not met, before it is explained. */
export interface Failure extends Pick<TestFailure, 'check' | 'name' | 'expected' | 'got'> {
  /** Pointer of the expectation in the document of the test. */
  pointer: string
  units: readonly Unit[]
  /** The traced request and the answer. */
  traced?: { request: JsonObject; asked: Asked }
  /** What a policy looked at. */
  read?: DecidingRule
}

/** A plan from recorded values. */
export type Made = Pick<Plan, 'changes' | 'writes'>

/** What policies judge of a test. */
export interface Evidence {
  configs: Configs
  traces: { request: JsonObject; output: JsonObject }[]
  plan: Made | null
}

/** Policies that tests expect to be violated. */
export interface TestPolicies {
  /** Reports names of policies that can't judge a test. */
  check(test: LoadedTest, report: ReportProblem): void
  findFailures(test: ResolvedTest, evidence: Evidence): Iterable<Failure>
}

/** Checks tests; each configuration is compiled once. */
export class Checker {
  readonly #workspace: TestedWorkspace
  readonly #outside: Computing
  readonly #policies: TestPolicies | null
  readonly #compiled = new WeakMap<Items, Map<Settings, Compiled>>()

  constructor(workspace: TestedWorkspace, outside: Computing, policies: TestPolicies | null) {
    this.#workspace = workspace
    this.#outside = outside
    this.#policies = policies
  }

  /** Finds what a test expects and does not get. */
  async *findFailures(test: ResolvedTest, view: View): AsyncGenerator<Failure> {
    yield* this.findCheapFailures(test, view)
    yield* this.#checkEmulator(test, view)
    const made = test.test.plan === undefined ? null : await this.#plan(test, view)
    if (made !== null) yield* checkPlan(test, made)
    yield* this.#checkPolicies(test, view, made)
  }

  /** Finds the failures of items and requests, which need neither the planner nor the emulator. */
  *findCheapFailures(
    { test, units, traced, settings }: ResolvedTest,
    view: View,
  ): Generator<Failure> {
    for (const { pointer, name, ...check } of test.parts) {
      const read = (unit: Unit) => readPart(view(unit), check.item, check.part)
      const wrong = units.filter(
        (unit) => !isItemAsExpected({ pointer, name, ...check }, read(unit)),
      )
      for (const same of groupBy(wrong, (unit) => JSON.stringify(read(unit))).values()) {
        const got = { value: read(same[0]) }
        yield { check: 'item', pointer, name, units: same, expected: check.expected, got }
      }
    }
    for (const { check, unit } of traced) {
      const { request, answers } = check
      const compiled = this.compile(unit.domain, view(unit), settings)
      const replies = ask(compiled, request, answers)
      for (const [i, { pointer, name, asked, expected }] of answers.entries()) {
        const got = replies[i] ?? { unknown: [] }
        const failure = { check: 'request', pointer, name, units: [unit], expected, got } as const
        if (!isAsExpected(expected, got)) yield { ...failure, traced: { request, asked } }
      }
    }
  }

  /** Compiles a configuration, once for each of the settings. */
  compile(domain: Domain, items: Items, settings: Settings): Compiled {
    const bySettings = this.#compiled.get(items) ?? new Map<Settings, Compiled>()
    this.#compiled.set(items, bySettings)
    const known = bySettings.get(settings)
    if (known?.domain === domain) return known
    const compiled = compile(domain, readDesired(items), settings)
    bySettings.set(settings, compiled)
    return compiled
  }

  *#checkEmulator({ test: { emulator }, units }: ResolvedTest, view: View): Generator<Failure> {
    if (emulator === undefined) return
    const { text, code } = typeof emulator === 'string' ? {} : emulator.refuses
    for (const unit of units) {
      const { itemKeys } = this.#workspace.config.service
      const refusal = tryConfiguration(unit.domain, buildPayloads(unit, view(unit)), itemKeys)
      const isMet =
        emulator === 'accepts'
          ? refusal === null
          : refusal !== null &&
            refusal.message.includes(text ?? '') &&
            refusal.code === (code ?? refusal.code)
      const answer = refusal === null ? 'accepts' : `refuses: ${refusal.code}, ${refusal.message}`
      const failure = { check: 'emulator', pointer: '/emulator', name: 'emulator' } as const
      if (!isMet) yield { ...failure, units: [unit], expected: emulator, got: { value: answer } }
    }
  }

  *#checkPolicies(test: ResolvedTest, view: View, plan: Made | null): Generator<Failure> {
    if (test.test.expect === undefined || this.#policies === null) return
    const traces: Evidence['traces'] = []
    for (const { check, unit } of test.traced) {
      const compiled = this.compile(unit.domain, view(unit), test.settings)
      const { request, pointer } = check
      try {
        const traced = trace(compiled, request, { visitor: 'usual', asks: false })
        traces.push({ request, output: buildOutput(unit.domain, 'desired', traced, () => ({})) })
      } catch (error) {
        if (!(error instanceof BadRequest)) throw error
        const got = { unknown: [`bad-request ${error.message}`] }
        const failure = { check: 'policy', name: 'request', units: [unit], got } as const
        yield { ...failure, pointer, expected: 'a request that policies can judge' }
      }
    }
    const configs = new Map(test.units.map((unit) => [unit.domain, view(unit)]))
    yield* this.#policies.findFailures(test, { configs, traces, plan })
  }

  /** Plans from recorded values; texts stand in for secrets, but not in the changes. */
  async #plan({ units, recorded }: ResolvedTest, view: View): Promise<Made> {
    const { config } = this.#workspace
    const list = (more: (unit: Unit) => Iterable<[ItemKey, ItemState | null]>) =>
      new Map(units.map((unit) => [unit.domain, new Map([...view(unit), ...more(unit)])]))
    const [from, to] = [list((unit) => recorded.get(unit) ?? []), list(() => [])]
    const hide = (all: typeof from) =>
      new Map(Array.from(all, ([domain, items]) => [domain, hideSecrets(items)]))
    const [before, desired] = [hide(from), hide(to)]
    const { rollout, service } = config
    const found = diffSnapshots(before, desired, service.itemKeys, service.unset)
    const made = await runPlanner(config, this.#outside, {
      ...found,
      recorded: before,
      desired,
      target: [],
      items: [],
      commit: null,
      rollout,
      waves: { amounts: rollout.waves, approval: rollout.approval },
    })
    const show = (all: typeof from, { domain, item }: Change, value: Value | null) =>
      value === null ? null : (all.get(domain)?.get(item)?.candidates[0] ?? value)
    const changes = found.changes.map((change) => ({
      ...change,
      before: show(from, change, change.before),
      after: show(to, change, change.after),
    }))
    return { changes, writes: made.writes }
  }
}

function* checkPlan({ test, units }: ResolvedTest, made: Made): Generator<Failure> {
  const { writes, actions } = test.plan ?? {}
  const count = made.writes.length
  const { min = 0, max = Infinity } =
    typeof writes === 'number' ? { min: writes, max: writes } : (writes ?? {})
  const failure = { check: 'plan', units } as const
  const got = { value: count }
  if (count < min || count > max)
    yield { ...failure, pointer: '/plan/writes', name: 'writes', expected: writes ?? null, got }
  const kinds = [...new Set(made.changes.map(({ action }) => action))].toSorted()
  if (actions !== undefined && kinds.join() !== [...new Set(actions)].toSorted().join()) {
    const value = { pointer: '/plan/actions', name: 'actions', expected: actions }
    yield { ...failure, ...value, got: { value: kinds } }
  }
}

/** Asks for answers; a request may contradict what the configuration computes. */
function ask(
  compiled: Compiled,
  request: JsonObject,
  answers: readonly { asked: Asked }[],
): Reply[] {
  try {
    return askReplies(
      compiled,
      request,
      answers.map(({ asked }) => asked),
      'usual',
    )
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    return answers.map(() => ({ unknown: [`bad-request ${error.message}`] }))
  }
}

/** Builds the payloads of a whole configuration; what shall be refused may be invalid. */
function buildPayloads({ raw }: Unit, items: Items): JsonObject {
  const payloads = { ...raw }
  for (const [item, { status, candidates }] of items) {
    const form = getItemSpec(item).buildWhole(unsetState, candidates[0] ?? null)
    if (status === 'confirmed' && form !== null) payloads[item] = form.payload
  }
  return mapSecrets(payloads, standIn) as JsonObject
}

/** Returns the fixed text that stands in for a secret: `secret-NAME`, within its template. */
function standIn(secret: string): string {
  const reference = findReference(secret) ?? 'value'
  const replaced = reference.replaceAll(/\$\{secret:([^{}]*)\}/g, 'secret-$1')
  return replaced === reference ? `secret-${reference}` : replaced
}

/** Copies items with a text in place of each secret, without those of which nothing is recorded. */
function hideSecrets(items: Iterable<[ItemKey, ItemState | null]>): Map<ItemKey, ItemState> {
  const hide = (value: Value) => mapSecrets(value, standIn)
  return new Map(
    [...items].flatMap(([item, state]): [ItemKey, ItemState][] => {
      if (state === null) return []
      const { ordered, ...rest } = state
      const shown = ordered === undefined ? {} : { ordered: hide(ordered) }
      return [[item, { ...rest, candidates: state.candidates.map(hide), ...shown }]]
    }),
  )
}
