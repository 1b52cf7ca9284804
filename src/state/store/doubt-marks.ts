import { getOrAdd } from '../../core/model/lists.ts'
import { isSameJson } from '../../core/model/json.ts'
import type { Domain } from '../../core/model/item.ts'
import { formatDoubt, parseDoubt, type DoubtMark } from '../format/journal.ts'
import type { StatePaths } from '../format/state-paths.ts'
import { loadNamed } from './load-files.ts'
import { loadEntries, loadBatches, listReach } from './load-journal.ts'
import { listSettled } from './settled-writes.ts'
import type { SharedFiles, StateFiles } from './state-files.ts'
import type { RecordedItem, RecordedState, Batch } from './store.ts'

/**
 * Adds a doubt mark for those of the writes of an apply whose outcome is not recorded; none if all
 * are.
 */
export async function addDoubtMark(
  files: StateFiles,
  paths: StatePaths,
  { apply, writes, cleared }: Required<DoubtMark>,
): Promise<void> {
  files.refresh()
  const entry = (await loadEntries(files, paths)).find(({ id }) => id === apply)
  const settled =
    entry === undefined ? new Set() : listSettled(entry, await loadBatches(files, paths, apply))
  const doubtful = writes.filter((write) => !settled.has(write))
  if (doubtful.length === 0) return
  await files.add(
    paths.doubt(apply),
    formatDoubt({ apply, writes: doubtful, ...(cleared.length === 0 ? {} : { cleared }) }),
    `Apply ${apply}: lost its lock; write ${doubtful.join(', ')} in-doubt`,
  )
}

/** A doubt mark, and its domains with the items that it leaves in-doubt. */
export interface MarkedApply {
  apply: string
  domains: RecordedState
  /** The domains that the apply may have changed. */
  reach: ReadonlySet<Domain>
}

/** Loads the doubt marks, and updates the state by them. */
export async function loadMarkedApplies(
  files: SharedFiles,
  paths: StatePaths,
  recorded: RecordedState,
): Promise<MarkedApply[]> {
  const marked: MarkedApply[] = []
  for (const mark of await loadDoubtMarks(files, paths)) {
    const batches = await loadBatches(files, paths, mark.apply)
    const domains = findMarkedDoubts(mark, batches, recorded)
    for (const [domain, items] of domains) recorded.set(domain, items)
    marked.push({ apply: mark.apply, domains, reach: listReach(batches) })
  }
  return marked
}

/** Loads the doubt marks. */
export function loadDoubtMarks(files: SharedFiles, paths: StatePaths): Promise<DoubtMark[]> {
  return loadNamed(files, paths.doubts, 'journal', parseDoubt, ({ apply }) => apply)
}

/**
 * Finds the domains that a doubt mark is about, with all of their items. The marked writes took
 * effect before or after those that state has recorded since, so any value is possible.
 *
 * @param batches the batches of the apply
 */
function findMarkedDoubts(
  { writes, cleared = [] }: DoubtMark,
  batches: Pick<Batch, 'intents'>[],
  recorded: RecordedState,
): RecordedState {
  const doubted: RecordedState = new Map()
  for (const [write, domains] of batches.flatMap(({ intents }) => [...intents])) {
    if (!writes.includes(write)) continue
    for (const [domain, intended] of domains) {
      const items = getOrAdd(doubted, domain, () => new Map(recorded.get(domain)))
      for (const [item, state] of intended) items.set(item, joinDoubts(items.get(item), state))
      for (const item of cleared) {
        const state = items.get(item)
        if (state !== undefined && !intended.has(item))
          items.set(item, { ...state, status: 'in-doubt', unknown: true, open: true })
      }
    }
  }
  return doubted
}

function joinDoubts(recorded: RecordedItem | undefined, intended: RecordedItem): RecordedItem {
  const all = [...(recorded?.candidates ?? []), ...intended.candidates]
  const candidates = all.filter((value, i) => all.findIndex((one) => isSameJson(one, value)) === i)
  const templates = { ...recorded?.templates, ...intended.templates }
  return {
    ...intended,
    candidates,
    unknown: true,
    open: true,
    ...(Object.keys(templates).length === 0 ? {} : { templates }),
  }
}
