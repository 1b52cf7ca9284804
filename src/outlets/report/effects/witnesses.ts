import type { Delta, SideRule } from '../../../core/effects/compare.ts'
import type { Witness } from '../../../core/effects/witness/find-witness.ts'
import type { Action } from '../../../core/model/change.ts'
import type { Domain, ItemKey } from '../../../core/model/item.ts'

/** What a kind of change does to a request: one that shows it, or why there is none. */
export interface ChangeWitness {
  item: ItemKey
  action: Action
  /** Domains with the same change; the witness is of the first. */
  domains: Domain[]
  /** Whether nothing was recorded of these domains. */
  isFirst: boolean
  witness: Exclude<Witness, { kind: 'request' }> | RequestWitness
}

/** A request that a change alters, with the rules that decide on both sides. */
type RequestWitness = Extract<Witness, { kind: 'request' }> & {
  deltas: (Delta & { rules: SideRule[] })[]
}

/** Witnesses of the kinds of change of a plan. */
export interface Witnesses {
  changes: ChangeWitness[]
  /** Kinds of change for which none was looked for. */
  omitted: number
}
