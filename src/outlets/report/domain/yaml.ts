import { stringify } from 'yaml'
import type { Json, JsonObject } from '../../../core/model/json.ts'
import { nameReferences, type DomainSheet } from './sheet.ts'

/** Formats the merged configuration of a domain as a manifest without profiles. */
export function formatSheetYaml({ domain, items }: DomainSheet): string {
  const config = items.flatMap(({ item, value, isUnset }): [string, Json][] =>
    value === null ? (isUnset ? [[item, { $unset: true }]] : []) : [[item, nameReferences(value)]],
  )
  const manifest: JsonObject = { domain, config: Object.fromEntries(config) }
  return stringify(manifest, { lineWidth: 0 })
}
