import type { Outside } from '../../operations/runtime/outside.ts'
import type { Branch } from '../branch/branch.ts'
import { refuseMoved, type Committed, type Identity } from '../branch/workspaces.ts'
import type { Logger } from '../logger.ts'

/** Removes the secrets of a commit from a text. */
type Scrub = (text: string) => string

/** Ports of the loader. */
export interface LoadPorts {
  outside: Outside
  loadCommit(branch: Branch, commit: string, outside: Outside): Promise<Committed>
}

/** What commits are loaded with. */
export interface LoadContext {
  ports: LoadPorts
  branch: Branch
  identity: Identity
  logger: Pick<Logger, 'setScrub'>
}

/** Number of the commits loaded last whose secrets are removed from the log. */
const maxScrubs = 5

/** Creates the loader of commits; their secrets stay out of the log from then on. */
export function createLoader({ ports, branch, identity, logger }: LoadContext) {
  let scrubs: ReadonlyMap<string, Scrub> = new Map()
  return async (commit: string): Promise<Committed> => {
    const workspace = await ports.loadCommit(branch, commit, ports.outside)
    scrubs = keepScrub(scrubs, commit, (text) => workspace.scrub(text))
    logger.setScrub((text) => [...scrubs.values()].reduce((clean, scrub) => scrub(clean), text))
    refuseMoved(workspace, identity)
    return workspace
  }
}

/** Adds a commit. The secrets of others, such as that of an open rollout, stay removed, too. */
export function keepScrub(
  scrubs: ReadonlyMap<string, Scrub>,
  commit: string,
  scrub: Scrub,
): ReadonlyMap<string, Scrub> {
  const others = [...scrubs].filter(([each]) => each !== commit)
  return new Map([...others, [commit, scrub] as const].slice(-maxScrubs))
}
