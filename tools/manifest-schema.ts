import type { ItemSchema } from '../src/catalog/value/item-schema.ts'

type Schema = Record<string, unknown>

const draft = 'https://json-schema.org/draft/2020-12/schema'
const reference = { type: 'string', pattern: '\\$\\{' }
const nothing = { type: 'null' }
/**
 * What says nothing about a manifest: a profile may give what is required, and the program's own
 * words are not an editor's.
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

/** The schemas of manifests and profiles for editors, made from those of the items. */
export function buildManifestSchemas(items: Record<string, ItemSchema>): {
  manifest: Schema
  profile: Schema
} {
  const config = {
    type: ['object', 'null'],
    additionalProperties: false,
    description: 'Items and their values. null takes out what a profile says.',
    properties: Object.fromEntries(
      Object.entries(items).map(([key, schema]) => [key, itemInManifest(schema)]),
    ),
  }
  const vars = (description: string) => ({
    type: ['object', 'null'],
    additionalProperties: {
      type: ['string', 'number'],
      description: 'What ${var:NAME} stands for.',
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
    properties: {
      domain: {
        type: 'string',
        minLength: 1,
        description: 'Name of the domain.',
        examples: ['www.example.com'],
      },
      domains: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', description: 'Name of a domain.' },
        description: 'Names of domains that are configured alike.',
        examples: [['a.example.com', 'b.example.com']],
      },
      profiles: profiles(
        'Profiles in the order in which they are merged; this manifest comes last.',
      ),
      vars: vars('Variables for ${var:NAME}, over those of the profiles.'),
      config,
    },
  }
  const profile = {
    $schema: draft,
    title: 'Edgewise profile',
    description: 'A part of a configuration that manifests share.',
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
      vars: vars('Variables for ${var:NAME} where the manifest gives none.'),
      config: { $ref: 'manifest.schema.json#/properties/config' },
    },
  }
  return { manifest, profile }
}

function itemInManifest(schema: ItemSchema): Schema {
  const unset = {
    type: 'object',
    additionalProperties: false,
    required: ['$unset'],
    properties: {
      $unset: {
        const: true,
        description: 'Asks for the documented way back to what holds without this item.',
      },
    },
  }
  const { title, description, examples, ...inner } = schema
  const value = loose(inner)
  const choices: unknown[] = Array.isArray(value['anyOf']) ? value['anyOf'] : [value]
  return { title, description, examples, anyOf: [...choices, unset] }
}

/**
 * What a manifest may write where a payload has this: null takes out, lists may append, references
 * may stand in.
 */
function loose(schema: ItemSchema): Schema {
  const about = {
    ...(schema.title === undefined ? {} : { title: schema.title }),
    ...(schema.description === undefined ? {} : { description: schema.description }),
  }
  if (schema.oneOf !== undefined) return { ...about, anyOf: schema.oneOf.map(loose) }
  const rules = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !dropped.has(keyword)),
  )
  const withDefault = schema.default === undefined ? about : { ...about, default: schema.default }
  if (schema.type === 'object') {
    const properties = Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, field]) => [name, loose(field)]),
    )
    return { ...about, type: ['object', 'null'], additionalProperties: false, properties }
  }
  if (schema.type === 'array') {
    const entry = loose(schema.items ?? {})
    const { minItems: _least, ...limits } = rules
    return {
      ...withDefault,
      anyOf: [{ type: 'array', items: entry, ...limits }, appended(entry), nothing],
    }
  }
  return {
    ...withDefault,
    anyOf: [{ type: schema.type, ...rules }, reference, nothing, ...otherSpellings(schema)],
  }
}

/** Numbers as text, text as numbers, and lists for separated text. */
function otherSpellings(schema: ItemSchema): Schema[] {
  const entry = { type: ['string', 'integer'] }
  const list =
    schema['x-edgewise']?.list === undefined
      ? []
      : [{ type: 'array', items: entry }, appended(entry)]
  if (schema.type === 'boolean') return [{ enum: ['true', 'false'] }]
  if (schema.type === 'integer')
    return [
      schema.enum === undefined
        ? { type: 'string', pattern: '^(?:0|-?[1-9][0-9]*)?$' }
        : { enum: schema.enum.map(String) },
    ]
  return [{ type: 'integer' }, ...list]
}

function appended(entry: Schema): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['$append'],
    properties: {
      $append: {
        type: 'array',
        items: entry,
        description: 'Entries to add to the list of a profile.',
      },
    },
  }
}
