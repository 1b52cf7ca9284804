import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, Snapshot } from '../model/item.ts'
import { listSome } from '../model/words.ts'
import { bindHashes, hashDomains, type PlanOwner } from './basis.ts'

export const remakeHint = 'Make a new plan with "edgewise plan --out FILE".'

/** What a plan file was made for. */
interface SavedBasis {
  /** Hashes by domain. */
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  /** Commit of the workspace; null if unknown. */
  commit: string | null
}

/**
 * Refuses a plan file whose manifests or recorded state differ, or of another workspace.
 *
 * @param isSame whether the changes of the file are those of the workspace: then only its id or
 * address differs
 */
export function refuseOtherBasis(
  saved: SavedBasis,
  isSame: boolean,
  commit: string | null,
  { recorded, references }: { recorded: Snapshot; references: Snapshot },
  owner: PlanOwner,
): void {
  const manifests = listChangedDomains(saved.desired, references, owner)
  const states = listChangedDomains(saved.recorded, recorded, owner)
  if (manifests.length + states.length === 0) return
  const count = Object.keys(saved.desired).length
  if (manifests.length === count && states.length === count) {
    const isElsewhere = saved.commit !== null && commit !== null && saved.commit !== commit
    const commits = isElsewhere
      ? ` (it was made at ${saved.commit?.slice(0, 12)}, this is ${commit.slice(0, 12)})`
      : ''
    throw new EdgewiseError(
      'stale-plan',
      isSame
        ? `the plan file was not made for the workspace "${owner.id}" at ${owner.writtenAddress}`
        : `the plan is stale: the manifests and the recorded state of ${listSome(manifests)} ` +
            `differ from those that it was made for${commits}`,
      remakeHint,
    )
  }
  const changed = [
    ...(manifests.length === 0 ? [] : [`the manifests of ${listSome(manifests)}`]),
    ...(states.length === 0 ? [] : [`the recorded state of ${listSome(states)}`]),
  ]
  throw new EdgewiseError(
    'stale-plan',
    `the plan is stale: ${changed.join(' and ')} changed since it was made`,
    remakeHint,
  )
}

function listChangedDomains(
  before: Record<Domain, string>,
  snapshot: Snapshot,
  owner: PlanOwner,
): Domain[] {
  const domains = Object.keys(before)
  const now = bindHashes(hashDomains(snapshot, domains), owner)
  return domains.filter((domain) => before[domain] !== now[domain]).toSorted()
}
