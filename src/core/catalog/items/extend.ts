import { isObject } from '../../model/json.ts'
import type { ItemRow } from '../item-spec.ts'

/** Extension text; its lines are separated by CR LF (specification, "extend"). */
export const extend: ItemRow = {
  explainDestructive: () =>
    'its text goes to the servers unchecked and takes precedence over other items',
  tidy: (value) =>
    isObject(value) && typeof value['squid'] === 'string'
      ? { ...value, squid: value['squid'].replace(/\r\n|\r|\n/g, '\r\n') }
      : value,
}
