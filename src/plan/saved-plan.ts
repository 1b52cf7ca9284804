import { catalogue } from '../catalog/catalogue.ts'
import { isDomain } from '../catalog/value/formats.ts'
import type { PlanFile } from '../generated/state-types.ts'
import { planFile } from '../generated/state-validators.ts'
import { isSameJson } from '../model/canonical-json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { Effort, Plan } from '../model/plan.ts'
import { checkStored } from '../model/stored-file.ts'
import { pluralize, listSome } from '../model/words.ts'
import { hashDomains } from './basis.ts'
import { plannerVersion } from './make-plan.ts'
import type { Selection } from './selection.ts'

/**
 * A plan file. It is data, not authority: it chooses the domains, the items and the effort of a new
 * plan, which has to come out equal. Nothing else of it is used.
 */
export interface SavedPlan {
  selection: Selection
  effort: Effort
  /** Hashes by domain. */
  desired: Record<Domain, string>
  recorded: Record<Domain, string>
  /** The changes by domain and item. */
  reviewed: ReadonlyMap<string, PlanFile['changes'][number]>
  /** What has to come out equal, with every key that the file has. */
  changes: Json | undefined
  writes: Json | undefined
}

const again = 'Make a new one with "edgewise plan --out FILE".'

/**
 * Checks the content of a plan file.
 *
 * @param data undefined when the file is no JSON
 * @throws EdgewiseError `stale-plan` when it is not a plan, or one of another planner
 */
export function parseSavedPlan(data: Json | undefined): SavedPlan {
  const checked = checkStored(data, planFile)
  if ('fault' in checked) throw unusable(checked.fault)
  const { changes, basis, planner } = checked.value
  if (planner.version !== plannerVersion)
    throw unusable(
      `version ${planner.version} of the planner made it, this is version ${plannerVersion}`,
    )
  const { desired, recorded, items = [] } = basis
  const foreign = [...Object.keys(desired), ...Object.keys(recorded)].find((key) => !isDomain(key))
  if (foreign !== undefined) throw unusable(`"basis" has "${foreign}", which is not a domain`)
  const unknown = items.find((item) => !catalogue.has(item))
  if (unknown !== undefined) throw unusable(`at /basis/items: there is no item "${unknown}"`)
  const domains = Object.keys(desired)
  const changed = changes.map(({ domain }) => domain)
  if (!sameMembers(domains, changed) || !sameMembers(domains, Object.keys(recorded)))
    throw unusable('"basis" has other domains than "changes"')
  const reviewed = new Map(changes.map((change) => [formatChangeName(change), change]))
  if (reviewed.size < changes.length) throw unusable('"changes" has an item of a domain twice')
  // Only its own domains: what others merge or apply elsewhere doesn't make it stale.
  return {
    selection: { target: domains, items },
    effort: planner.effort,
    desired,
    recorded,
    reviewed,
    changes: checked.json['changes'],
    writes: checked.json['writes'],
  }
}

/**
 * Refuses a saved plan that is not the plan which the workspace gives now.
 *
 * @param now the plan of the same selection, made with the same effort
 * @param json the same, in the form of a plan file
 * @param snapshots what is recorded and desired now of the saved plan's domains
 * @throws EdgewiseError `stale-plan`, naming what changed since
 */
export function refuseStale(
  saved: SavedPlan,
  now: Plan,
  json: JsonObject,
  { recorded, desired }: { recorded: Snapshot; desired: Snapshot },
): void {
  const manifests = changedSince(saved.desired, desired)
  const records = changedSince(saved.recorded, recorded)
  if (manifests.length + records.length > 0) {
    const what = [
      ...(manifests.length === 0 ? [] : [`the manifests of ${listSome(manifests)}`]),
      ...(records.length === 0 ? [] : [`the record of ${listSome(records)}`]),
    ]
    throw new EdgewiseError(
      'stale-plan',
      `the plan is stale: ${what.join(' and ')} changed since it was made`,
      again,
    )
  }
  if (!isSameJson(saved.changes, json['changes'])) {
    const { held } = now.summary
    const why =
      held === 0
        ? ''
        : `: ${pluralize(held, 'change is', 'changes are')} held since a rollout was stopped or taken back`
    const hint = held === 0 ? again : `${again} --retry-held applies what is held as well.`
    throw new EdgewiseError(
      'stale-plan',
      `the plan file lists other changes than the workspace asks for${why}`,
      hint,
    )
  }
  refuseOtherWrites(saved.writes, json['writes'])
}

/**
 * Refuses the rest of a rollout that has changes which are not in the file it began with.
 *
 * @param now the plan of what is left
 * @throws EdgewiseError `stale-plan`, with the first change that nobody reviewed
 */
export function refuseUnreviewed(saved: SavedPlan, now: Plan): void {
  const other = now.changes.find(({ domain, item, action, after }) => {
    const change = saved.reviewed.get(formatChangeName({ domain, item }))
    if (change === undefined || !isSameJson(change.after, after)) return true
    return after === null && change.action !== action
  })
  if (other === undefined) return
  throw new EdgewiseError(
    'stale-plan',
    `the rest of the rollout would change ${other.item} of ${other.domain}, which the plan file does not`,
    again,
  )
}

/**
 * Which calls carry the changes out, and in which waves, is for the planner to say, not for the
 * file.
 */
function refuseOtherWrites(saved: Json | undefined, now: Json | undefined): void {
  if (isSameJson(saved, now)) return
  const listed = Array.isArray(saved) ? saved : []
  const planned = Array.isArray(now) ? now : []
  const first = planned.findIndex((write, i) => !isSameJson(write, listed[i]))
  const where =
    first === -1
      ? `it has ${listed.length} writes instead of ${planned.length}`
      : `the first that differs is write ${first + 1}`
  throw new EdgewiseError(
    'stale-plan',
    `the writes in the plan file are not the ones that the planner makes for its changes: ${where}`,
    `The file was altered, or "grouping", "rollout" or "limits" in edgewise.yaml changed. ${again}`,
  )
}

function sameMembers(expected: Domain[], got: Domain[]): boolean {
  const members = new Set(got)
  return members.size === expected.length && expected.every((domain) => members.has(domain))
}

function formatChangeName({ domain, item }: { domain: Domain; item: ItemKey }): string {
  return `${domain} ${item}`
}

function unusable(what: string): EdgewiseError {
  return new EdgewiseError('stale-plan', `the plan file can't be used: ${what}`, again)
}

function changedSince(before: Record<Domain, string>, snapshot: Snapshot): Domain[] {
  const domains = Object.keys(before)
  const now = hashDomains(snapshot, domains)
  return domains.filter((domain) => before[domain] !== now[domain]).toSorted()
}
