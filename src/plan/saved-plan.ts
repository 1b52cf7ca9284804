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
 * A parsed plan file. It is data, not authority: it selects the domains, the items and the effort
 * of a new plan, which has to be equal. Nothing else of it is used.
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

const remakeHint = 'Make a new plan with "edgewise plan --out FILE".'

/**
 * Parses a plan file.
 *
 * @throws EdgewiseError `stale-plan` if it is not a plan, or is of another planner version
 */
export function parseSavedPlan(data: Json | undefined): SavedPlan {
  if (data === undefined || !isObject(data)) throw createUnusableError('it is not JSON')
  if (data['format'] !== 'edgewise.plan/1')
    throw createUnusableError('expected the format edgewise.plan/1')
  const { changes, writes, basis, planner } = data
  if (!Array.isArray(changes) || !Array.isArray(writes) || !isObject(basis))
    throw createUnusableError('"changes", "writes" or "basis" is missing')
  const effort = parsePlanner(planner)
  const desired = parseHashes(basis['desired'], 'desired')
  const recorded = parseHashes(basis['recorded'], 'recorded')
  const domains = Object.keys(desired)
  const changed = changes.map((change) => (isObject(change) ? change['domain'] : undefined))
  if (!hasSameMembers(domains, changed) || !hasSameMembers(domains, Object.keys(recorded)))
    throw createUnusableError('"basis" has other domains than "changes"')
  // Only its own domains: a merge or an apply of other domains does not make a plan stale.
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
 * Refuses a saved plan that differs from the plan which the workspace gives now.
 *
 * @param now the plan of the same selection, made with the same effort
 * @param json the same plan in the form of a plan file
 * @param snapshots recorded and desired state of the saved plan's domains now
 * @throws EdgewiseError `stale-plan`, naming the manifests and states that changed since
 */
export function refuseStale(
  saved: SavedPlan,
  now: Plan,
  json: JsonObject,
  { recorded, desired }: { recorded: Snapshot; desired: Snapshot },
): void {
  const manifests = listChangedDomains(saved.desired, desired)
  const states = listChangedDomains(saved.recorded, recorded)
  if (manifests.length + states.length > 0) {
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
  if (!isSameJson(saved.changes, json['changes'])) {
    const { held } = now.summary
    const cause =
      held === 0
        ? ''
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
  refuseOtherWrites(saved.writes, json['writes'])
}

/**
 * Refuses the rest of a rollout if it has changes that are not in the plan file that started it.
 *
 * @param now the plan of the rest
 * @throws EdgewiseError `stale-plan`, naming the first change that is not in the file
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
    `the rest of the rollout would change ${other.item} of ${other.domain}, ` +
      'which is not a change of the plan file',
    remakeHint,
  )
}

/** Refuses writes that differ from the planner's: the file does not decide calls and waves. */
function refuseOtherWrites(saved: Json[], now: Json | undefined): void {
  if (isSameJson(saved, now)) return
  const planned = Array.isArray(now) ? now : []
  const first = planned.findIndex((write, i) => !isSameJson(write, saved[i]))
  const difference =
    first === -1
      ? `it has ${saved.length} writes instead of ${planned.length}`
      : `the first that differs is write ${first + 1}`
  throw new EdgewiseError(
    'stale-plan',
    `the writes in the plan file differ from those that the planner makes for its changes: ` +
      difference,
    'The file was altered, or "grouping", "rollout" or "limits" in edgewise.yaml changed. ' +
      remakeHint,
  )
}

function hasSameMembers(expected: Domain[], got: (Json | undefined)[]): boolean {
  const members = new Set(got)
  return members.size === expected.length && expected.every((domain) => members.has(domain))
}

function parsePlanner(planner: Json | undefined): Effort {
  if (planner === undefined || !isObject(planner))
    throw createUnusableError('it has no "planner"; an older edgewise made it')
  const { version } = planner
  if (version !== plannerVersion) {
    const label = typeof version === 'number' ? `version ${version}` : 'another version'
    throw createUnusableError(
      `it was made by ${label} of the planner, this is version ${plannerVersion}`,
    )
  }
  const effort = efforts.find((each) => each === planner['effort'])
  if (effort === undefined)
    throw createUnusableError(`expected "planner.effort" to be one of ${efforts.join(', ')}`)
  return effort
}

function parseHashes(value: Json | undefined, name: string): Record<Domain, string> {
  const entries = value !== undefined && isObject(value) ? Object.entries(value) : null
  const hashed = (entries ?? []).filter(
    (entry): entry is [Domain, string] => isDomain(entry[0]) && typeof entry[1] === 'string',
  )
  if (entries === null || hashed.length !== entries.length)
    throw createUnusableError(`expected "basis.${name}" to have a hash for each domain`)
  return Object.fromEntries(hashed)
}

function parseItems(value: Json | undefined): string[] {
  const items = value === undefined ? [] : Array.isArray(value) ? value : [null]
  const known = items.filter(
    (item): item is string => typeof item === 'string' && catalogue.has(item),
  )
  if (known.length !== items.length)
    throw createUnusableError('expected "basis.items" to be a list of items')
  return known
}

function createUnusableError(changed: string): EdgewiseError {
  return new EdgewiseError('stale-plan', `the plan file can't be used: ${changed}`, remakeHint)
}

function listChangedDomains(before: Record<Domain, string>, snapshot: Snapshot): Domain[] {
  const domains = Object.keys(before)
  const now = hashDomains(snapshot, domains)
  return domains.filter((domain) => before[domain] !== now[domain]).toSorted()
}
