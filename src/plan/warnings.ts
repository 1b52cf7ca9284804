import { getItemSpec } from '../catalog/catalogue.ts'
import type { Change } from '../model/change.ts'
import { findVersion } from '../model/known-items.ts'
import { unrecordedState, type Domain, type Snapshot } from '../model/item.ts'

/** Collects the warnings of a plan; each is given once, with the number of its domains. */
export function collectWarnings(
  changes: Change[],
  recorded: Snapshot,
  desired: Snapshot,
): string[] {
  return [
    ...warnEmptied(changes, recorded),
    ...warnUnknownEntries(changes, recorded),
    ...warnNothingToRemove(recorded, desired),
  ]
}

/** Warns of an unrecorded item that another one empties. */
function warnEmptied(changes: Change[], recorded: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const change of changes) {
    if (change.reason === 'cleared' || change.action === 'release') continue
    const items = recorded.get(change.domain)
    const wasAlone = items?.get(change.item)?.status === 'confirmed'
    if (wasAlone) continue
    for (const cleared of getItemSpec(change.item).clearedItems) {
      if (!items?.has(cleared))
        push(found, `${change.item} empties ${cleared}, which is not recorded`, change.domain)
    }
  }
  return formatWarnings(found)
}

/** Warns of an item with unknown entries that can only be changed entry by entry. */
function warnUnknownEntries(changes: Change[], recorded: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const change of changes) {
    const state = recorded.get(change.domain)?.get(change.item) ?? unrecordedState
    if (change.after === null || state.status !== 'in-doubt' || state.unknown !== true) continue
    if (getItemSpec(change.item).buildWhole(state, change.after)?.name === 'switch')
      push(
        found,
        `${change.item} is written entry by entry; it may have other entries that are not known`,
        change.domain,
      )
  }
  return formatWarnings(found)
}

/** Warns of `$unset` for an item that is unset entry by entry and has no recorded entries. */
function warnNothingToRemove(recorded: Snapshot, desired: Snapshot): string[] {
  const found = new Map<string, Domain[]>()
  for (const [domain, items] of desired) {
    // Known items have values.
    if (findVersion(items) !== null) continue
    for (const [item, target] of items) {
      if (target.status !== 'unset') continue
      const state = recorded.get(domain)?.get(item) ?? unrecordedState
      if (state.status !== 'unset' && getItemSpec(item).unset?.(state, domain) === null) {
        push(found, `${item} can't be unset: it has no recorded entry to remove`, domain)
      }
    }
  }
  return formatWarnings(found)
}

function push(found: Map<string, Domain[]>, text: string, domain: Domain): void {
  const domains = found.get(text)
  if (domains === undefined) found.set(text, [domain])
  else domains.push(domain)
}

function formatWarnings(found: Map<string, Domain[]>): string[] {
  return [...found.keys()].toSorted().map((text) => {
    const domains = (found.get(text) ?? []).toSorted()
    const example = `${domains.length} domains, e.g. ${domains[0]}`
    return `${text} (${domains.length === 1 ? domains[0] : example})`
  })
}
