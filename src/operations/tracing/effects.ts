import { groupEffects, type Effects, type GroupOptions } from '../../core/effects/group.ts'
import { hideRequests } from '../../core/effects/hide-request.ts'
import { createDomainFinder } from '../../core/effects/requests/find-domain.ts'
import type { RequestFile } from '../../core/effects/requests/parse-requests.ts'
import { compileSides, type Sides } from '../../core/effects/sides.ts'
import type { Change } from '../../core/model/change.ts'
import type { Domain, ItemKey, ItemState } from '../../core/model/item.ts'
import { groupBy } from '../../core/model/lists.ts'
import type { Candidates } from '../../core/trace/evaluation.ts'
import type { Configured, Desired } from '../runtime/workspace-parts.ts'
import { readDesired, readRecorded } from './candidates.ts'
import { settleReadings, type Assumptions } from './readings.ts'

/** Requests to compare, and how. */
export interface EffectsRequest extends Assumptions, Pick<GroupOptions, 'groupBy'> {
  files: RequestFile[]
  /** Show the values of queries and the addresses of clients. */
  reveals?: boolean
}

type States = ReadonlyMap<Domain, ReadonlyMap<ItemKey, ItemState>>

/**
 * Compares what requests meet before and after the changes of a plan: the recorded configuration,
 * and the same with what is planned. Calls nothing.
 *
 * @throws EdgewiseError `usage` for a bad reading
 */
export function findEffects(
  workspace: Configured & Desired,
  recorded: States,
  changes: readonly Change[],
  request: EffectsRequest,
): Effects {
  const settings = settleReadings(workspace, request)
  const byDomain = groupBy(changes, ({ domain }) => domain)
  const find = createDomainFinder([...recorded.keys(), ...workspace.desired.keys()])
  const compiled = new Map<Domain, Sides>()
  const findSides = (host: string): Sides | null => {
    const domain = find(host)
    if (domain === null) return null
    const known = compiled.get(domain)
    if (known !== undefined) return known
    const before = readRecorded(recorded.get(domain) ?? new Map())
    const after = applyChanges(before, byDomain.get(domain) ?? [], workspace.desired.get(domain))
    const sides = compileSides(domain, before, after, settings)
    compiled.set(domain, sides)
    return sides
  }
  const effects = groupEffects(
    request.files.flatMap(({ requests }) => requests),
    findSides,
    {
      groupBy: request.groupBy ?? 'answers',
      skipped: request.files.reduce((sum, { skipped }) => sum + skipped, 0),
    },
  )
  return request.reveals === true ? effects : hideRequests(effects)
}

/** The candidates after changes; a released item keeps its own. */
function applyChanges(
  before: Candidates,
  changes: readonly Change[],
  desired: ReadonlyMap<ItemKey, ItemState> = new Map(),
): Candidates {
  const wanted = readDesired(desired)
  const after = new Map(before)
  for (const { item, action } of changes)
    if (action !== 'release') after.set(item, wanted.get(item) ?? [null])
  return after
}
