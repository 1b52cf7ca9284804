import { stringify } from 'yaml'
import type { ItemSpec } from '../../src/catalog/item-spec.ts'
import type { ItemSchema } from '../../src/catalog/value/item-schema.ts'
import { extractFirstSentence, listRules } from '../../src/cli/describe-item.ts'
import {
  describeAllowed,
  describeDefault,
  listFields,
  nameType,
} from '../../src/cli/describe-schema.ts'
import {
  formatBlock,
  formatCode,
  formatInline,
  formatPage,
  formatProse,
  formatTable,
} from './markdown.ts'

const source = '`schemas/items` and `src/catalog`'

/**
 * Builds the page of each item and the table of all, by path.
 *
 * @param themes the items of each theme, in the order of the table
 * @param sections the sections of the service's specification that have rules of an item
 */
export function buildItemsPages(
  catalogue: ReadonlyMap<string, ItemSpec>,
  themes: ReadonlyMap<string, readonly string[]>,
  sections: ReadonlyMap<string, readonly string[]>,
): Record<string, string> {
  const pages = [...catalogue].map(([key, spec]) => [
    `docs/reference/items/${key}.md`,
    buildItemPage(spec, sections.get(key) ?? [], catalogue),
  ])
  return {
    'docs/reference/items.md': buildTable(catalogue, themes),
    ...(Object.fromEntries(pages) as Record<string, string>),
  }
}

function buildTable(
  catalogue: ReadonlyMap<string, ItemSpec>,
  themes: ReadonlyMap<string, readonly string[]>,
): string {
  const tables = [...themes].flatMap(([theme, items]) => [
    `## ${theme}`,
    formatTable(
      ['item', 'what it configures'],
      items.flatMap((key) => {
        const spec = catalogue.get(key)
        return spec === undefined
          ? []
          : [[`[${formatCode(key)}](items/${key}.md)`, formatInline(extractFirstSentence(spec))]]
      }),
    ),
  ])
  return formatPage(
    'Items',
    source,
    formatProse(
      'An item is a named part of the configuration of a domain. A manifest has items under ' +
        '`config`. `edgewise explain ITEM` prints what these pages show, and ' +
        '[`examples/every-item`](../../examples/every-item) uses all of them.',
    ),
    ...tables,
  )
}

function buildItemPage(
  spec: ItemSpec,
  sections: readonly string[],
  catalogue: ReadonlyMap<string, ItemSpec>,
): string {
  const { key, schema } = spec
  const fields = listFields(schema)
  const ofEach = schema.type === 'array' ? ' of each entry' : ''
  const document = { domain: 'www.example.com', config: { [key]: schema.examples?.[0] ?? null } }
  return formatPage(
    key,
    source,
    formatProse(schema.description ?? ''),
    ...(fields.length === 0
      ? [`## Value`, formatProse(`${listFacts(schema, false).join('; ')}.`)]
      : [`## Fields${ofEach}`, fields.flatMap((field) => formatField(...field, '')).join('\n')]),
    '## Rules',
    listRules(spec)
      .map((rule) => formatProse(linkItems(rule, key, catalogue), '- ', '  '))
      .join('\n'),
    '## Example',
    formatBlock('yaml', stringify(document, { lineWidth: 0 })),
    formatProse(
      `Specification of the service: ${listSections(sections)}. [All items](../items.md)`,
    ),
  )
}

function formatField(
  name: string,
  schema: ItemSchema,
  required: boolean,
  indent: string,
): string[] {
  const facts = listFacts(schema, required)
  return [
    formatProse(
      `(${facts.join('; ')}). ${schema.description ?? ''}`,
      `${indent}- ${formatCode(name)} `,
      `${indent}  `,
    ),
    ...listFields(schema).flatMap(([key, field, needed]) =>
      formatField(key, field, needed, `${indent}  `),
    ),
  ]
}

function listSections(sections: readonly string[]): string {
  return sections.map((name) => `section "${name}"`).join(' and ')
}

/** Lists the facts of a field in Markdown: type or values, range, required, default, secret. */
function listFacts(schema: ItemSchema, required: boolean): string[] {
  const fallback = describeDefault(schema)
  const hasDefault = schema.default !== undefined && schema.default !== ''
  return [
    ...describeValues(schema),
    ...(required ? ['required'] : []),
    ...(fallback === null
      ? []
      : [
          hasDefault
            ? `default ${formatCode(fallback)}`
            : fallback.replace(/^empty$/, 'default empty'),
        ]),
    ...(schema.writeOnly === true ? ['secret'] : []),
  ]
}

/** Describes the type of a field, and the allowed values if the type leaves them open. */
function describeValues(schema: ItemSchema): string[] {
  const values = (schema.enum ?? schema.items?.enum)?.map((value) => formatCode(String(value)))
  if (values !== undefined)
    return schema.type === 'array' ? [`list of ${values.join(', ')}`] : [values.join(', ')]
  const type = nameType(schema).replace(/^list of text$/, 'list of texts')
  const allowed = describeAllowed(schema)
  const isOpen = allowed === null || /^any (?:text|whole number)$/.test(allowed)
  // A backtick of the text is not the start of code.
  return isOpen ? [type] : [type, allowed.replaceAll(' | ', ', ').replaceAll('`', '&#96;')]
}

/** Links the items that a rule names in code. */
function linkItems(rule: string, own: string, catalogue: ReadonlyMap<string, ItemSpec>): string {
  return rule.replaceAll(/`([a-z]\w+)`/g, (code, key: string) =>
    key === own || !catalogue.has(key) ? code : `[${code}](${key}.md)`,
  )
}
