import { catalogue } from '../../core/catalog/catalogue.ts'
import {
  findFieldSchema,
  listHolders,
  type ItemSchema,
} from '../../core/catalog/value/item-schema.ts'
import { workspaceSchema } from '../../manifest/workspace-file/generated/file-schemas.ts'
import { workspaceFile } from '../../manifest/workspace-file/find-root.ts'

const items: ItemSchema = {
  type: 'object',
  description: 'Items and their values. An item that is removed here is released.',
  properties: Object.fromEntries([...catalogue].map(([key, { schema }]) => [key, schema])),
}

const document: ItemSchema = {
  type: 'object',
  properties: {
    domain: { type: 'string', description: 'Domain that this manifest configures.' },
    domains: { type: 'array', description: 'Domains that this manifest configures alike.' },
    profile: { type: 'string', description: 'Name of this profile, which manifests list.' },
    profiles: {
      type: 'array',
      description: 'Profiles below this document, in order; a later one wins.',
    },
    vars: { type: 'object', description: 'Variables, used as `${var:NAME}`.' },
    except: { type: 'array', description: 'Exceptions of these domains from policies.' },
    config: items,
  },
}

const workspace = workspaceSchema as unknown as ItemSchema
const home: ItemSchema = {
  ...workspace,
  properties: { ...workspace.properties, defaults: items },
}

/**
 * Finds the schema of the value at some steps of a document; null where anything may stand.
 *
 * @param path of the file, relative to the root of the workspace
 */
export function findSchemaAt(path: string, steps: readonly string[]): ItemSchema | null {
  return findFieldSchema(path === workspaceFile ? home : document, steps) ?? null
}

/** Lists the fields of the mappings that a schema allows. */
export function listKeys(schema: ItemSchema): [string, ItemSchema, boolean][] {
  return listHolders(schema).flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([name, field]): [string, ItemSchema, boolean] => [
      name,
      field,
      required.includes(name),
    ]),
  )
}
