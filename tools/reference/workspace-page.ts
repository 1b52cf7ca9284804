import { Document, isCollection, visit } from 'yaml'
import { formatBlock, formatPage, formatProse } from './markdown.ts'
import { describeDefault, describeType, formatParts, type Schema } from './schema-keys.ts'

/** Builds the page of `edgewise.yaml` from its schema. */
export function buildWorkspacePage(schema: Schema): string {
  const keys = Object.entries(schema.properties ?? {})
  const example = Object.fromEntries(
    keys.flatMap(([key, part]) => (part.examples === undefined ? [] : [[key, part.examples[0]]])),
  )
  return formatPage(
    'The workspace file',
    '`schemas/workspace.schema.json`',
    formatProse(
      `${schema.description ?? ''} Only \`version\` is required. A share is text such as ` +
        '`"30%"`, a time text such as `10m`: seconds, minutes, hours or days.',
    ),
    '## Example',
    formatBlock('yaml', formatYaml(example)),
    ...keys.flatMap(([key, part]) => formatSection(key, part)),
  )
}

function formatSection(key: string, part: Schema): string[] {
  const keys = formatParts(part, { marks: 'required', paths: true }, key)
  const facts = [describeType(part), ...describeDefault(part)]
  const value = part.type === 'object' ? '' : ` Value: ${facts.join('; ')}.`
  return [
    `## ${key}`,
    formatProse(`${part.description ?? ''}${value}`),
    ...(keys.length === 0 ? [] : [keys.join('\n')]),
    ...(part.examples ?? []).map((each) => formatBlock('yaml', formatYaml({ [key]: each }))),
  ]
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
