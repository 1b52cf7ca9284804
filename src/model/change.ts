import type { Domain, ItemKey, Value, Wire } from './item.ts'
import type { Json } from './json.ts'

/** What happens to an item of a domain. */
export type Action = 'set' | 'change' | 'unset' | 'release'

/** The symbol is the action, the same in terminal, Markdown and JSON reports. */
export const symbols: Record<Action, string> = { set: '+', change: '~', unset: '-', release: '○' }

/** One operation of an RFC 6902 patch; moves and copies are told as what comes and goes. */
export interface PatchOperation {
  op: 'add' | 'remove' | 'replace'
  path: string
  value?: Json
}

/** One item of one domain that is not as it should be. */
export interface Change {
  domain: Domain
  item: ItemKey
  action: Action
  /** `cleared`: another desired item empties this one at the service; `by` names it. */
  reason: 'differs' | 'in-doubt' | 'cleared'
  by?: ItemKey
  /** Canonical values; null where nothing was recorded, or nothing is managed any more. */
  before: Value | null
  after: Value | null
  patch: PatchOperation[]
}

/** How one item is written. */
export type FormName = 'replace' | 'append' | 'add' | 'remove' | 'switch' | 'unset'

/** One documented way to bring an item from where it is to where it should be. */
export interface Form {
  name: FormName
  payload: Wire
}

/** One `POST /domain/config`: up to 10 domains × some items. */
export interface Write {
  /** Its place in the plan, from 1. */
  id: number
  wave: number
  domains: Domain[]
  /** Item → payload; the wire names come in at the service's door. */
  items: Record<ItemKey, Form>
}

/** The forms that leave the same state when the service carries them out twice. */
export function isSafeToRepeat(form: FormName): boolean {
  return form === 'replace' || form === 'switch' || form === 'unset'
}
