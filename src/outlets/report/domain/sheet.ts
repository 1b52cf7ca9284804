import { catalogue } from '../../../core/catalog/catalogue.ts'
import { pickKeptFields } from '../../../core/catalog/item-spec.ts'
import { nameAuthor, type Applied } from '../../../core/model/applied.ts'
import type { Change } from '../../../core/model/change.ts'
import type { Drift, DriftItem } from '../../../core/model/drift.ts'
import type { Domain, ItemKey, ItemState, Value } from '../../../core/model/item.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import type { Place } from '../../../core/model/problem.ts'
import { findReference, mapSecrets } from '../../../core/model/secret.ts'

/**
 * What is known of an item at the service.
 * - `verified`: it was observed as recorded; `assumed`: it was confirmed once
 * - `in-doubt`: it may have one of several values; `differs`: it was observed otherwise
 * - `on-hold`: its change was stopped or rolled back; `never-applied`: nothing is recorded
 */
export const conditions = [
  'in-doubt',
  'differs',
  'on-hold',
  'never-applied',
  'assumed',
  'verified',
] as const
/** Condition of an item, the most urgent first. */
export type Condition = (typeof conditions)[number]

/** Where a field of an item comes from. */
export interface FieldSource {
  field: string
  /** In a manifest, a profile or the workspace file; null: the default of the service. */
  place: Place | null
}

/** The last write or import of an item. */
export interface LastChange {
  /** Id of the apply or the import. */
  apply: string
  origin: 'write' | 'import'
  /** ISO 8601. */
  at: string
  /** Null if they are not known. */
  commit: string | null
  author: string | null
}

/** A recorded item; `differs`: a read after its write found another value. */
export type KnownItem = ItemState & Pick<LastChange, 'apply' | 'origin' | 'at'> & { differs?: true }

/** One item of a domain: what is desired, recorded and observed. */
export interface SheetItem {
  item: ItemKey
  /** Desired value, in the order of the manifest; null if it has none. */
  value: Value | null
  /** Recorded fields that the value lacks, and that the service keeps. */
  kept: JsonObject
  /** The manifest asks for no value: `$unset`. */
  isUnset: boolean
  /** Absent in the manifest: the next apply releases it. */
  isReleased: boolean
  condition: Condition
  changed: LastChange | null
  /** Recorded values: several if it is in-doubt. */
  candidates: Value[]
  /** The recorded item; null if nothing is recorded. */
  recorded: KnownItem | null
  /** From recorded to desired, and from recorded to observed; null for no difference. */
  pending: Change | null
  live: Change | null
  /** When a drift check found the difference at the service first, ISO 8601; null if unknown. */
  since: string | null
  /** Since when, by which rollout and why it is on hold; null if it is not. */
  hold: string | null
  /** Text with which the service refused the pending change; null if it did not. */
  refused: string | null
  /** Why the observed value can't be read, and why its difference is ignored. */
  unreadable: string | null
  ignored: string | null
  /** Sources of the fields of the desired value. */
  sources: FieldSource[]
}

/** All that is known of a domain. */
export interface DomainSheet {
  domain: Domain
  /** Where a manifest declares it; null if none does. */
  place: Place | null
  profiles: string[]
  /** Groups and users that own it. */
  owners: string[]
  /** As of when and why only recorded values are shown, and no manifests; null if all is shown. */
  recordedOnly: string | null
  /** Sorted by name. */
  items: SheetItem[]
}

/** What a sheet is made of. */
export interface SheetParts {
  domain: Domain
  place: Place | null
  profiles: string[]
  owners: string[]
  desired: ReadonlyMap<ItemKey, ItemState>
  recorded: ReadonlyMap<ItemKey, KnownItem>
  recordedOnly: string | null
  /** Drift of this domain, at least. */
  drift: Pick<Drift, 'items' | 'pending' | 'live'>
  /** Finds an apply that recorded an item. */
  findApply(id: string): Applied | undefined
  /** Finds the text with which the service refused an item after a time; null if it did not. */
  findRefusal(domain: Domain, item: ItemKey, since: string): string | null
  /** Lists the sources of the fields of a desired item. */
  listSources(item: ItemKey, state: ItemState): FieldSource[]
}

