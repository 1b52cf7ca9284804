type Schema = Record<string, unknown>

const draft = 'https://json-schema.org/draft/2020-12/schema'
/** A manifest may have exceptions too. */
const isPolicy = {
  anyOf: [
    { required: ['policy'] },
    { required: ['except'], not: { anyOf: [{ required: ['domain'] }, { required: ['domains'] }] } },
  ],
}
/** Shorter parts are not shared: a reference would save nothing. */
const minSharedLength = 40
/** Keywords that document a value, or that only this program uses. */
const documentation = new Set(['title', 'description', 'examples', 'default'])
const dropped = new Set(['$schema', 'x-expected'])

/** Kinds of the files of a workspace. */
type EditedKind = 'test' | 'policy' | 'workspace' | 'manifest' | 'profile'

/**
 * Builds the schema that a workspace has for editors: one for all of its files, of which each is
 * recognized by its keys. Equal parts are shared, because every workspace has a copy.
 */
export function buildEditorSchema(schemas: Record<EditedKind, Schema>): string {
  const { workspace, manifest, profile } = schemas
  const shared = shareParts(schemas)
  const others = { ...(manifest['properties'] as Schema), ...(profile['properties'] as Schema) }
  const ownKeys = Object.keys(workspace['properties'] as Schema).filter((key) => !(key in others))
  const head = {
    $schema: draft,
    title: 'Edgewise',
    description:
      'A file of an Edgewise workspace: edgewise.yaml, a manifest, a profile, a test or policies.',
    ...choose(
      { required: ['test'] },
      refer('test'),
      choose(
        isPolicy,
        refer('policy'),
        choose(
          { anyOf: ownKeys.map((key) => ({ required: [key] })) },
          refer('workspace'),
          choose({ required: ['profile'] }, refer('profile'), refer('manifest')),
        ),
      ),
    ),
  }
  // One line for each definition keeps a later version's diff small.
  const lines = Object.entries(shared).map(
    ([name, part]) => `${JSON.stringify(name)}:${JSON.stringify(part)}`,
  )
  return `${JSON.stringify(head).slice(0, -1)},"$defs":{\n${lines.join(',\n')}\n}}\n`
}

function choose(condition: Schema, chosen: Schema, otherwise: Schema): Schema {
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  return { if: condition, then: chosen, else: otherwise }
}

function refer(name: string): Schema {
  return { $ref: `#/$defs/${name}` }
}

/** Moves parts that occur more than once to definitions, without what documents them. */
function shareParts(definitions: Record<string, Schema>): Record<string, Schema> {
  const counts = new Map<string, number>()
  const count = (schema: Schema): Schema => {
    const { rules } = separate(schema)
    const text = JSON.stringify(rules)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    // The parts of an equal part move with it.
    return counts.get(text) === 1 ? mapParts(rules, count) : rules
  }
  for (const schema of Object.values(definitions)) count(schema)

  const names = new Map<string, string>()
  const shared: Record<string, Schema> = {}
  const share = (schema: Schema): Schema => {
    const { documented, rules } = separate(schema)
    const text = JSON.stringify(rules)
    if (text.length < minSharedLength || counts.get(text) === 1)
      return { ...documented, ...mapParts(rules, share) }
    const name = names.get(text) ?? `p${names.size.toString(36)}`
    if (!names.has(text)) {
      names.set(text, name)
      shared[name] = mapParts(rules, share)
    }
    return { ...documented, ...refer(name) }
  }
  const main = Object.entries(definitions).map(([name, schema]) => [name, share(schema)])
  return { ...(Object.fromEntries(main) as Record<string, Schema>), ...shared }
}

/** Separates what documents a value from its rules. Alternatives after the first become one. */
function separate(schema: Schema): { documented: Schema; rules: Schema } {
  const entries = Object.entries(schema).filter(([keyword]) => !dropped.has(keyword))
  const documented = Object.fromEntries(entries.filter(([keyword]) => documentation.has(keyword)))
  const rules: Schema = Object.fromEntries(
    entries.filter(([keyword]) => !documentation.has(keyword)),
  )
  const [first, ...others] = (rules['anyOf'] ?? []) as Schema[]
  if (others.length > 1) rules['anyOf'] = [first, { anyOf: others }]
  return { documented, rules }
}

/** Replaces the schemas directly inside a schema. */
function mapParts(schema: Schema, change: (part: Schema) => Schema): Schema {
  const mapValue = (keyword: string, value: unknown): unknown => {
    if (keyword === 'properties')
      return Object.fromEntries(
        Object.entries(value as Record<string, Schema>).map(([name, part]) => [name, change(part)]),
      )
    if (keyword === 'anyOf' || keyword === 'oneOf') return (value as Schema[]).map(change)
    const holdsPart = ['items', 'additionalProperties', 'propertyNames'].includes(keyword)
    return holdsPart && typeof value === 'object' ? change(value as Schema) : value
  }
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapValue(keyword, value)]),
  )
}
