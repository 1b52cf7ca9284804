import type { ItemSpec } from '../../src/core/catalog/item-spec.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import {
  extractFirstSentence,
  listRules,
  listFacts,
  listFields,
} from '../../src/outlets/report/catalog/describe-item.ts'
import { formatCode, formatPage, formatProse } from './markdown.ts'

/** Rules that hold for most items, which the page of all items has. */
const general = /^The service documents no reset|^With `grouping\.groups/
const released = / Removed from a manifest, it is released: .*/

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
    buildItemPage(spec, findTheme(key, themes), sections.get(key) ?? [], catalogue),
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
    `[Examples](../../${findExamples(theme)})`,
    items
      .map((key) => {
        const spec = catalogue.get(key)
        const text = spec === undefined ? '' : extractFirstSentence(spec)
        return formatProse(text, `- [${formatCode(key)}](items/${key}.md): `, '  ')
      })
      .join('\n'),
  ])
  return formatPage(
    'Items',
    formatProse(
      'An item is a named part of the configuration of a domain. A manifest has items under ' +
        '`config`. `edgewise explain ITEM` prints what its page shows, with an example.',
    ),
    ...tables,
    '## What holds for every item',
    [
      'The section of the specification has the name of the item, unless its page names another.',
      'Removed from a manifest, an item is released: the service keeps its value. See ' +
        '[managed, unset, released](manifests.md#managed-unset-released).',
      'Where the page of an item has no rule for `{$unset: true}`, the service documents no ' +
        'reset: it needs an account with `service.unset`.',
      'With `grouping.groups: documented` each item is written alone, except these, which may ' +
        `share a write: ${formatGroups(catalogue)}.`,
    ]
      .map((rule) => formatProse(rule, '- ', '  '))
      .join('\n'),
  )
}

/** Lists the groups of items that the service documents, without those of a single item. */
function formatGroups(catalogue: ReadonlyMap<string, ItemSpec>): string {
  const specs = [...catalogue.values()]
  return [...new Set(specs.map(({ group }) => group))]
    .map((group) => specs.filter((spec) => spec.group === group))
    .filter((members) => members.length > 1)
    .map((members) => members.map(({ key }) => formatCode(key)).join(', '))
    .join('; ')
}

/** Returns the manifests that use each item of a theme. */
function findExamples(theme: string): string {
  return `examples/every-item/domains/${theme.toLowerCase()}.yaml`
}

function findTheme(key: string, themes: ReadonlyMap<string, readonly string[]>): string {
  return [...themes].find(([, items]) => items.includes(key))?.[0] ?? ''
}

function buildItemPage(
  spec: ItemSpec,
  theme: string,
  sections: readonly string[],
  catalogue: ReadonlyMap<string, ItemSpec>,
): string {
  const { key, schema } = spec
  const fields = listFields(schema)
  const ofEach = schema.type === 'array' ? ' of each entry' : ''
  const rules = listRules(spec)
    .filter((rule) => !general.test(rule))
    .map((rule) => rule.replace(released, ''))
    .map((rule) => formatProse(linkItems(rule, key, catalogue), '- ', '  '))
  return formatPage(
    key,
    formatProse(schema.description ?? ''),
    ...(fields.length === 0
      ? [`## Value`, formatProse(`${formatFacts(schema, false)}.`)]
      : [`## Fields${ofEach}`, formatFields(fields)]),
    ...(rules.length === 0 ? [] : ['## Rules', rules.join('\n')]),
    formatProse(`[Example](../../../${findExamples(theme)}).${nameSections(key, sections)}`),
  )
}

/** Lists fields, and those inside of them. One that an earlier line describes refers to that. */
function formatFields(fields: ReturnType<typeof listFields>): string {
  const lines = fields.flatMap((field) => formatField(...field, ''))
  const repeated = lines.filter((line, i) => lines.indexOf(line) !== i)
  return lines
    .map((line, i) =>
      repeated.includes(line) && lines.indexOf(line) !== i
        ? line.replace(/^( *- `\w+`)[\s\S]*/, '$1: as above')
        : line,
    )
    .join('\n')
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

/** Names the sections of the specification, unless that is the one of the item's own name. */
function nameSections(key: string, sections: readonly string[]): string {
  // A note in brackets behind the name of a section is not needed to find it.
  const names = sections.map((name) => `"${name.replace(/ \(.*/, '')}"`)
  const list = names.join(' and ')
  return list.replaceAll('`', '') === `"${key}"` ? '' : ` Specification: section ${list}.`
}

/** Links the items that a rule names in code. */
function linkItems(rule: string, own: string, catalogue: ReadonlyMap<string, ItemSpec>): string {
  return rule.replaceAll(/`([a-z]\w+)`/g, (code, key: string) =>
    key === own || !catalogue.has(key) ? code : `[${code}](${key}.md)`,
  )
}
