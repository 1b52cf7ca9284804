import type { ItemSchema } from '../src/core/catalog/value/item-schema.ts'

type Schema = Record<string, unknown>

const draft = 'https://json-schema.org/draft/2020-12/schema'
const referenceSchema = { type: 'string', pattern: '\\$\\{' }
const nullSchema = { type: 'null' }
/**
 * Keywords that don't apply to a manifest: a profile may give required fields, and the program's
 * own annotations are not for editors.
 */
const dropped = new Set([
  '$schema',
  'required',
  'properties',
  'items',
  'oneOf',
  'title',
  'description',
  'additionalProperties',
  'x-edgewise',
  'writeOnly',
  'format',
  'examples',
  'type',
  'default',
])

/**
 * Builds the schemas of manifests and profiles for editors from those of the items, and of
 * exceptions from policies.
 */
export function buildManifestSchemas(
  items: Record<string, ItemSchema>,
  except: unknown,
): {
  manifest: Schema
  profile: Schema
} {
  const config = {
    type: ['object', 'null'],
    additionalProperties: false,
    description: 'Items and their values. null removes the value of a profile.',
    properties: Object.fromEntries(
      Object.entries(items).map(([key, schema]) => [key, buildItemSchema(schema)]),
    ),
  }
  const vars = (description: string) => ({
    type: ['object', 'null'],
    additionalProperties: {
      type: ['string', 'number'],
      description: 'Value of ${var:NAME}.',
    },
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]*$' },
    description,
    examples: [{ region: 'eu' }],
  })
  const profiles = (description: string) => ({
    type: ['array', 'null'],
    uniqueItems: true,
    items: { type: 'string', description: 'Name of a profile.' },
    description,
    examples: [['baseline', 'video']],
  })
  const manifest = {
    $schema: draft,
    title: 'Edgewise manifest',
    description: 'Declares the items of one domain, or of a list of domains.',
    type: 'object',
    additionalProperties: false,
    oneOf: [{ required: ['domain'] }, { required: ['domains'] }],
    // A manifest with neither would release everything.
    anyOf: [{ required: ['config'] }, { required: ['profiles'] }],
    properties: {
      domain: {
        type: 'string',
        minLength: 1,
        description: 'Name of the domain; a wildcard domain is written .example.com.',
        examples: ['www.example.com'],
      },
      domains: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', description: 'Name of a domain.' },
        description: 'Names of domains with the same configuration.',
        examples: [['a.example.com', 'b.example.com']],
      },
      owners: {
        type: ['array', 'null'],
        maxItems: 20,
        items: {
          type: 'string',
          minLength: 1,
          maxLength: 200,
          description: 'Name of a group, or address of a user.',
        },
        description:
          'Owners of these domains, who may approve their changes where edgewise.yaml has roles. ' +
          'Without this key, those of the file in CODEOWNERS.',
        examples: [['team-video', 'ada@example.com']],
      },
      profiles: profiles('Profiles in merge order; the manifest itself is merged last.'),
      vars: vars('Variables for ${var:NAME}; they override those of the profiles.'),
      except,
      config,
    },
  }
  const profile = {
    $schema: draft,
    title: 'Edgewise profile',
    description: 'A part of a configuration, shared by manifests.',
    type: 'object',
    additionalProperties: false,
    required: ['profile'],
    properties: {
      profile: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$',
        description: 'Name of the profile.',
        examples: ['baseline'],
      },
      profiles: profiles('Profiles that are merged before this one.'),
      vars: vars('Variables for ${var:NAME}; the manifest overrides them.'),
      config: config,
    },
  }
  return { manifest, profile }
}

function buildItemSchema(schema: ItemSchema): Schema {
  const unset = buildUnset('Unsets the item: the service then behaves as without it.')
  const { title, description, examples, ...inner } = schema
  const value = loosen(inner)
  const choices: unknown[] = Array.isArray(value['anyOf']) ? value['anyOf'] : [value]
  return { title, description, examples, anyOf: [...choices, unset] }
}

/**
 * Loosens the schema of a payload for manifests: null removes, lists may add, references are
 * allowed.
 */
function loosen(schema: ItemSchema): Schema {
  const documentation = {
    ...(schema.title === undefined ? {} : { title: schema.title }),
    ...(schema.description === undefined ? {} : { description: schema.description }),
  }
  if (schema.oneOf !== undefined) return { ...documentation, anyOf: schema.oneOf.map(loosen) }
  const rules = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !dropped.has(keyword)),
  )
  const withDefault =
    schema.default === undefined ? documentation : { ...documentation, default: schema.default }
  if (schema.type === 'object') {
    const properties = Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, field]) => [name, loosen(field)]),
    )
    return { ...documentation, type: ['object', 'null'], additionalProperties: false, properties }
  }
  if (schema.type === 'array') {
    const entry = loosen(schema.items ?? {})
    const { minItems: _minItems, ...limits } = rules
    return {
      ...withDefault,
      anyOf: [{ type: 'array', items: entry, ...limits }, buildAddition(entry), nullSchema],
    }
  }
  return {
    ...withDefault,
    anyOf: [
      { type: schema.type, ...rules },
      referenceSchema,
      nullSchema,
      ...listOtherSpellings(schema),
      // The service never shows it: a manifest declares that it has no value.
      ...(schema['x-edgewise']?.hidden === true && schema.default === undefined
        ? [buildUnset('Declares that the field has no value.')]
        : []),
    ],
  }
}

function buildUnset(description: string): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['$unset'],
    properties: { $unset: { const: true, description } },
  }
}

/** Lists other spellings: numbers as text, text as numbers, and lists for separated text. */
function listOtherSpellings(schema: ItemSchema): Schema[] {
  const entry = { type: ['string', 'integer'] }
  const list =
    schema['x-edgewise']?.list === undefined
      ? []
      : [{ type: 'array', items: entry }, buildAddition(entry)]
  if (schema.type === 'boolean') return [{ enum: ['true', 'false'] }]
  if (schema.type === 'integer')
    return [
      schema.enum === undefined
        ? { type: 'string', pattern: '^(?:0|-?[1-9][0-9]*)?$' }
        : { enum: schema.enum.map(String) },
    ]
  return [{ type: 'integer' }, ...list]
}

function buildAddition(entry: Schema): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      $prepend: {
        type: 'array',
        items: entry,
        description: 'Entries to add before the list of a profile.',
      },
      $append: {
        type: 'array',
        items: entry,
        description: 'Entries to add to the list of a profile.',
      },
    },
  }
}
