import type { Configured, Desired, Checkout } from '../runtime/parts.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Snapshot } from '../../core/model/item.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import type { RecordedState, HistoryReader } from '../../state/store/store.ts'
import { rollbackSuffix } from './find-change.ts'
import { isSameWorkspace } from '../runtime/load-workspace.ts'
import type { ForeignRelease } from '../runtime/ports.ts'
import { listHistory } from '../state.ts'

/**
 * Finds what this workspace would release, whatever the selection, although its file has never
 * applied this state: a second workspace with the same id, perhaps. Where no apply is known, it
 * has to release more than it keeps. A rollback says nothing about who manages the state.
 */
export async function findForeignRelease(
  workspace: Configured & Desired & Pick<Checkout, 'findName'>,
  store: HistoryReader,
  recorded: RecordedState,
): Promise<ForeignRelease | null> {
  const { items, domains, kept } = countReleased(recorded, workspace.desired)
  if (items === 0) return null
  const name = await workspace.findName()
  const { applies } = await listHistory(store)
  const seen = new Set(
    applies.flatMap(({ id, workspace: by }) =>
      by === undefined || id.endsWith(`-${rollbackSuffix}`) ? [] : [by],
    ),
  )
  const isSeen = [...seen].some((each) => isSameWorkspace(each, name))
  if (isSeen || (seen.size === 0 && items <= kept)) return null
  const state = `the state of "${workspace.config.id}"`
  const others = listSome([...seen].map(escapeInvisible))
  const reason =
    seen.size === 0
      ? `${state} has no apply that says which workspace it belongs to`
      : `${others} applied ${state}, and ${escapeInvisible(name)} never did`
  return { kind: 'release', items, domains, reason }
}

/** Counts the recorded items that no manifest mentions, their domains, and the other items. */
function countReleased(
  recorded: RecordedState,
  desired: Snapshot,
): { items: number; domains: number; kept: number } {
  const count = { items: 0, domains: 0, kept: 0 }
  for (const [domain, items] of recorded) {
    const wanted = desired.get(domain)
    let released = 0
    for (const item of items.keys()) if (wanted?.has(item) !== true) released++
    count.items += released
    count.domains += released > 0 ? 1 : 0
    count.kept += items.size - released
  }
  return count
}

/** Describes what would be released, and why that may be a mistake. */
export function describeForeignRelease({ items, domains, reason }: ForeignRelease): string {
  return `${pluralize(items, 'item')} of ${pluralize(domains, 'domain')} to release: ${reason}`
}

export const releaseHint =
  'If this is the workspace that applied them, run "edgewise apply --allow-release". If not, ' +
  'give it another id in edgewise.yaml.'

/** Creates the error where nobody can be asked: `--yes` is no consent to it. */
export function createReleaseRefusal(release: ForeignRelease): EdgewiseError {
  return new EdgewiseError(
    'guarded',
    `${describeForeignRelease(release)}; nothing was sent`,
    releaseHint,
  )
}
