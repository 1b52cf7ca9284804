import { basename } from 'node:path'
import type { Domain } from '../../core/model/item.ts'
import { isUnfinished, type Rollout } from '../../core/model/rollout.ts'
import { loadRollouts } from './load-files.ts'
import { parseDomainFile } from '../format/domain-file.ts'
import { loadDoubtMarks } from './doubt-marks.ts'
import type { StatePaths } from '../format/state-paths.ts'
import { loadBatches, listReach, overlaps } from './load-journal.ts'
import type { SharedFiles } from './state-files.ts'

/**
 * Lists the domains of a rollout that have to be locked together: none once it has ended. Two
 * commands may lift values on hold of one that has ended then, and one of them be lost: such a
 * value is recorded, so that it is no change.
 */
export function listRolloutDomains(rollout: Rollout): Set<Domain> {
  return new Set(isUnfinished(rollout) ? Object.keys(rollout.desiredHashes) : [])
}

/**
 * Finds the domains that can only be changed together with some others: those of an unfinished
 * apply, of a doubt mark and of a rollout, which end for all of their domains at once.
 */
export async function findEntangled(
  files: SharedFiles,
  paths: StatePaths,
  domains: Iterable<Domain>,
): Promise<Set<Domain>> {
  const spans = await loadSpans(files, paths)
  const found = new Set(domains)
  for (let size = -1; size !== found.size;) {
    size = found.size
    for (const span of spans)
      if (overlaps(found, span)) for (const domain of span) found.add(domain)
  }
  return found
}

async function loadSpans(files: SharedFiles, paths: StatePaths): Promise<Set<Domain>[]> {
  const spans = (await loadRollouts(files, paths.rollouts)).map(listRolloutDomains)
  for (const path of await files.listPaths(paths.open)) {
    const batches = await loadBatches(files, paths, basename(path, '.json'))
    spans.push(listReach(batches))
  }
  for (const { apply } of await loadDoubtMarks(files, paths))
    spans.push(listReach(await loadBatches(files, paths, apply)))
  return spans
}

/** Lists the domains with state, and those of unfinished applies, doubt marks and rollouts. */
export async function listDomains(files: SharedFiles, paths: StatePaths): Promise<Domain[]> {
  const domains = (await loadSpans(files, paths)).flatMap((span) => [...span])
  for (const path of await files.listPaths(paths.domains)) {
    const name = basename(path, '.json')
    if (path === paths.domain(name)) domains.push(name)
    // The names of the files of long domains are shortened.
    else
      for (const [place, text] of await files.load(path.slice(0, path.lastIndexOf('/'))))
        if (place === path) domains.push(parseDomainFile(files.describePath(path), text).domain)
  }
  return [...new Set(domains)]
}
