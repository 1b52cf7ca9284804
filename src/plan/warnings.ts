import { getItemSpec } from '../catalog/catalogue.ts'
import type { Change } from '../model/change.ts'
import { unrecordedState, type Domain, type Snapshot } from '../model/item.ts'

/**
 * What a reader of the plan should know before it is applied; each kind told once, with the number
 * of domains.
 */
export function collectWarnings(
  changes: Change[],
  recorded: Snapshot,
  desired: Snapshot,
): string[] {
  return [
    ...emptied(changes, recorded),
    ...beyondRecord(changes, recorded),
    ...nothingToTakeBack(recorded, desired),
  ]
}

/** An item that is not recorded and that another one empties. */
function emptied(changes: Change[], recorded: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const change of changes) {
    if (change.reason === 'cleared' || change.action === 'release') continue
    const items = recorded.get(change.domain)
    const wasAlone = items?.get(change.item)?.status === 'confirmed'
    if (wasAlone) continue
    for (const cleared of getItemSpec(change.item).clearedItems) {
      if (!items?.has(cleared))
        push(
          found,
          `${change.item} empties ${cleared}, of which nothing is recorded`,
          change.domain,
        )
    }
  }
  return told(found)
}

/** An item that can only be changed entry by entry, when what it holds is not known. */
function beyondRecord(changes: Change[], recorded: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const change of changes) {
    const held = recorded.get(change.domain)?.get(change.item) ?? unrecordedState
    if (change.after === null || held.status !== 'in-doubt' || held.unknown !== true) continue
    if (getItemSpec(change.item).buildWhole(held, change.after)?.name === 'switch')
      push(
        found,
        `${change.item} is written entry by entry; entries that it may hold beside these are not known`,
        change.domain,
      )
  }
  return told(found)
}

/** `$unset` of an item that has no whole way back, where no entries are recorded. */
function nothingToTakeBack(recorded: Snapshot, desired: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const [domain, items] of desired) {
    for (const [item, wanted] of items) {
      if (wanted.status !== 'unset') continue
      const held = recorded.get(domain)?.get(item) ?? unrecordedState
      if (held.status !== 'unset' && getItemSpec(item).unset?.(held, domain) === null) {
        push(
          found,
          `${item} can't be unset: no entry of it is recorded, so there is none to take back`,
          domain,
        )
      }
    }
  }
  return told(found)
}

function push(found: Map<string, Domain[]>, text: string, domain: Domain): void {
  const domains = found.get(text)
  if (domains === undefined) found.set(text, [domain])
  else domains.push(domain)
}

function told(found: Map<string, Domain[]>): string[] {
  return [...found.keys()].toSorted().map((text) => {
    const domains = (found.get(text) ?? []).toSorted()
    return `${text} (${domains.length === 1 ? domains[0] : `${domains.length} domains, e.g. ${domains[0]}`})`
  })
}
