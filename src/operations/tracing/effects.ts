import { groupEffects, type Effects, type GroupOptions } from '../../core/effects/group.ts'
import { hideRequests } from '../../core/effects/hide-request.ts'
import { createDomainFinder } from '../../core/effects/requests/find-domain.ts'
import type { RequestFile } from '../../core/effects/requests/parse-requests.ts'
import { compileSides, type Sides } from '../../core/effects/sides.ts'
import type { Change } from '../../core/model/change.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { groupBy, addUp } from '../../core/model/lists.ts'
import type { Candidates } from '../../core/trace/candidates.ts'
import type { Comparable, Configured, Desired, Secrets } from '../runtime/parts.ts'
import type { FoundDrift } from '../observation/find-drift.ts'
import {
  listCandidates,
  readChanged,
  readRecorded,
  settleReadings,
  type Assumptions,
} from './candidates.ts'
import type { ChangedSides } from '../../outlets/report/effects/pack-sides.ts'

/** Requests to compare, and how. */
export interface EffectsRequest extends Assumptions, Pick<GroupOptions, 'groupBy' | 'visitor'> {
  files: RequestFile[]
  /** Show the values of queries and the addresses of clients. */
  reveals?: boolean
}

/** Recorded items by domain. */
export type States = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>

/**
 * Compares what requests meet before and after changes: the recorded configuration, and the same
 * with the changes. Calls nothing.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function findEffects(
  workspace: Comparable,
  recorded: States,
  changes: readonly Change[],
  request: EffectsRequest,
): Effects {
  const byDomain = groupBy(changes, ({ domain }) => domain)
  const domains = [...recorded.keys(), ...workspace.desired.keys()]
  return compareAll(workspace, domains, request, (domain) => {
    const before = readRecorded(recorded.get(domain) ?? new Map())
    const after = applyChanges(before, byDomain.get(domain) ?? [], workspace)
    return { before, after }
  })
}

/**
 * Compares what requests meet by what is recorded, and by what was found at the service where that
 * differs.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function findLiveEffects(
  workspace: Configured & Desired,
  recorded: States,
  { drift, observed }: Pick<FoundDrift, 'drift' | 'observed'>,
  request: EffectsRequest,
): Effects {
  const live = drift.items.filter(({ kinds }) => kinds.includes('live'))
  const byDomain = groupBy(live, ({ domain }) => domain)
  return compareAll(workspace, [...recorded.keys()], request, (domain) => {
    const before = readRecorded(recorded.get(domain) ?? new Map())
    const after = new Map(before)
    for (const { item } of byDomain.get(domain) ?? []) {
      const found = observed.get(domain)?.get(item)
      after.set(item, found === undefined ? [null] : listCandidates(item, found.state))
    }
    return { before, after }
  })
}

/** Compares requests; reads the candidates of a domain when a request asks for it first. */
function compareAll(
  workspace: Configured,
  domains: Domain[],
  request: EffectsRequest,
  read: (domain: Domain) => { before: Candidates; after: Candidates },
): Effects {
  const settings = settleReadings(workspace, request)
  const find = createDomainFinder(domains)
  const compiled = new Map<Domain, Sides>()
  const findSides = (host: string): Sides | null => {
    const domain = find(host)
    if (domain === null) return null
    const known = compiled.get(domain)
    if (known !== undefined) return known
    const { before, after } = read(domain)
    const sides = compileSides(domain, before, after, settings)
    compiled.set(domain, sides)
    return sides
  }
  const requests = request.files.flatMap((file) => file.requests)
  const effects = groupEffects(requests, findSides, {
    groupBy: request.groupBy ?? 'answers',
    visitor: request.visitor ?? 'usual',
    skipped: addUp(request.files, ({ skipped }) => skipped),
  })
  return request.reveals === true ? effects : hideRequests(effects)
}

/** The candidates after changes; a released item keeps its own. */
function applyChanges(
  before: Candidates,
  changes: readonly Change[],
  secrets: Secrets,
): Candidates {
  const after = new Map(before)
  for (const change of changes)
    if (change.action !== 'release') after.set(change.item, readChanged(change, secrets))
  return after
}

/**
 * Lists the configurations of the domains that a plan changes, before and after it, as
 * `findEffects` compares them; secrets are only their names.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function listChangedSides(
  workspace: Comparable,
  recorded: States,
  changes: readonly Change[],
  assumptions: Assumptions,
): ChangedSides {
  const { desired } = workspace
  const domains = [...groupBy(changes, ({ domain }) => domain)].map(([domain, own]) => ({
    domain,
    read: () => {
      const before = readRecorded(recorded.get(domain) ?? new Map())
      return { before, after: applyChanges(before, own, workspace) }
    },
  }))
  return {
    domains,
    known: new Set([...recorded.keys(), ...desired.keys()]),
    settings: settleReadings(workspace, assumptions),
  }
}
