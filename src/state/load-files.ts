import { KnownItems } from '../model/known-items.ts'
import type { Rollout } from '../model/rollout.ts'
import { parseDomainFile } from './format/domain-file.ts'
import { createDamagedFileError } from './format/parse-file.ts'
import { parseRollout } from './format/rollout-file.ts'
import type { StatePaths } from './format/state-paths.ts'
import type { KnownFiles } from './known-files.ts'
import type { LoadedFiles } from './state-files.ts'
import type { RecordedState } from './store.ts'

/**
 * Loads the recorded state of all domains.
 *
 * @param known files that need not be parsed before their items are used
 * @throws EdgewiseError `record-damaged`
 */
export async function loadDomains(
  files: LoadedFiles,
  paths: StatePaths,
  known: KnownFiles | null = null,
): Promise<RecordedState> {
  const recorded: RecordedState = new Map()
  for (const [path, text] of await files.load(paths.domains)) {
    const found = known?.find(path, text) ?? null
    if (found !== null) {
      const build = () => parseDomainFile(files.describePath(path), text).items
      recorded.set(found.domain, new KnownItems(found.version, found.count, build))
      continue
    }
    const place = files.describePath(path)
    const { domain, items } = parseDomainFile(place, text)
    if (path !== paths.domain(domain)) {
      const expected = files.describePath(paths.domain(domain))
      throw createDamagedFileError(place, `it names ${domain}, whose file is ${expected}`, 'domain')
    }
    recorded.set(domain, items)
    known?.add(path, text, domain, items)
  }
  return recorded
}

/**
 * Loads the rollouts, first to last.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadRollouts(files: LoadedFiles, paths: StatePaths): Promise<Rollout[]> {
  const rollouts = [...(await files.load(paths.rollouts))].map(([path, text]) => {
    const place = files.describePath(path)
    const rollout = parseRollout(place, text)
    if (path !== paths.rollout(rollout.id))
      throw createDamagedFileError(place, `it names rollout ${rollout.id}`, 'rollout')
    return rollout
  })
  return rollouts.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
}
