import type { Snapshot } from '../../model/item.ts'
import type { KnownManifest, Manifest } from '../parse-document.ts'

/** Returns a manifest with the items of its domains, which makes its configuration dispensable. */
export function toKnown(
  { document, profiles, domains }: Manifest,
  desired: Snapshot,
): KnownManifest {
  const { file, index } = document
  const known = domains.map((each) => ({ ...each, items: desired.get(each.domain) ?? new Map() }))
  return { kind: 'known', document: { file, index }, profiles, domains: known }
}
