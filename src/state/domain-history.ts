import { dirname } from 'node:path'
import type { Domain, ItemKey } from '../model/item.ts'
import { loadMarkedApplies } from './doubt-marks.ts'
import { parseDomainFile } from './format/domain-file.ts'
import { parseWave, toApplied, type JournalEntry } from './format/journal.ts'
import { buildStatePaths, type StatePaths } from './format/state-paths.ts'
import { findDoubts, loadEntries } from './load-journal.ts'
import { refuseMigrated } from './owners.ts'
import { loadPruned } from './prune.ts'
import type { StateFiles } from './state-files.ts'
import type {
  DomainApply,
  DomainHistory,
  IntendedItem,
  RecordedItem,
  RecordedState,
  StateKey,
  Wave,
} from './store.ts'

type Waves = Pick<Wave, 'before' | 'intents'>[]

/**
 * Loads what each apply intended for one domain, and the state of the domain. No state need be
 * loaded before.
 */
export async function loadDomainHistory(
  files: StateFiles,
  key: StateKey,
  domain: Domain,
): Promise<DomainHistory> {
  files.refresh()
  await files.moveOld?.()
  await refuseMigrated(files, key)
  const paths = buildStatePaths(key)
  const entries = (await loadEntries(files, paths)).toSorted((a, b) =>
    a.startedAt < b.startedAt ? -1 : 1,
  )
  const found = await files.loadNaming?.(paths.waves, domain)
  const recorded = await loadDomain(files, paths, domain)
  const applies: DomainApply[] = []
  for (const entry of entries) {
    const folder = `${paths.waves}/${entry.id}`
    const texts = found ?? (await files.load(folder))
    const waves = parseWaves(files, texts, folder, domain)
    addDoubts(entry, waves, recorded)
    const items = listIntended(waves, domain)
    if (items.size > 0) applies.push({ apply: toApplied(entry), items })
  }
  await loadMarkedApplies(files, paths, recorded)
  const { applies: pruned, dropped } = await loadPruned(files, paths)
  const ids = new Set(entries.map(({ id }) => id))
  return {
    applies,
    recorded: recorded.get(domain) ?? new Map<ItemKey, RecordedItem>(),
    pruned: dropped + pruned.filter(({ id }) => !ids.has(id)).length,
  }
}

async function loadDomain(
  files: StateFiles,
  paths: StatePaths,
  domain: Domain,
): Promise<RecordedState> {
  const path = paths.domain(domain)
  const text = (await files.load(dirname(path))).get(path)
  return new Map(
    text === undefined ? [] : [[domain, parseDomainFile(files.describePath(path), text).items]],
  )
}

/** Parses the waves of an apply that name a domain, by number from 1; other ones are empty. */
function parseWaves(
  files: StateFiles,
  texts: ReadonlyMap<string, string>,
  folder: string,
  domain: Domain,
): Waves {
  const waves: Waves = []
  const name = JSON.stringify(domain)
  for (const [path, text] of texts) {
    if (!path.startsWith(`${folder}/`) || !text.includes(name)) continue
    const number = Number(path.slice(folder.length + 1, -'.json'.length))
    waves[number - 1] = parseWave(files.describePath(path), text)
  }
  return Array.from(waves, (wave) => wave ?? { before: new Map(), intents: new Map() })
}

/** Adds what an apply that has not ended leaves in-doubt now. */
function addDoubts(entry: JournalEntry, waves: Waves, recorded: RecordedState): void {
  if (entry.outcome !== 'unfinished') return
  for (const [name, items] of findDoubts(entry, waves, recorded)) recorded.set(name, items)
}

function listIntended(waves: Waves, domain: Domain): Map<ItemKey, IntendedItem> {
  const items = new Map<ItemKey, IntendedItem>()
  for (const { before, intents } of waves) {
    for (const [item, state] of before.get(domain) ?? []) {
      const intended = [...intents.values()].flatMap((written) => {
        const found = written.get(domain)?.get(item)
        return found === undefined ? [] : [found]
      })
      // An earlier wave of the apply may have changed the item already.
      const earlier = items.get(item) ?? { before: state, intended: null }
      items.set(item, { ...earlier, intended: intended.at(-1) ?? earlier.intended })
    }
  }
  return items
}
