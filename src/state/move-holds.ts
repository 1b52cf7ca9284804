import type { Domain } from '../model/item.ts'
import { getOwn } from '../model/json.ts'
import { selectDomains, type Rollout } from '../model/rollout.ts'
import type { FileChanges } from './folder/write-file.ts'
import { formatRollout } from './format/rollout-file.ts'
import type { StatePaths } from './format/state-paths.ts'

/** Rollouts of a workspace, and the paths of its state. */
interface WorkspaceRollouts {
  paths: StatePaths
  rollouts: Rollout[]
}

/**
 * Builds the file changes that keep domains on hold when they move to another workspace: the part
 * of each rollout that is about them moves to the same id there. A repeated move adds nothing.
 */
export function moveHolds(
  domains: ReadonlySet<Domain>,
  from: WorkspaceRollouts,
  to: WorkspaceRollouts,
): { added: FileChanges; removed: FileChanges } {
  const added = new Map<string, string>()
  const removed = new Map<string, string | null>()
  for (const rollout of from.rollouts) {
    const names = Object.keys(rollout.onHold)
    const moving = names.filter((domain) => domains.has(domain))
    if (moving.length === 0) continue
    const onHold = selectDomains(
      rollout.onHold,
      names.filter((domain) => !domains.has(domain)),
    )
    const known = to.rollouts.find(({ id }) => id === rollout.id)
    const empty = {
      ...rollout,
      asked: {},
      values: {},
      onHold: {},
      waves: [],
      released: [],
      applies: [],
    }
    added.set(
      to.paths.rollout(rollout.id),
      formatRollout(addHolds(known ?? empty, rollout, moving)),
    )
    removed.set(
      from.paths.rollout(rollout.id),
      Object.keys(onHold).length === 0 ? null : formatRollout({ ...rollout, onHold }),
    )
  }
  return { added, removed }
}

function addHolds(rollout: Rollout, from: Rollout, moving: Domain[]): Rollout {
  const isNew = (domain: Domain) => getOwn(rollout.asked, domain) === undefined
  const unknown = moving.filter(isNew)
  const asked = moving.map((domain) => [domain, getOwn(from.asked, domain) ?? ''])
  const wave = { domains: unknown.toSorted(), applied: null, passed: false }
  return {
    ...rollout,
    asked: { ...rollout.asked, ...(Object.fromEntries(asked) as Rollout['asked']) },
    values: { ...rollout.values, ...selectDomains(from.values, moving) },
    onHold: { ...rollout.onHold, ...selectDomains(from.onHold, moving) },
    waves: unknown.length === 0 ? rollout.waves : [...rollout.waves, wave],
  }
}
