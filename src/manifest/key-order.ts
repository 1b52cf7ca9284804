import { catalogue } from '../catalog/catalogue.ts'
import { workspaceSchema } from '../generated/file-schemas.ts'
import { documentKeys } from './parse-document.ts'

/** What of a JSON Schema tells the order of keys: that in which it describes them. */
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

/** The canonical order of the keys of a document: of edgewise.yaml, or of a manifest or profile. */
export function getKeyOrder(path: string): KeyOrder {
  if (path === 'edgewise.yaml') return workspace
  const keys = [...new Set([...documentKeys.manifest, ...documentKeys.profile])]
  return {
    properties: Object.fromEntries(
      ['profile', ...keys].map((key) => [key, key === 'config' ? config : {}]),
    ),
  }
}
