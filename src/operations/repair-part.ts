import { diffSnapshots } from '../diff/diff-snapshots.ts'
import type { Change } from '../model/change.ts'
import type { Drift } from '../model/drift.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { listSome, pluralize } from '../model/words.ts'
import { findNeeded, type Needed } from '../plan/find-needed.ts'
import type { RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { selectSnapshots } from './make-plan.ts'

/** A domain and an item. */
interface Named {
  domain: Domain
  item: ItemKey
}

const buildKey = ({ domain, item }: Named) => `${domain} ${item}`

/**
 * Creates a test for the items that a repair of this drift writes: those whose observed value
 * differs from the recorded one, or all.
 */
export function createRepairTest(
  { items }: Drift,
  includesPending: boolean,
): (named: Named) => boolean {
  const repaired = items.filter(({ kinds }) => includesPending || kinds.includes('live'))
  const keys = new Set(repaired.map(buildKey))
  return (named) => keys.has(buildKey(named))
}

/** Describes the differences that a repair of drifted items leaves out. */
export function describeLeftOut({ items }: Drift): string[] {
  const others = items.filter(({ kinds, held }) => !kinds.includes('live') && !held)
  const inDoubt = others.filter(
    ({ confidence, recordedAt }) => confidence === 'in-doubt' && recordedAt !== null,
  )
  const pending = others.filter((each) => each.kinds.includes('pending') && !inDoubt.includes(each))
  return [describeRest(pending.length, 'pending'), describeRest(inDoubt.length, 'in-doubt')].flat()
}

function describeRest(count: number, kind: string): string[] {
  if (count === 0) return []
  const [were, them] = count === 1 ? ['was', 'it'] : ['were', 'them']
  return [
    `${pluralize(count, `${kind} item`)} ${were} left out: "edgewise apply" applies ${them}, and ` +
      `--include-pending includes ${them} here.`,
  ]
}

/**
 * Refuses a repair of items that need other items with them.
 *
 * @param base state with all observed values
 * @param isRepaired whether the repair makes a change
 * @throws EdgewiseError `usage`
 */
export function refuseNeeded(
  workspace: LoadedWorkspace,
  base: RecordedState,
  { items }: Drift,
  isRepaired: (change: Change) => boolean,
): void {
  const { recorded, desired } = selectSnapshots(workspace, base, { target: [], items: [] })
  const byKey = new Map(items.map((each) => [buildKey(each), each]))
  const { grouping, service } = workspace.config
  const found = findNeeded(diffSnapshots(recorded, desired, service.itemKeys).changes, {
    isPlanned: isRepaired,
    isApplied: (change) => byKey.get(buildKey(change))?.kinds.includes('pending') !== true,
    isUntouched: (change) => {
      const { kinds = [], confidence } = byKey.get(buildKey(change)) ?? {}
      return !kinds.includes('live') && confidence !== 'in-doubt'
    },
    together: grouping.together,
  })
  if (found.length === 0) return
  throw new EdgewiseError(
    'usage',
    `the repair would be incomplete; nothing was sent: ${describeNeeded(found).join('; ')}`,
    'Pass --include-pending to include pending items, name the other items with --item, or ' +
      'select other domains with --target.',
  )
}

const reasons: Record<Needed['reason'], string> = {
  emptied: 'one empties the other',
  together: 'grouping.together',
}

function describeNeeded(found: Needed[]): string[] {
  const groups = groupBy(found, ({ planned, other, reason }) =>
    [planned.item, other.item, reason].join(' '),
  )
  return [...groups.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const domains = listSome(same.map(({ planned }) => planned.domain))
    return [
      `${first.planned.item} of ${domains} needs ${first.other.item} with it ` +
        `(${reasons[first.reason]}), which is left out`,
    ]
  })
}
