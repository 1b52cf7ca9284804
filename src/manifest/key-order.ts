import { catalogue } from '../catalog/catalogue.ts'
import { workspaceSchema } from '../generated/file-schemas.ts'
import { documentKeys } from './document-keys.ts'

/** The part of a JSON Schema that gives the order of keys. */
export interface KeyOrder {
  properties?: Readonly<Record<string, KeyOrder>>
  items?: KeyOrder
}

const config: KeyOrder = {
  properties: Object.fromEntries([...catalogue].map(([item, { schema }]) => [item, schema])),
}

const workspace: KeyOrder = {
  properties: { ...(workspaceSchema.properties as Record<string, KeyOrder>), defaults: config },
}

/** Returns the canonical key order of a document: edgewise.yaml, a manifest or a profile. */
export function getKeyOrder(path: string): KeyOrder {
  if (path === 'edgewise.yaml') return workspace
  const keys = [...new Set([...documentKeys.manifest, ...documentKeys.profile])]
  return {
    properties: Object.fromEntries(
      ['profile', ...keys].map((key) => [key, key === 'config' ? config : {}]),
    ),
  }
}
