import { getItemSpec } from '../catalog/catalogue.ts'
import type { Change } from '../model/change.ts'
import { compareKeys, groupBy } from '../model/lists.ts'
import { unrecordedState, type Domain, type Snapshot } from '../model/item.ts'
import { pluralize } from '../model/text/words.ts'

/** A warning about one domain. */
interface Warning {
  text: string
  domain: Domain
}

/** Collects the warnings of a plan; each is given once, with the number of its domains. */
export function collectWarnings(
  changes: Change[],
  recorded: Snapshot,
  desired: Snapshot,
): string[] {
  return [
    changes.flatMap((change) => warnEmptied(change, recorded)),
    changes.flatMap((change) => warnUnknownEntries(change, recorded)),
    warnNothingToRemove(recorded, desired),
  ].flatMap(formatWarnings)
}

/** Warns of unrecorded items that another one empties. */
function warnEmptied({ domain, item, action, reason }: Change, recorded: Snapshot): Warning[] {
  const items = recorded.get(domain)
  const wasAlone = items?.get(item)?.status === 'confirmed'
  if (reason === 'cleared' || action === 'release' || wasAlone) return []
  return getItemSpec(item).clearedItems.flatMap((cleared) =>
    items?.has(cleared)
      ? []
      : [{ text: `${item} empties ${cleared}, which is not recorded`, domain }],
  )
}

/** Warns of an item with unknown entries that can only be changed entry by entry. */
function warnUnknownEntries({ domain, item, after }: Change, recorded: Snapshot): Warning[] {
  const state = recorded.get(domain)?.get(item) ?? unrecordedState
  if (after === null || state.status !== 'in-doubt' || state.unknown !== true) return []
  if (getItemSpec(item).buildWhole(state, after)?.name !== 'switch') return []
  const text = `${item} is written entry by entry; it may have other entries that are not known`
  return [{ text, domain }]
}

/** Warns of `$unset` for an item that is unset entry by entry and has no recorded entries. */
function warnNothingToRemove(recorded: Snapshot, desired: Snapshot): Warning[] {
  const found: Warning[] = []
  for (const [domain, items] of desired) {
    for (const [item, target] of items) {
      if (target.status !== 'unset') continue
      const state = recorded.get(domain)?.get(item) ?? unrecordedState
      if (state.status !== 'unset' && getItemSpec(item).unset?.(state, domain) === null)
        found.push({ text: `${item} can't be unset: it has no recorded entry to remove`, domain })
    }
  }
  return found
}

function formatWarnings(found: Warning[]): string[] {
  const byText = [...groupBy(found, ({ text }) => text)].toSorted(compareKeys)
  return byText.map(([text, same]) => {
    const domains = same.map(({ domain }) => domain).toSorted()
    const example = `${pluralize(domains.length, 'domain')}, e.g. ${domains[0]}`
    return `${text} (${domains.length === 1 ? domains[0] : example})`
  })
}
