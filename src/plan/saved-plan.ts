import { catalogue } from '../catalog/catalogue.ts'
import { isDomain } from '../catalog/value/formats.ts'
import { isSameJson } from '../model/canonical-json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, Snapshot } from '../model/item.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { efforts, type Effort, type Plan } from '../model/plan.ts'
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
  changes: Json[]
  writes: Json[]
}

const again = 'Make a new one with "edgewise plan --out FILE".'

/**
 * Parses a plan file.
 *
 * @throws EdgewiseError `stale-plan` when it is not a plan, or one of another planner
 */
export function parseSavedPlan(data: Json | undefined): SavedPlan {
  if (data === undefined || !isObject(data)) throw unusable('it is not JSON')
  if (data['format'] !== 'edgewise.plan/1') throw unusable('expected the format edgewise.plan/1')
  const { changes, writes, basis, planner } = data
  if (!Array.isArray(changes) || !Array.isArray(writes) || !isObject(basis))
    throw unusable('"changes", "writes" or "basis" is missing')
  const effort = parsePlanner(planner)
  const desired = parseHashes(basis['desired'], 'desired')
  const recorded = parseHashes(basis['recorded'], 'recorded')
  const domains = Object.keys(desired)
  const changed = changes.map((change) => (isObject(change) ? change['domain'] : undefined))
  if (!sameMembers(domains, changed) || !sameMembers(domains, Object.keys(recorded)))
    throw unusable('"basis" has other domains than "changes"')
  // Only its own domains: what others merge or apply elsewhere doesn't make it stale.
  return {
    selection: { target: domains, items: parseItems(basis['items']) },
    effort,
    desired,
    recorded,
    changes,
    writes,
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
  const reviewed = new Map(
    saved.changes
      .filter(isObject)
      .map((change) => [`${String(change['domain'])} ${String(change['item'])}`, change]),
  )
  const other = now.changes.find(({ domain, item, action, after }) => {
    const change = reviewed.get(`${domain} ${item}`)
    if (change === undefined || !isSameJson(change['after'], after)) return true
    return after === null && change['action'] !== action
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
function refuseOtherWrites(saved: Json[], now: Json | undefined): void {
  if (isSameJson(saved, now)) return
  const planned = Array.isArray(now) ? now : []
  const first = planned.findIndex((write, i) => !isSameJson(write, saved[i]))
  const where =
    first === -1
      ? `it has ${saved.length} writes instead of ${planned.length}`
      : `the first that differs is write ${first + 1}`
  throw new EdgewiseError(
    'stale-plan',
    `the writes in the plan file are not the ones that the planner makes for its changes: ${where}`,
    `The file was altered, or "grouping", "rollout" or "limits" in edgewise.yaml changed. ${again}`,
  )
}

function sameMembers(expected: Domain[], got: (Json | undefined)[]): boolean {
  const members = new Set(got)
  return members.size === expected.length && expected.every((domain) => members.has(domain))
}

function parsePlanner(planner: Json | undefined): Effort {
  if (planner === undefined || !isObject(planner))
    throw unusable('it names no "planner"; an older edgewise made it')
  const { version } = planner
  if (version !== plannerVersion) {
    const made = typeof version === 'number' ? `version ${version}` : 'another version'
    throw unusable(`${made} of the planner made it, this is version ${plannerVersion}`)
  }
  const effort = efforts.find((each) => each === planner['effort'])
  if (effort === undefined)
    throw unusable(`expected "planner.effort" to be one of ${efforts.join(', ')}`)
  return effort
}

function parseHashes(value: Json | undefined, name: string): Record<Domain, string> {
  const entries = value !== undefined && isObject(value) ? Object.entries(value) : null
  const hashed = (entries ?? []).filter(
    (entry): entry is [Domain, string] => isDomain(entry[0]) && typeof entry[1] === 'string',
  )
  if (entries === null || hashed.length !== entries.length)
    throw unusable(`expected "basis.${name}" to have a hash for each domain`)
  return Object.fromEntries(hashed)
}

function parseItems(value: Json | undefined): string[] {
  const items = value === undefined ? [] : Array.isArray(value) ? value : [null]
  const known = items.filter(
    (item): item is string => typeof item === 'string' && catalogue.has(item),
  )
  if (known.length !== items.length) throw unusable('expected "basis.items" to be a list of items')
  return known
}

function unusable(what: string): EdgewiseError {
  return new EdgewiseError('stale-plan', `the plan file can't be used: ${what}`, again)
}

function changedSince(before: Record<Domain, string>, snapshot: Snapshot): Domain[] {
  const domains = Object.keys(before)
  const now = hashDomains(snapshot, domains)
  return domains.filter((domain) => before[domain] !== now[domain]).toSorted()
}
