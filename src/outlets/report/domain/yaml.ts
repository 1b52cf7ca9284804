import { stringify } from 'yaml'
import { EdgewiseError } from '../../../core/model/edgewise-error.ts'
import type { Json, JsonObject } from '../../../core/model/json.ts'
import { nameReferences, type DomainSheet } from './sheet.ts'

/**
 * Formats the merged configuration of a domain as a manifest without profiles.
 *
 * @throws EdgewiseError `usage` if the sheet has only recorded values
 */
export function formatSheetYaml({ domain, recordedOnly, items }: DomainSheet): string {
  if (recordedOnly !== null)
    throw new EdgewiseError(
      'usage',
      `a .yaml report has what manifests ask for, and this is ${domain} ${recordedOnly}`,
      'Write a .json report.',
    )
  const config = items.flatMap(({ item, value, isUnset }): [string, Json][] =>
    value === null ? (isUnset ? [[item, { $unset: true }]] : []) : [[item, nameReferences(value)]],
  )
  const manifest: JsonObject = { domain, config: Object.fromEntries(config) }
  return stringify(manifest, { lineWidth: 0 })
}
