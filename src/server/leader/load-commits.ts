import type { SecretHider } from '../../core/model/secret.ts'
import { markForeign } from '../../core/model/text/text-makers.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import type { Branch } from '../branch/branch.ts'
import { refuseMoved, type Committed, type Identity } from '../branch/workspaces.ts'
import type { Logger } from '../logger.ts'

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
  logger: Pick<Logger, 'setSecrets'>
}

/** Number of the commits loaded last whose secrets are removed from the log. */
const maxKept = 5

/** Creates the loader of commits; their secrets stay out of the log from then on. */
export function createLoader({ ports, branch, identity, logger }: LoadContext) {
  let hiders: ReadonlyMap<string, SecretHider> = new Map()
  return async (commit: string): Promise<Committed> => {
    const workspace = await ports.loadCommit(branch, commit, ports.outside)
    hiders = keepHider(hiders, commit, { scrub: workspace.scrub, redact: workspace.redact })
    const all = [...hiders.values()]
    logger.setSecrets({
      scrub: (text, sent) =>
        all.reduce((clean, each) => markForeign(each.scrub(clean, sent)), text),
      redact: (text) => all.reduce((clean, each) => each.redact(clean), text),
    })
    refuseMoved(workspace, identity)
    return workspace
  }
}

/** Adds a commit. The secrets of others, such as that of an open rollout, stay removed, too. */
export function keepHider(
  hiders: ReadonlyMap<string, SecretHider>,
  commit: string,
  hider: SecretHider,
): ReadonlyMap<string, SecretHider> {
  const others = [...hiders].filter(([each]) => each !== commit)
  return new Map([...others, [commit, hider] as const].slice(-maxKept))
}
