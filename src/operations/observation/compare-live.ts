import type { Secrets, Settings, Outside } from '../runtime/parts.ts'
import type { IgnoreRule } from '../../core/model/config.ts'
import type { DriftItem } from '../../core/model/drift.ts'
import { setItem } from '../../core/model/item.ts'
import { append } from '../../core/model/lists.ts'
import type { RecordedState } from '../../state/store/store.ts'
import { withQueries } from '../runtime/connect.ts'
import { findDrift, type FoundDrift } from './find-drift.ts'
import { readManaged } from './observe-live.ts'

/** Number of times that differing items are read: a write may take some time to be seen. */
const maxReads = 3

const gone = { pointer: '', reason: 'the service has no configuration of the domain' }

/** Recorded items by what the service shows; the others can't be compared. */
export interface Compared {
  same: number
  /** Items that agree but for fields that the service does not show. */
  partly: DriftItem[]
  /** Items that differ (`live`), and those of domains that the service did not return. */
  open: DriftItem[]
  /** What the last read has found of items that were open until then. */
  found: FoundDrift
}

/**
 * Compares recorded items with the service. Reads until nothing differs, and all domains were
 * returned; all reads have the same pace.
 *
 * @param ignore differences that do not count; absent: as in the workspace
 * @throws EdgewiseError the errors of the queries
 */
export function compareLive(
  workspace: Settings & Secrets,
  recorded: RecordedState,
  outside: Outside,
  ignore?: IgnoreRule[],
): Promise<Compared> {
  return withQueries(workspace, { outside }, async (queries) => {
    let left = recorded
    let same = 0
    const partly: DriftItem[] = []
    for (let read = 1; ; read++) {
      const managed = new Map([...left].map(([domain, items]) => [domain, items.keys()]))
      const data = await readManaged(workspace, queries, managed, outside)
      // What is desired does not matter here.
      const found = findDrift(
        { ...workspace, desired: left },
        left,
        { data, notes: [], maker: 'foreign' },
        [],
        ignore,
      )
      const items = found.drift.items.map((each) =>
        found.observed.has(each.domain) ? each : { ...each, unreadable: gone },
      )
      const isOpen = ({ kinds, unreadable }: DriftItem) =>
        kinds.includes('live') || unreadable !== undefined
      const open = items.filter(isOpen)
      const agreeing = items.filter((each) => !isOpen(each) && each.ignored === undefined)
      same += agreeing.filter(({ confidence }) => confidence === 'verified').length
      append(
        partly,
        agreeing.filter(({ notVerifiable }) => notVerifiable.length > 0),
      )
      if (open.length === 0 || read === maxReads) return { same, partly, open, found }
      const next: RecordedState = new Map()
      for (const { domain, item } of open) {
        const state = left.get(domain)?.get(item)
        if (state !== undefined) setItem(next, domain, item, state)
      }
      left = next
      await outside.clock.sleep(workspace.config.service.settleSeconds * 1000, outside.signal)
    }
  })
}
