import type { Settings, Desired, Computing, StateOutside } from './runtime/parts.ts'
import type { Effects } from '../core/effects/group.ts'
import type { EffectsRequest } from './tracing/effects.ts'
import type { Drift } from '../core/model/drift.ts'
import type { Domain, ItemKey } from '../core/model/item.ts'
import { isObject, type Json } from '../core/model/json.ts'
import { getRoot, inSpan } from '../core/model/telemetry.ts'
import { listSome } from '../core/model/text/words.ts'
import { narrowSnapshot, type Selection } from '../core/plan/selection.ts'
import type { RecordedState } from '../state/store/store.ts'
import {
  findDrift,
  narrowDrift,
  type FoundDrift,
  refuseUnobserved,
} from './observation/find-drift.ts'
import type { LoadedWorkspace } from './runtime/load-workspace.ts'
import { loadState } from './runtime/open-state.ts'
import { refuseEmpty, refuseInvalid } from './runtime/refuse-invalid.ts'
import { describeOwners } from './submission/refuse-owned-elsewhere.ts'
import type { Managed } from './observation/observe-live.ts'
import type { Maker } from '../manifest/secrets/secret-vault.ts'
import { select, type SelectionRequest } from './submission/select.ts'

/** Options of a drift check; a selection restricts it. */
export interface DriftRequest extends SelectionRequest {
  /**
   * Observes the configuration of the selected items, `{domain: {item: payload}}`; absent if it is
   * not observed.
   */
  observe?: (managed: Managed) => Promise<Json>
  /** Who made what `observe` returns; absent: others, such as the service or a program. */
  maker?: Maker
  /** Reports domains missing from the observation; all were asked for. */
  observesAll?: boolean
  /** Requests that are compared by what is recorded and by what was observed. */
  effects?: EffectsRequest | null
}

/** Drift, and what it does to requests; null unless asked for and observed. */
export interface DriftAndEffects extends FoundDrift {
  effects: Effects | null
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
  outside: StateOutside,
): Promise<DriftAndEffects> {
  refuseEmpty(workspace)
  const { store, recorded } = await loadState(workspace, outside, true)
  refuseInvalid(workspace)
  const selection = select(request, workspace, recorded)
  const observed = await observe(request, { workspace, recorded, selection }, outside)
  outside.onPhase?.({ name: 'comparing', total: workspace.desired.size })
  const found = narrowDrift(
    findDrift(workspace, recorded, observed, await store.listRollouts()),
    selection,
  )
  getRoot()?.setAttributes({ 'edgewise.items': found.drift.items.length })
  if (observed !== null) refuseUnobserved(found, workspace)
  const { unanswered = [] } = found.drift
  const unread =
    observed === null
      ? 0
      : countUnread(found.drift, (name) => found.observed.has(name) || unanswered.includes(name))
  const owners = await store.findOwners([...narrowSnapshot(workspace.desired, selection).keys()])
  const { effects = null } = request
  return {
    ...found,
    drift: { ...found.drift, unread },
    notes: [...found.notes, ...describeOwners(owners)],
    effects:
      effects === null || observed === null
        ? null
        : (await import('./tracing/effects.ts')).findLiveEffects(
            workspace,
            recorded,
            found,
            effects,
          ),
  }
}

/** Counts the domains with items of which nothing was read. */
export function countUnread({ items }: Pick<Drift, 'items'>, isRead: (name: Domain) => boolean) {
  return new Set(items.flatMap(({ domain }) => (isRead(domain) ? [] : [domain]))).size
}

/** What a request says about the observation. */
export type Observing = Pick<DriftRequest, 'observe' | 'maker' | 'observesAll'>

/** An observed configuration, and notes about it. */
export interface Observation {
  data: Json
  maker: Maker
  notes: string[]
  /** Domains that were asked for and that it lacks. */
  missing: Domain[]
}

/** Observes the managed items of a selection as a request demands; null if it does not. */
export async function observe(
  { observe: load, maker = 'foreign', observesAll = false }: Observing,
  about: { workspace: Settings & Desired; recorded: RecordedState; selection: Selection },
  { onPhase }: Computing,
): Promise<Observation | null> {
  if (load === undefined) return null
  onPhase?.({ name: 'loading-observed' })
  const managed = listManaged(about)
  const data = await inSpan('load observed', () => load(managed))
  const missing = observesAll
    ? [...managed.keys()].filter((domain) => !isObject(data) || !Object.hasOwn(data, domain))
    : []
  const note = `The service has no configuration of ${listSome(missing)}: not compared.`
  return { data, maker, missing, notes: missing.length > 0 ? [note] : [] }
}

function listManaged({
  workspace,
  recorded,
  selection,
}: {
  workspace: Settings & Desired
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
