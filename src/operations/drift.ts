import type { Drift } from '../model/drift.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { inSpan } from '../model/tracing.ts'
import { listSome } from '../model/words.ts'
import { narrowSnapshot, type Selection } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'
import { findDrift, narrowDrift, refuseInvalid, type FoundDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { loadState } from './open-state.ts'
import { refuseEmpty } from './refuse-empty.ts'
import { describeOwners } from './refuse-owned-elsewhere.ts'
import type { Managed } from './observe-live.ts'
import type { Outside } from './outside.ts'
import { refuseUnobserved } from './refuse-unobserved.ts'
import { select, type SelectionRequest } from './select.ts'

/** Options of a drift check; a selection restricts it. */
export interface DriftRequest extends SelectionRequest {
  /**
   * Observes the configuration of the selected items, `{domain: {item: payload}}`; absent if it is
   * not observed.
   */
  observe?: (managed: Managed) => Promise<Json>
  /** Whether a domain that the observation lacks is noted: it was asked for. */
  observesAll?: boolean
}

/**
 * Compares desired, recorded and observed state. Records nothing.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when a part of the
 * selection matches nothing, `not-observed` when the observed configuration has the wrong shape or
 * none of the compared items
 */
export async function drift(
  workspace: LoadedWorkspace,
  request: DriftRequest,
  outside: Outside,
): Promise<FoundDrift> {
  refuseEmpty(workspace)
  const { store, recorded } = await loadState(workspace, outside, null, true)
  refuseInvalid(workspace)
  const selection = select(request, workspace, recorded)
  const observed = await observe(request, { workspace, recorded, selection }, outside)
  outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
  const found = narrowDrift(
    findDrift(workspace, recorded, observed, await store.listRollouts()),
    selection,
  )
  outside.tracer?.root().set({ 'edgewise.items': found.drift.items.length })
  if (observed !== null) refuseUnobserved(found, workspace)
  const unanswered = observed?.missing ?? []
  const unread =
    observed === null
      ? 0
      : countUnread(found.drift, (name) => found.observed.has(name) || unanswered.includes(name))
  const all = {
    ...found.drift,
    ...(unanswered.length === 0 ? {} : { unanswered }),
    ...(unread === 0 ? {} : { unread }),
  }
  const owners = await store.findOwners([...narrowSnapshot(workspace.desired, selection).keys()])
  return { ...found, drift: all, notes: [...found.notes, ...describeOwners(owners)] }
}

/** Counts the domains with items of which nothing was read. */
export function countUnread({ items }: Pick<Drift, 'items'>, isRead: (name: Domain) => boolean) {
  return new Set(items.flatMap(({ domain }) => (isRead(domain) ? [] : [domain]))).size
}

/** An observed configuration, and notes about it. */
export interface Observation {
  data: Json
  notes: string[]
  /** Domains that were asked for and that it lacks. */
  missing: Domain[]
}

/** Observes the managed items of a selection as a request demands; null if it does not. */
export async function observe(
  { observe: load, observesAll = false }: Pick<DriftRequest, 'observe' | 'observesAll'>,
  about: { workspace: LoadedWorkspace; recorded: RecordedState; selection: Selection },
  { onPhase, tracer }: Pick<Outside, 'onPhase' | 'tracer'>,
): Promise<Observation | null> {
  if (load === undefined) return null
  onPhase?.({ name: 'loading-observed' })
  const managed = listManaged(about)
  const data = await inSpan(tracer, 'load observed', () => load(managed))
  const missing = observesAll
    ? [...managed.keys()].filter((domain) => !isObject(data) || !Object.hasOwn(data, domain))
    : []
  const note = `The service has no configuration of ${listSome(missing)}: not compared.`
  return { data, missing, notes: missing.length > 0 ? [note] : [] }
}

function listManaged({
  workspace,
  recorded,
  selection,
}: {
  workspace: LoadedWorkspace
  recorded: RecordedState
  selection: Selection
}): Managed {
  const managed = new Map<Domain, Set<ItemKey>>()
  for (const snapshot of [workspace.desired, recorded])
    for (const [domain, items] of narrowSnapshot<unknown>(snapshot, selection))
      if (items.size > 0)
        managed.set(domain, new Set([...(managed.get(domain) ?? []), ...items.keys()]))
  return managed
}
