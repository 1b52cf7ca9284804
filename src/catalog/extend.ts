import { isObject, type Json } from '../model/json.ts'
import type { ItemRow } from './item-spec.ts'

/** Extension text; its lines are separated by CR LF (specification, "extend"). */
export const extend: ItemRow = {
  explainDestructive: () =>
    'its text goes to the servers unchecked and has priority over other items',
  tidy: (value: Json) =>
    isObject(value) && typeof value['squid'] === 'string'
      ? { ...value, squid: value['squid'].replace(/\r\n|\r|\n/g, '\r\n') }
      : value,
}
