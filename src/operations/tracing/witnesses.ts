import { compareRequest } from '../../core/effects/compare.ts'
import { compileSides } from '../../core/effects/sides.ts'
import { findWitness } from '../../core/effects/witness/find-witness.ts'
import type { Change } from '../../core/model/change.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { ChangeWitness, Witnesses } from '../../outlets/report/effects/witnesses.ts'
import type { Configured, Desired } from '../runtime/workspace-parts.ts'
import { readChanged, readRecorded } from './candidates.ts'
import { settleReadings, type Assumptions } from './readings.ts'

/** Most kinds of change for which a witness is looked for. */
const maxKinds = 200

/**
 * Finds for each kind of change a request that shows what it does: by what is recorded, and the
 * same with this change alone. A release changes nothing. Calls nothing.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function findWitnesses(
  workspace: Configured & Desired,
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>,
  changes: readonly Change[],
  assumptions: Assumptions,
): Witnesses {
  const settings = settleReadings(workspace, assumptions)
  const effective = changes.filter(({ action }) => action !== 'release')
  const kinds = groupBy(effective, ({ item, action, before, after }) =>
    JSON.stringify([item, action, before, after]),
  )
  const all = [...kinds.values()]
  const found = all.slice(0, maxKinds).flatMap((same): ChangeWitness[] => {
    const [first] = same
    if (first === undefined) return []
    const { domain, item, action } = first
    const before = readRecorded(recorded.get(domain) ?? new Map())
    const templates = workspace.desired.get(domain)?.get(item)?.templates
    const after = new Map([...before, [item, readChanged(first, templates)]])
    const sides = compileSides(domain, before, after, settings)
    const witness = findWitness(sides)
    const domains = same.map((change) => change.domain)
    if (witness.kind !== 'request') return [{ item, action, domains, witness }]
    const { deltas, findRules } = compareRequest(sides, witness.request)
    const differing = deltas
      .filter(({ verdict }) => verdict === 'differs')
      .map((delta) => ({ ...delta, rules: findRules(delta) }))
    return [{ item, action, domains, witness: { ...witness, deltas: differing } }]
  })
  return { changes: found, omitted: Math.max(0, all.length - maxKinds) }
}
