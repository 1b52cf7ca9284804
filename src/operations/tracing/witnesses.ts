import { compareRequest } from '../../core/effects/compare.ts'
import { compileSides, type Sides } from '../../core/effects/sides.ts'
import { findWitness } from '../../core/effects/witness/find-witness.ts'
import { proveEqual } from '../../core/effects/witness/prove.ts'
import { isConditional, nameChange, type Change } from '../../core/model/change.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { ChangeWitness, Witnesses } from '../../outlets/report/effects/witnesses.ts'
import type { Configured, Secrets } from '../runtime/parts.ts'
import { readChanged, readRecorded, settleReadings, type Assumptions } from './candidates.ts'

/** Most kinds of change for which a witness is looked for. */
const maxKinds = 200
/** Most changes for which it is proved that they have no effect. */
const maxProofs = 1_000

/**
 * Finds for each kind of change a request that shows what it does: by what is recorded, and the
 * same with this change alone. A request shows it for the first domain of a kind; that there is
 * none is proved for each domain. A release changes nothing, and what a conditional change does is
 * not known. Calls nothing.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function findWitnesses(
  workspace: Configured & Secrets,
  recorded: ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>,
  changes: readonly Change[],
  assumptions: Assumptions,
): Witnesses {
  const settings = settleReadings(workspace, assumptions)
  const effective = changes.filter(
    (change) => change.action !== 'release' && !isConditional(change),
  )
  const kinds = groupBy(effective, ({ item, action, before, after }) =>
    JSON.stringify([item, action, before, after]),
  )
  const compileChange = (change: Change): Sides => {
    const { domain, item } = change
    const before = readRecorded(recorded.get(domain) ?? new Map())
    const after = new Map([...before, [item, readChanged(change, workspace)]])
    return compileSides(domain, before, after, settings)
  }
  const found: ChangeWitness[] = []
  let [open, proofs] = [[...kinds.values()], 0]
  for (let left = maxKinds; left > 0 && open.length > 0; left--) {
    const [kind, ...next] = open
    if (kind === undefined) break
    const [first, ...others] = kind
    const { item, action } = first
    const witness = explainWitness(compileChange(first))
    const isAlike = (change: Change): boolean =>
      witness.kind !== 'equal' ||
      (proofs++ < maxProofs && 'proof' in proveEqual(compileChange(change)))
    const split = groupBy(others, isAlike)
    const [alike = [], different] = [split.get(true), split.get(false)]
    const domains = [first, ...alike].map(({ domain }) => domain)
    const isFirst = domains.every((domain) => !recorded.has(domain))
    found.push({ item, action, domains, isFirst, witness })
    open = different === undefined ? next : [...next, different]
  }
  return { changes: found, omitted: open.length }
}

/** Marks the changes of which it is proved that they have no effect. */
export function markWithoutEffect(changes: Change[], { changes: found }: Witnesses): Change[] {
  const without = found.flatMap(({ item, domains, witness }) =>
    witness.kind === 'equal' ? domains.map((domain) => nameChange({ domain, item })) : [],
  )
  const names = new Set(without)
  return changes.map((each) => (names.has(nameChange(each)) ? { ...each, effect: 'none' } : each))
}

/** Finds a witness, with the rules that decide what it shows. */
function explainWitness(sides: Sides): ChangeWitness['witness'] {
  const witness = findWitness(sides)
  if (witness.kind !== 'request') return witness
  const { deltas, findRules } = compareRequest(sides, witness.request, 'unknown')
  const differing = deltas.filter(({ verdict }) => verdict === 'differs')
  return { ...witness, deltas: differing.map((delta) => ({ ...delta, rules: findRules(delta) })) }
}
