import type { Rollout } from '../../core/model/rollout.ts'
import { parseDomainFile } from '../format/domain-file.ts'
import { createDamagedFileError, type FileKind } from '../format/parse-file.ts'
import { parseRollout } from '../format/rollout-file.ts'
import type { StatePaths } from '../format/state-paths.ts'
import type { SharedFiles } from './state-files.ts'
import type { RecordedState } from './store.ts'

/**
 * Loads the recorded state of all domains.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadDomains(files: SharedFiles, paths: StatePaths): Promise<RecordedState> {
  const recorded: RecordedState = new Map()
  for (const [path, text] of await files.load(paths.domains)) {
    const place = files.describePath(path)
    const { domain, items } = parseDomainFile(place, text)
    if (path !== paths.domain(domain)) {
      const expected = files.describePath(paths.domain(domain))
      throw createDamagedFileError(place, `it names ${domain}, whose file is ${expected}`, 'domain')
    }
    recorded.set(domain, items)
  }
  return recorded
}

/**
 * Loads the files of a folder, each of which has the path of the apply or rollout that it names.
 *
 * @throws EdgewiseError `record-damaged`
 */
export async function loadNamed<T>(
  files: SharedFiles,
  folder: string,
  kind: FileKind,
  parse: (place: string, text: string) => T,
  getId: (value: T) => string,
): Promise<T[]> {
  return Array.from(await files.load(folder), ([path, text]) => {
    const place = files.describePath(path)
    const value = parse(place, text)
    if (path === `${folder}/${getId(value)}.json`) return value
    const what = kind === 'rollout' ? 'rollout' : 'apply'
    throw createDamagedFileError(place, `it names ${what} ${getId(value)}`, kind)
  })
}

/** Loads the rollouts, first to last, as `loadNamed` does. */
export async function loadRollouts(files: SharedFiles, paths: StatePaths): Promise<Rollout[]> {
  const rollouts = await loadNamed(files, paths.rollouts, 'rollout', parseRollout, ({ id }) => id)
  return rollouts.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
}
