import type { ItemState } from '../../core/model/item.ts'
import { parsePointer } from '../../core/model/json.ts'
import { listMutants, rankDanger, type Mutant } from '../../core/tests/mutants.ts'
import type { MutationReport, Survivor } from '../../core/tests/results.ts'
import type { Source } from '../../manifest/tests/given.ts'
import { groupBy } from '../../core/model/lists.ts'
import { sampleEvenly } from '../../core/effects/requests/parse-log.ts'
import { findPlace } from '../../manifest/yaml/yaml-place.ts'
import type { Computing } from '../runtime/parts.ts'
import type { Checker, View } from './checker.ts'
import { createUnit, type ResolvedTest, type TestedWorkspace, type Unit } from './resolve-tests.ts'

/** A change of one place of the manifests, in all configurations that it reaches. */
interface Mutation {
  item: string
  source: Source
  targets: Map<Unit, Mutant>
  /** Number of domains of the workspace that it changes. */
  domains: number
  /** Sorts mutations of equal danger. */
  key: string
  /** Equal for the entries of one list of values, which count as one change. */
  line: string
}

/** Maximum number of entries of a list of values that are tried, evenly chosen. */
const maxEntries = 10

/**
 * Changes each rule and value of the manifests in turn, and finds the changes for which no test
 * fails. All tests must pass without a change. The entries of a list of values count as one change,
 * which the tests guard against if they do so for each entry that is tried.
 *
 * @param limit maximum number of changes; the most dangerous ones are tried
 */
export async function mutate(
  workspace: TestedWorkspace,
  checker: Checker,
  tests: ResolvedTest[],
  limit: number,
  outside: Computing,
): Promise<MutationReport> {
  const byUnit = new Map<Unit, ResolvedTest[]>()
  for (const test of tests)
    for (const unit of test.units) {
      const known = byUnit.get(unit)
      if (known === undefined) byUnit.set(unit, [test])
      else known.push(test)
    }
  const named = new Set([...byUnit.keys()].map(({ domain, isGiven }) => (isGiven ? '' : domain)))
  const others = [...workspace.desired.keys()].filter((domain) => !named.has(domain))
  const all = listMutations([
    ...byUnit.keys(),
    ...others.map((domain) => createUnit(workspace, domain)),
  ])
  const lines = [...groupBy(all, ({ line }) => line).values()]
  const tried = lines.slice(0, limit)
  let [guarded, ineffective] = [0, 0]
  const survivors: Survivor[] = []
  for (const [done, entries] of tried.entries()) {
    outside.onPhase?.({ name: 'mutating', done, total: tried.length })
    let isGuarded = false
    const unguarded: Mutation[] = []
    for (const mutation of sampleEvenly(entries, maxEntries)) {
      const { targets } = mutation
      const concerned = new Set([...targets.keys()].flatMap((unit) => byUnit.get(unit) ?? []))
      if (await fails(checker, [...concerned], createView(mutation))) isGuarded = true
      else if (![...targets.values()].every((mutant) => mutant.isIneffective))
        unguarded.push(mutation)
    }
    const [first] = unguarded
    if (first !== undefined) survivors.push(describe(first, unguarded.length))
    else if (isGuarded) guarded++
    else ineffective++
  }
  const count = tried.length - ineffective
  const share = count === 0 ? 100 : Math.floor((1000 * guarded) / count) / 10
  const left = lines.length - tried.length
  return { tried: count, guarded, share, ineffective, left, survivors }
}

/** Tests whether some test fails; the cheap checks come first. */
async function fails(checker: Checker, tests: ResolvedTest[], view: View): Promise<boolean> {
  for (const test of tests) for (const _ of checker.findCheapFailures(test, view)) return true
  for (const test of tests)
    if ((test.test.plan ?? test.test.emulator ?? test.test.expect) !== undefined)
      for await (const _ of checker.findFailures(test, view)) return true
  return false
}

/** Creates the view of the configurations with a mutation; each changed one is made once. */
function createView({ item, targets }: Mutation): View {
  const changed = new Map<Unit, Unit['items']>()
  return (unit) => {
    const mutant = targets.get(unit)
    if (mutant === undefined) return unit.items
    const known = changed.get(unit)
    if (known !== undefined) return known
    const items = new Map(unit.items)
    if (mutant.state === null) items.delete(item)
    else items.set(item, mutant.state)
    changed.set(unit, items)
    return items
  }
}

/** Lists the changes by the place that they change, most dangerous first. */
function listMutations(units: Unit[]): Mutation[] {
  const found = new Map<string, Mutation>()
  const mutants = new Map<ItemState, Mutant[]>()
  for (const unit of units)
    for (const [item, state] of unit.items) {
      const known = mutants.get(state) ?? listMutants(item, state)
      mutants.set(state, known)
      for (const mutant of known) {
        const source = unit.findSource(item, mutant.part)
        // A default, and what a test gives itself, are written in no manifest.
        if (source === null || !isWritten(source, mutant.part)) continue
        if (unit.isGiven && source.manifest === null) continue
        const { file, index } = source.document
        const key = [file.path, index, source.pointer, mutant.kind].join('\0')
        const isEntry = /\/\d+$/.test(source.pointer) && typeof mutant.before !== 'object'
        const line = isEntry ? key.replace(/\/\d+\0/, '\0') : key
        const mutation = found.get(key) ?? {
          item,
          source,
          targets: new Map(),
          domains: 0,
          key,
          line,
        }
        found.set(key, mutation)
        if (!mutation.targets.has(unit) && !unit.isGiven) mutation.domains++
        mutation.targets.set(unit, mutant)
      }
    }
  return [...found.values()].toSorted(
    (a, b) =>
      rankDanger(a.item) - rankDanger(b.item) || b.domains - a.domains || (a.key < b.key ? -1 : 1),
  )
}

/** Tests whether a part is written at its source; a missing one has the source of its parent. */
function isWritten({ pointer }: Source, part: string): boolean {
  const step = parsePointer(part).at(-1)
  return step === undefined || /^\d+$/.test(step) || parsePointer(pointer).at(-1) === step
}

function describe({ item, source, targets, domains }: Mutation, entries: number): Survivor {
  const [[unit, mutant] = []] = targets
  const { file, line, column } = findPlace(source.document, source.pointer)
  const { part: pointer = '', kind = 'drop', before = null, after = null } = mutant ?? {}
  const example = unit === undefined || unit.isGiven ? null : unit.domain
  return { item, pointer, kind, before, after, domains, entries, example, file, line, column }
}
