import { dirname } from 'node:path'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { SharedFiles } from '../store/state-files.ts'
import { covers } from '../store/load-journal.ts'

/** The domains whose lock this process has: all, until it has the lock of some only. */
export class LockedDomains {
  /** Null for all. */
  domains: ReadonlySet<Domain> | null = null

  /** Tests whether this process has the locks of all of these domains. */
  cover(domains: Iterable<Domain>): boolean {
    return this.domains === null || covers(this.domains, domains)
  }

  /**
   * Refuses to change domains whose lock this process does not have.
   *
   * @throws EdgewiseError `record-moved`
   */
  refuseOthers(domains: Iterable<Domain>): void {
    const others = [...new Set(domains)].filter((domain) => !this.cover([domain]))
    if (others.length > 0)
      throw new EdgewiseError(
        'record-moved',
        `another process has changed ${listSome(others)} since this command chose its domains`,
        'Run the same command again.',
      )
  }
}

/**
 * Refuses to record a wave over that of another apply: two that begin in the same second may choose
 * the same id.
 *
 * @throws EdgewiseError `record-moved`
 */
export async function refuseSameId(files: SharedFiles, path: string, text: string): Promise<void> {
  const recorded = (await files.load(dirname(path))).get(path)
  // After a lost connection, the own wave may be recorded already.
  if (recorded !== undefined && recorded !== text)
    throw new EdgewiseError(
      'record-moved',
      `another apply has begun with the same id (${files.describePath(path)})`,
      'Run the same command again.',
    )
}
