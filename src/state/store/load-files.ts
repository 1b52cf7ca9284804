import type { Rollout } from '../../core/model/rollout.ts'
import { parseDomainFile } from '../format/domain-file.ts'
import { createDamagedFileError, type FileKind } from '../format/parse-file.ts'
import { formatEnded, parseRollout } from '../format/rollout-file.ts'
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
 * @param some paths of files in it; absent: all
 * @throws EdgewiseError `record-damaged`
 */
export async function loadNamed<T>(
  files: SharedFiles,
  folder: string,
  kind: FileKind,
  parse: (place: string, text: string) => T,
  getId: (value: T) => string,
  some = [folder],
): Promise<T[]> {
  return Array.from(await files.load(...some), ([path, text]) => {
    const place = files.describePath(path)
    const value = parse(place, text)
    if (path === `${folder}/${getId(value)}.json`) return value
    const what = kind === 'rollout' ? 'rollout' : 'apply'
    throw createDamagedFileError(place, `it names ${what} ${getId(value)}`, kind)
  })
}

/** Loads the rollouts of a folder, first to last, as `loadNamed` does. */
export async function loadRollouts(files: SharedFiles, folder: string): Promise<Rollout[]> {
  const rollouts = await loadNamed(files, folder, 'rollout', parseRollout, ({ id }) => id)
  return rollouts.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
}

/** Number of ended rollouts that are kept. */
const maxEnded = 30

/** Builds the file changes that keep a rollout that has ended, beside the latest others. */
export async function buildEnded(
  files: SharedFiles,
  paths: StatePaths,
  rollout: Rollout,
): Promise<Map<string, string | null>> {
  const own = `${paths.ended}/${rollout.id}.json`
  // Ids begin with the time.
  const others = (await files.listPaths(paths.ended)).filter((path) => path !== own).toSorted()
  const gone = others.slice(0, 1 - maxEnded)
  return new Map([[own, formatEnded(rollout)], ...gone.map((path) => [path, null] as const)])
}
