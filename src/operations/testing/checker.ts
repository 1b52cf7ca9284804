import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { diffSnapshots } from '../../core/diff/diff-snapshots.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { Domain, ItemKey, ItemState, Value } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import { findReference, mapSecrets } from '../../core/model/secret.ts'
import { isAsExpected, isItemAsExpected, readPart } from '../../core/tests/match.ts'
import type { TestFailure } from '../../core/tests/results.ts'
import { compile, type Compiled } from '../../core/trace/compiled.ts'
import type { Settings } from '../../core/trace/readings.ts'
import { askReplies, type Asked, type Reply } from '../../core/trace/trace.ts'
import { BadRequest } from '../../core/trace/url.ts'
import { tryConfiguration } from '../../emulator/try-configuration.ts'
import type { Computing } from '../runtime/outside.ts'
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
}

/** Checks tests; each configuration is compiled once. */
export class Checker {
  readonly #workspace: TestedWorkspace
  readonly #outside: Computing
  readonly #compiled = new WeakMap<Items, Map<Settings, Compiled>>()

  constructor(workspace: TestedWorkspace, outside: Computing) {
    this.#workspace = workspace
    this.#outside = outside
  }

  /** Finds what a test expects and does not get. */
  async *findFailures(test: ResolvedTest, view: View): AsyncGenerator<Failure> {
    yield* this.findCheapFailures(test, view)
    yield* this.#checkEmulator(test, view)
    yield* this.#checkPlan(test, view)
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
        const got = { value: same[0] === undefined ? null : read(same[0]) }
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

  async *#checkPlan({ test, units, recorded }: ResolvedTest, view: View): AsyncGenerator<Failure> {
    if (test.plan === undefined) return
    const { writes, actions } = test.plan
    const { config } = this.#workspace
    const desired = new Map(units.map((unit) => [unit.domain, hideSecrets(view(unit))]))
    const before = new Map(
      units.map((unit) => {
        const known = [...view(unit), ...(recorded.get(unit) ?? [])]
        const items = new Map(known).entries()
        return [unit.domain, hideSecrets(items)]
      }),
    )
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
    const count = made.writes.length
    const { min = 0, max = Infinity } =
      typeof writes === 'number' ? { min: writes, max: writes } : (writes ?? {})
    const failure = { check: 'plan', units } as const
    const got = { value: count }
    if (count < min || count > max)
      yield { ...failure, pointer: '/plan/writes', name: 'writes', expected: writes ?? null, got }
    const kinds = [...new Set(found.changes.map(({ action }) => action))].toSorted()
    if (actions !== undefined && kinds.join() !== [...new Set(actions)].toSorted().join()) {
      const value = { pointer: '/plan/actions', name: 'actions', expected: actions }
      yield { ...failure, ...value, got: { value: kinds } }
    }
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
    const none: ItemState = { status: 'unset', candidates: [] }
    const form = getItemSpec(item).buildWhole(none, candidates[0] ?? null)
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
