import { catalogue } from '../catalog/catalogue.ts'
import { isAcceleratedDomain } from '../catalog/value/formats.ts'
import type { PlanFile } from '../model/generated/state-types.ts'
import { planFile } from '../model/generated/state-validators.ts'
import { isSameJson, findPrototypeKey, type Json, type JsonObject, toList } from '../model/json.ts'
import { nameChange } from '../model/change.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, Snapshot, Value } from '../model/item.ts'
import type { Plan, TrafficBasis } from '../model/plan.ts'
import { findNewReference, findReference, listSecrets, mapSecrets } from '../model/secret.ts'
import { checkStored } from '../model/text/stored-file.ts'
import { formatTime, pluralize, listSome } from '../model/text/words.ts'
import { bindHashes, hashDomains, type PlanOwner } from './basis.ts'
import { plannerVersion } from './make-plan.ts'
import type { Selection } from './selection.ts'

/**
 * References of secrets that keep their form of the plan file in the new plan; otherwise a plan
 * made in other circumstances would never equal it.
 */
export interface SavedSecrets {
  /** Those that were unknown when the plan was made. */
  unknown: ReadonlySet<string>
  /** Those that were new: state had no salt for fingerprints. */
  fresh: ReadonlySet<string>
}

/**
 * A parsed plan file. It is data, not authority: it selects the domains and the items of a new
 * plan, which has to be equal. Nothing else of it is used.
 */
export interface SavedPlan {
  selection: Selection
  secrets: SavedSecrets
  /** Hashes by domain. */
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  /** Commit of the workspace that it was made at; null if unknown. */
  commit: string | null
  /** Traffic that its waves rest on; null for none. */
  traffic: TrafficBasis | null
  /** The changes by domain and item. */
  reviewed: ReadonlyMap<string, PlanFile['changes'][number]>
  /** The file with every key: its changes, stays and writes have to equal those of the new plan. */
  json: JsonObject
}

/**
 * Checks the content of a plan file.
 *
 * @param data undefined if the file is not JSON
 * @throws EdgewiseError `stale-plan` if it is not a plan, or is of another planner version
 */
export function parseSavedPlan(data: Json | undefined): SavedPlan {
  const checked = checkStored(data, planFile)
  if ('fault' in checked) throw createUnusableError(checked.fault)
  const place = findPrototypeKey(checked.json)
  if (place !== null) throw createUnusableError(`at ${place}: no plan has a key "__proto__"`)
  const { changes, basis, planner, stays = [] } = checked.value
  if (planner.version !== plannerVersion)
    throw createUnusableError(
      `it was made by version ${planner.version} of the planner, this is version ${plannerVersion}`,
    )
  const { desired, recorded, items = [], traffic = null } = basis
  const commit = basis.commit ?? basis.onTopOf ?? null
  const foreign = [...Object.keys(desired), ...Object.keys(recorded)].find(
    (key) => !isAcceleratedDomain(key),
  )
  if (foreign !== undefined)
    throw createUnusableError(`"basis" has "${foreign}", which is not a domain`)
  const unknown = items.find((item) => !catalogue.has(item))
  if (unknown !== undefined)
    throw createUnusableError(`at /basis/items: there is no item "${unknown}"`)
  const domains = Object.keys(desired)
  const changed = [...changes, ...stays].map(({ domain }) => domain)
  if (!hasSameMembers(domains, changed) || !hasSameMembers(domains, Object.keys(recorded)))
    throw createUnusableError('"basis" has other domains than "changes"')
  const reviewed = new Map(changes.map((change) => [nameChange(change), change]))
  if (reviewed.size < changes.length)
    throw createUnusableError('"changes" has an item of a domain twice')
  // Only its own domains: a merge or an apply of other domains does not make a plan stale.
  return {
    selection: { target: domains, items },
    secrets: {
      unknown: listReferences(changes, findReference),
      fresh: listReferences(changes, findNewReference),
    },
    desired,
    recorded,
    commit,
    traffic,
    reviewed,
    json: checked.json,
  }
}

/**
 * Refuses a saved plan that differs from the plan which the workspace gives now.
 *
 * @param now the plan of the same selection
 * @param json the same plan in the form of a plan file
 * @param snapshots recorded state and desired references of the saved plan's domains now
 * @param owner the workspace that would apply it
 * @throws EdgewiseError `stale-plan`, naming the manifests and states that changed since
 */
