import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import { unsetState, type ItemState } from '../../core/model/item.ts'
import { formatPointerStep, type JsonObject } from '../../core/model/json.ts'
import type { Finding } from './finding.ts'

/** The state that a manifest gives an item; null with findings if it is invalid. */
export interface ParsedState {
  state: ItemState | null
  findings: Finding[]
}

/**
 * Parses `{$unset: true}`.
 *
 * @param deletes whether the account can unset any item (`service.unset`)
 */
export function parseUnset(
  spec: ItemSpec,
  raw: JsonObject,
  pointer: string,
  deletes: boolean,
): ParsedState {
  const refuse = (innerPointer: string, detail: string): ParsedState => ({
    state: null,
    findings: [
      {
        code: 'item-invalid',
        pointer: pointer + innerPointer,
        part: 'key',
        summary: 'Invalid "$unset"',
        detail,
      },
    ],
  })
  const extraKey = Object.keys(raw).find((key) => key !== '$unset')
  if (extraKey !== undefined)
    return refuse(
      formatPointerStep(extraKey),
      `expected "$unset" as the only key of the item, got "${extraKey}" as well. Remove one ` +
        'of the two.',
    )
  if (raw['$unset'] !== true)
    return refuse(
      '/$unset',
      'expected "$unset: true". To drop an inherited item, set the item to null.',
    )
  if (deletes || spec.unset !== undefined) return { state: unsetState, findings: [] }
  const detail =
    `the service documents no way to unset "${spec.key}". Remove the item from the manifest ` +
    'instead: it is then released and stays unchanged at the service. Some accounts offer a call ' +
    'that unsets any item: if yours does, set "service: {unset: true}" in edgewise.yaml.'
  return { state: null, findings: [createNoUnset(pointer, detail)] }
}

/** Creates the finding of an item that can't be unset. */
export function createNoUnset(pointer: string, detail: string): Finding {
  const summary = "This item can't be unset"
  return { code: 'unset-unavailable', pointer, part: 'key', summary, detail }
}
