import { Document, isCollection, visit } from 'yaml'
import { formatBlock, formatPage, formatProse } from './markdown.ts'
import { describeDefault, describeType, formatParts, type Schema } from './schema-keys.ts'

/** Builds the page of `edgewise.yaml` from its schema. */
export function buildWorkspacePage(schema: Schema): string {
  const keys = Object.entries(shorten(schema).properties ?? {})
  const example = Object.fromEntries(
    keys.flatMap(([key, part]) => (part.examples === undefined ? [] : [[key, part.examples[0]]])),
  )
  return formatPage(
    'The workspace file',
    formatProse(
      `${schema.description ?? ''} Only \`version\` is required. A share is text such as ` +
        '`"30%"`, a time text such as `10m`: seconds, minutes, hours or days. A switch is true ' +
        'or false. It is false, and a list is empty, unless another default is named.',
    ),
    '## Example',
    formatBlock('yaml', formatYaml(example)),
    ...keys.flatMap(([key, part]) => formatSection(key, part)),
  )
}

/** What a value is, in the words that the page explains once. */
const shortTypes: [RegExp, string][] = [
  [/^a whole number such as 20, or a share .*/, 'number or share'],
  [/^a whole number from [01] to \d{4,}$/, 'whole number'],
  [/,? such as .*/, ''],
  [/^a mapping with .*/, 'mapping'],
  [/^true or false$/, 'switch'],
  [/^an address that begins with https.*/, 'https:// address'],
  [/^(a list of wave numbers, or a mapping) .*/, '$1'],
  [/^(at most 63 lower-case letters, digits and "_").*/, '$1'],
]

/** Copies a schema without what the page explains once for all keys. */
function shorten(schema: Schema): Schema {
  const copy = structuredClone(schema)
  const visitPart = (part: Schema): void => {
    const { 'x-expected': expected, default: value } = part
    if (expected !== undefined)
      part['x-expected'] = shortTypes.reduce((text, row) => text.replace(...row), expected)
    if (part.items?.['x-expected']?.startsWith('a glob ')) part['x-expected'] = 'list of globs'
    if (value === false || JSON.stringify(value) === '[]') delete part.default
    for (const each of Object.values(part.properties ?? {})) visitPart(each)
    if (part.items !== undefined) visitPart(part.items)
    for (const each of [...(part.oneOf ?? []), ...(part.anyOf ?? [])]) visitPart(each)
    if (typeof part.additionalProperties === 'object') visitPart(part.additionalProperties)
  }
  visitPart(copy)
  return copy
}

function formatSection(key: string, part: Schema): string[] {
  const keys = key === 'checks' ? [formatCodes(part)] : formatParts(part, { paths: true }, key)
  const facts = [describeType(part), ...describeDefault(part)]
  const value = part.type === 'object' ? '' : ` Value: ${facts.join('; ')}.`
  return [
    `## ${key}`,
    formatProse(`${part.description ?? ''}${value}`),
    ...(keys.length === 0 ? [] : [keys.join('\n')]),
  ]
}

/** Formats the codes of findings, which all have the same values. */
function formatCodes({ properties = {} }: Schema): string {
  const [values = ''] = new Set(Object.values(properties).map(describeType))
  const codes = Object.keys(properties).map((code) => `\`checks.${code}\``)
  return formatProse(
    `Each is ${values}; [errors](errors.md#diagnostic-codes) describes them: ${codes.join(', ')}.`,
  )
}

/** Formats YAML; what is below the second level stands on one line if it is short. */
function formatYaml(value: unknown): string {
  const document = new Document(value)
  visit(document, {
    Collection: (_key, node, path) => {
      const isDeep = path.filter((parent) => isCollection(parent)).length >= 2
      node.flow = isDeep && JSON.stringify(node.toJS(document)).length < 100
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