export function refuseStale(
  saved: SavedPlan,
  now: Plan,
  json: JsonObject,
  snapshots: { recorded: Snapshot; references: Snapshot },
  owner: PlanOwner,
): void {
  const isSame = ['changes', 'stays'].every((key) => isSameJson(saved.json[key], json[key]))
  const commit = now.basis.commit ?? now.basis.onTopOf ?? null
  refuseOtherBasis(saved, isSame, commit, snapshots, owner)
  if (!isSame) {
    const { held } = now.summary
    const cause =
      held === 0
        ? describeOtherSecrets(saved, now)
        : `: ${pluralize(held, 'change is', 'changes are')} on hold ` +
          'since a rollout was stopped or rolled back'
    const hintText =
      held === 0 ? remakeHint : `${remakeHint} --retry-held also applies changes that are on hold.`
    throw new EdgewiseError(
      'stale-plan',
      `the changes in the plan file differ from those of the workspace${cause}`,
      hintText,
    )
  }
  refuseOtherTraffic(saved, now)
  refuseOtherWrites(saved.json['writes'], json['writes'])
}

/** Refuses waves that rest on figures of traffic which are not stored any more. */
function refuseOtherTraffic({ traffic }: SavedPlan, { basis }: Plan): void {
  if (traffic === null || basis.traffic === undefined) return
  if (traffic.hash === basis.traffic.hash) return
  throw new EdgewiseError(
    'stale-plan',
    `the plan is stale: its waves rest on the traffic known at ${formatTime(traffic.at)}, ` +
      'which was counted again more than once since',
    remakeHint,
  )
}

/** Names the first change that differs in the values of its secrets only; empty without one. */
function describeOtherSecrets({ reviewed }: SavedPlan, now: Plan): string {
  const hide = (value: Value | null) => mapSecrets(value, () => '')
  const other = now.changes.find((change) => {
    const { before, after } = reviewed.get(nameChange(change)) ?? change
    const isReviewed = reviewed.has(nameChange(change))
    const base = isReviewed ? after : before
    return !isSameJson(base, change.after) && isSameJson(hide(base), hide(change.after))
  })
  return other === undefined
    ? ''
    : `: the value of a secret in ${other.item} of ${other.domain} changed, or is not available`
}

/**
 * Refuses the rest of a rollout if it has changes that are not in the plan file that started it.
 *
 * @param now the plan of the rest
 * @throws EdgewiseError `stale-plan`, naming the first change that is not in the file
 */
export function refuseUnreviewed(saved: SavedPlan, now: Plan): void {
  const other = now.changes.find(({ domain, item, action, after }) => {
    const change = saved.reviewed.get(nameChange({ domain, item }))
    if (change === undefined || !isSameJson(change.after, after)) return true
    return after === null && change.action !== action
  })
  if (other === undefined) return
  throw new EdgewiseError(
    'stale-plan',
    `the rest of the rollout would change ${other.item} of ${other.domain}, ` +
      'which is not a change of the plan file',
    remakeHint,
  )
}

/** Refuses writes that differ from the planner's: the file does not decide calls and waves. */
function refuseOtherWrites(saved: Json | undefined, now: Json | undefined): void {
  if (isSameJson(saved, now)) return
  const listed = toList(saved)
  const planned = toList(now)
  const first = planned.findIndex((write, i) => !isSameJson(write, listed[i]))
  const difference =
    first === -1
      ? `it has ${listed.length} writes instead of ${planned.length}`
      : `the first that differs is write ${first + 1}`
  throw new EdgewiseError(
    'stale-plan',
    `the writes in the plan file differ from those that the planner makes for its changes: ` +
      difference,
    'The file was altered, or "grouping", "rollout" or "limits" in edgewise.yaml changed. ' +
      remakeHint,
  )
}

/** Lists references of the secrets in changes. */
function listReferences(
  changes: PlanFile['changes'],
  find: (secret: string) => string | null,
): Set<string> {
  const secrets = listSecrets(changes.map(({ after }) => after))
  return new Set([...secrets].map(find).filter((reference) => reference !== null))
}

function hasSameMembers(expected: Domain[], got: Domain[]): boolean {
  const members = new Set(got)
  return members.size === expected.length && expected.every((domain) => members.has(domain))
}

function createUnusableError(reason: string): EdgewiseError {
  return new EdgewiseError('stale-plan', `the plan file can't be used: ${reason}`, remakeHint)
}

const remakeHint = 'Make a new plan with "edgewise plan --out FILE".'

/**
 * Refuses a plan file whose manifests or recorded state differ, or of another workspace.
 *
 * @param isSame whether the changes of the file are those of the workspace: then only its id or
 * address differs
 */
function refuseOtherBasis(
  saved: SavedPlan,
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