/** Builds the sheet of a domain. */
export function buildSheet(parts: SheetParts): DomainSheet {
  const { domain, place, profiles, owners, recordedOnly, desired, recorded, drift } = parts
  const index = <T extends { domain: Domain; item: ItemKey }>(all: T[]) =>
    new Map(all.flatMap((each) => (each.domain === domain ? [[each.item, each] as const] : [])))
  const [drifted, pending, live] = [index(drift.items), index(drift.pending), index(drift.live)]
  const names = [...new Set([...desired.keys(), ...recorded.keys()])].toSorted()
  const items = names.map((item): SheetItem => {
    const [state, known, found] = [desired.get(item), recorded.get(item), drifted.get(item)]
    return {
      item,
      value: state?.ordered ?? state?.candidates[0] ?? null,
      kept: pickKeptFields(
        catalogue.get(item)?.keptFields ?? [],
        state?.candidates[0],
        known?.status === 'confirmed' ? known.candidates[0] : undefined,
      ),
      isUnset: state?.status === 'unset',
      isReleased: state === undefined && recordedOnly === null,
      condition: rateItem(known, found),
      changed: known === undefined ? null : describeChange(known, parts),
      candidates: known?.candidates ?? [],
      recorded: known ?? null,
      pending:
        recordedOnly === null ? (pending.get(item) ?? describeHeld(state, known, found)) : null,
      live: live.get(item) ?? null,
      since: found?.since ?? null,
      hold: found?.hold ?? null,
      refused:
        recordedOnly === null && pending.has(item)
          ? parts.findRefusal(parts.domain, item, known?.at ?? '')
          : null,
      unreadable: found?.unreadable?.reason ?? null,
      ignored: found?.ignored ?? null,
      sources: state === undefined ? [] : parts.listSources(item, state),
    }
  })
  return { domain, place, profiles, owners, recordedOnly, items }
}

function rateItem(known: KnownItem | undefined, drifted: DriftItem | undefined): Condition {
  if (known === undefined) return drifted?.held === true ? 'on-hold' : 'never-applied'
  if (known.status === 'in-doubt') return 'in-doubt'
  const isLive = drifted?.kinds.includes('live') === true
  if (known.differs === true || isLive) return 'differs'
  if (drifted?.held === true) return 'on-hold'
  const isSame = drifted?.confidence === 'verified' && drifted.ignored === undefined
  return isSame ? 'verified' : 'assumed'
}

/** Describes the change of an item on hold, which is not pending; null for others. */
function describeHeld(
  state: ItemState | undefined,
  known: ItemState | undefined,
  found: DriftItem | undefined,
): Change | null {
  if (found?.held !== true) return null
  const [before = null, after = null] = [known?.candidates[0], state?.candidates[0]]
  const { domain, item, pending: patch } = found
  const action = after === null ? 'unset' : before === null ? 'set' : 'change'
  return { domain, item, action, reason: 'differs', before, after, patch }
}

function describeChange(
  { apply, origin, at }: Pick<LastChange, 'apply' | 'origin' | 'at'>,
  { findApply }: SheetParts,
): LastChange {
  const { commit = null, ...who } = findApply(apply) ?? { author: null }
  return { apply, origin, at, commit, author: nameAuthor(who) }
}

/** Writes the references of the secrets in a desired value as a manifest has them. */
export function nameReferences(value: Value): Value {
  return mapSecrets(value, (secret) => {
    const reference = findReference(secret)
    if (reference === null) return { $secret: secret }
    return reference.includes('${') ? reference : `\${secret:${reference}}`
  })
}
