import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { FileChanges } from '../folder/write-file.ts'
import { formatAddress } from '../format/address-file.ts'
import { formatDomainFile } from '../format/domain-file.ts'
import { buildStatePaths, type StatePaths } from '../format/state-paths.ts'
import { loadRollouts } from './load-files.ts'
import { listIntended } from './owners.ts'
import type { Guard, SharedFiles, StateFiles } from './state-files.ts'
import type { RecordedState, StateKey } from './store.ts'
import { getOwn } from '../../core/model/json.ts'
import { selectDomains, type Rollout } from '../../core/model/rollout.ts'
import { formatRollout } from '../format/rollout-file.ts'

/**
 * Builds the file changes that move the state of domains from one id to another, and keep them on
 * hold, in this order: the new files exist before the old ones are gone. The guard refuses other
 * state at the new id.
 */
export async function buildMove(
  files: StateFiles,
  { id, ...service }: StateKey,
  domains: RecordedState,
  to: string,
): Promise<{ steps: FileChanges[]; guard: Guard }> {
  const [from, target] = [
    buildStatePaths({ id, ...service }),
    buildStatePaths({ id: to, ...service }),
  ]
  const moved = new Map(
    Array.from(domains, ([domain, items]) => [
      target.domain(domain),
      formatDomainFile(domain, items),
    ]),
  )
  const gone = new Map([...domains.keys()].map((domain) => [from.domain(domain), null]))
  const about = new Map([[target.address, formatAddress({ id: to, ...service })]])
  const { added, removed } = moveHolds(
    new Set(domains.keys()),
    { paths: from, rollouts: await loadRollouts(files, from.rollouts) },
    { paths: target, rollouts: await loadRollouts(files, target.rollouts) },
  )
  return {
    steps: [about, added, moved, removed, gone],
    guard: (shared) => refuseOccupied(shared, { id: to, ...service }, moved, domains.keys()),
  }
}

/**
 * Refuses to move state to a workspace that has other state of these domains, or an unfinished
 * apply that may write them. Equal state is the result of an interrupted move.
 *
 * @param moved texts of the files to move, by new path
 * @throws EdgewiseError `owned-elsewhere`
 */
async function refuseOccupied(
  files: SharedFiles,
  to: StateKey,
  moved: ReadonlyMap<string, string>,
  domains: Iterable<Domain>,
): Promise<void> {
  const paths = buildStatePaths(to)
  const intended = await listIntended(files, paths)
  const recorded = await files.load(paths.domains)
  for (const domain of domains) {
    if (intended.has(domain)) {
      throw new EdgewiseError(
        'owned-elsewhere',
        `an unfinished apply of the workspace "${to.id}" may write ${domain}; nothing was moved`,
        `Wait until it ends; if it was killed, run "edgewise apply" in the workspace "${to.id}".`,
      )
    }
    const text = recorded.get(paths.domain(domain))
    if (text !== undefined && text !== moved.get(paths.domain(domain))) {
      throw new EdgewiseError(
        'owned-elsewhere',
        `the workspace "${to.id}" has other state of ${domain}; nothing was moved`,
        `Drop the wrong one: run "edgewise state forget ${domain}" in one of the two workspaces.`,
      )
    }
  }
}

/** Rollouts of a workspace, and the paths of its state. */
interface WorkspaceRollouts {
  paths: StatePaths
  rollouts: Rollout[]
}

/**
 * Builds the file changes that keep domains on hold when they move to another workspace: the part
 * of each rollout that is about them moves to the same id there. A repeated move adds nothing.
 */
function moveHolds(
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
      desiredHashes: {},
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
  const isNew = (domain: Domain) => getOwn(rollout.desiredHashes, domain) === undefined
  const unknown = moving.filter(isNew)
  const hashes = moving.map((domain) => [domain, getOwn(from.desiredHashes, domain) ?? ''])
  const wave = { domains: unknown.toSorted(), applied: null, passed: false }
  return {
    ...rollout,
    desiredHashes: {
      ...rollout.desiredHashes,
      ...(Object.fromEntries(hashes) as Rollout['desiredHashes']),
    },
    values: { ...rollout.values, ...selectDomains(from.values, moving) },
    onHold: { ...rollout.onHold, ...selectDomains(from.onHold, moving) },
    waves: unknown.length === 0 ? rollout.waves : [...rollout.waves, wave],
  }
}
