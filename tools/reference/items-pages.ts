import { stringify } from 'yaml'
import type { ItemSpec } from '../../src/core/catalog/item-spec.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import {
  extractFirstSentence,
  listRules,
  listFacts,
  listFields,
} from '../../src/outlets/report/catalog/describe-item.ts'
import {
  formatBlock,
  formatCode,
  formatInline,
  formatPage,
  formatProse,
  formatTable,
} from './markdown.ts'

const source = '`schemas/items` and `src/core/catalog`'

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
      ? [`## Value`, formatProse(`${formatFacts(schema, false)}.`)]
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
  return [
    formatProse(
      `(${formatFacts(schema, required)}). ${schema.description ?? ''}`,
      `${indent}- ${formatCode(name)} `,
      `${indent}  `,
    ),
    ...listFields(schema).flatMap(([key, field, needed]) =>
      formatField(key, field, needed, `${indent}  `),
    ),
  ]
}

function formatFacts(schema: ItemSchema, required: boolean): string {
  const facts = listFacts(schema, required, formatCode)
  // A single backtick of a text is not the start of code.
  return facts.map((fact) => fact.replace(/^([^`]*)`([^`]*)$/, '$1&#96;$2')).join('; ')
}

function listSections(sections: readonly string[]): string {
  return sections.map((name) => `section "${name}"`).join(' and ')
}

/** Links the items that a rule names in code. */
function linkItems(rule: string, own: string, catalogue: ReadonlyMap<string, ItemSpec>): string {
  return rule.replaceAll(/`([a-z]\w+)`/g, (code, key: string) =>
    key === own || !catalogue.has(key) ? code : `[${code}](${key}.md)`,
  )
}
