import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { catalogue } from '../../core/catalog/catalogue.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import type { Reading } from '../../core/trace/readings.ts'
import { findMax } from '../../core/model/lists.ts'
import { wrap } from '../../outlets/report/text/wrap.ts'
import {
  extractFirstSentence,
  listRules,
  listFacts,
  listFields,
  describeAllowed,
  describeDefault,
  nameType,
} from '../../outlets/report/catalog/describe-item.ts'
import type { CommandContext, Io } from '../io.ts'
import { formatPolicyHelp } from './explain-policy.ts'
import {
  buildExplainJson,
  findExplained,
  type Explained,
  type ExplainedItem,
  type FoundField,
} from './explain-json.ts'
import { isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { findRealPath } from '../../files/look.ts'
import { loadSource } from '../../manifest/manifests/load-source.ts'
import { findRoot, workspaceFile } from '../../manifest/workspace-file/find-root.ts'
import { parseWorkspaceConfig } from '../../manifest/workspace-file/workspace-config.ts'

/** How a text is laid out. */
type Layout = Pick<CommandContext['layout'], 'paint' | 'columns'>

/** `edgewise explain`: lists all items, or describes one item or one field. */
export async function explain(
  { print, layout, io, options }: CommandContext,
  [given]: unknown[],
): Promise<void> {
  const name = given === undefined ? undefined : String(given)
  print(
    () => buildExplainJson(name),
    () => {
      const found = findExplained(name)
      return found.kind === 'readings'
        ? formatReadings(
            found.readings,
            loadAnswers(resolve(io.cwd, options.workspace ?? '.'), io),
            layout,
          )
        : formatExplained(found, layout)
    },
  )
}

/** Loads the answers of readings that a workspace sets; none outside of a valid one. */
function loadAnswers(folder: string, { env }: Pick<Io, 'env'>): JsonObject {
  const root = findRoot(folder)
  const home = root === null ? null : loadSource(findRealPath(root), workspaceFile)
  if (home === null || 'severity' in home) return {}
  const { assume } = parseWorkspaceConfig(home, env).config?.trace ?? {}
  return isObject(assume) ? assume : {}
}

function formatExplained(found: Exclude<Explained, { kind: 'readings' }>, layout: Layout): string {
  switch (found.kind) {
    case 'items':
      return formatOverview(layout)
    case 'policy':
      return formatPolicyHelp(layout.paint, layout.columns)
    case 'item':
      return formatItem(found, layout)
  }
}

function formatOverview({ paint, columns }: Layout): string {
  const width = findMax([...catalogue.keys()].map((key) => key.length))
  const lines = [...catalogue].map(([key, spec]) => {
    const text = wrap(extractFirstSentence(spec), Math.max(40, columns - width - 4), '').split('\n')
    return text
      .map((line, i) => `  ${i === 0 ? paint.bold(key.padEnd(width)) : ' '.repeat(width)}  ${line}`)
      .join('\n')
  })
  const hint = '"edgewise explain ITEM" shows its fields, its rules and an example.'
  return `${lines.join('\n')}\n\n${hint}\n`
}

/**
 * Formats the readings: question, answers, and which one holds; of a single one also what that
 * means.
 *
 * @param own answers that the workspace sets
 */
function formatReadings(
  shown: readonly Reading[],
  own: JsonObject,
  { paint, columns }: Layout,
): string {
  const width = Math.max(40, columns)
  const rows = shown.map(({ name, question, answers, usual, isFavoured, meaning }) => {
    const kinds = {
      checks: 'listed, or a list of all ten checks, with + between them',
      status: 'a status code',
      seconds: 'origin, or a number of seconds',
      zone: 'service, or the name of a time zone',
    }
    const listed = typeof answers === 'string' ? kinds[answers] : answers.join(', ')
    const given = own[name]
    const holds =
      given === undefined
        ? `${usual} holds${isFavoured ? ', by the text' : ''}`
        : `${String(given)} is set in ${workspaceFile}`
    const more = shown.length === 1 && given === undefined ? `\nThat is: ${meaning}.` : ''
    return (
      paint.bold(name.padEnd(5)) +
      wrap(`${question}\n${listed} (${holds})${more}`, width, '     ').trimStart()
    )
  })
  const hint = 'Set another answer with "trace.assume" in edgewise.yaml, or with --assume.'
  return `${rows.join('\n')}\n\n${wrap(hint, width, '')}\n`
}

/** Formats the page of an item or a field; its parts are separated by blank lines. */
function formatItem({ spec, path, field }: ExplainedItem, layout: Layout): string {
  const { paint, columns } = layout
  const { schema } = field
  const name = path.at(-1)
  const fields = formatFields(schema, 1, layout).trimEnd()
  const ofEach = name === undefined && schema.type === 'array' ? ' of each entry' : ''
  const rules = listRules(spec).map(
    (rule) => `\n  - ${wrap(rule.replaceAll('`', ''), columns - 4, '    ').trimStart()}`,
  )
  const example =
    name === undefined
      ? { domain: 'www.example.com', config: { [spec.key]: schema.examples?.[0] ?? null } }
      : { [name]: findExample(spec, path, schema) }
  const parts = [
    paint.bold([spec.key, ...path].join('.')),
    wrap(schema.description ?? '', columns, ''),
    listPageFacts(spec, name, field)
      .map(([title, text]) => {
        const wrapped = wrap(text, columns, ' '.repeat(10)).trimStart()
        return paint.bold(title.padEnd(10)) + wrapped
      })
      .join('\n'),
    ...(fields === '' ? [] : [`${paint.bold('Fields')}${ofEach}\n${fields}`]),
    ...(name === undefined ? [paint.bold('Rules') + rules.join('')] : []),
    `${paint.bold('Example')}\n` +
      stringify(example, { lineWidth: 0 }).trimEnd().replaceAll(/^/gm, '  '),
    ...(name === undefined ? [] : [`"edgewise explain ${spec.key}" shows the whole item.`]),
  ]
  return `${parts.join('\n\n')}\n`
}

/** Lists type, allowed values and more facts of an item or a field. */
function listPageFacts(
  spec: ItemSpec,
  name: string | undefined,
  { schema, required, isOfEntry }: FoundField,
): [title: string, text: string][] {
  const list = (title: string, text: string | null): [string, string][] =>
    text === null ? [] : [[title, text]]
  const type = [...list('Type', nameType(schema)), ...list('Allowed', describeAllowed(schema))]
  if (name === undefined) return [...type, ...list('Stage', spec.stages.join(', '))]
  const fallback = schema.type === 'object' ? null : (describeDefault(schema) ?? 'none')
  return [
    ...type,
    ...list('Default', fallback),
    ...list('Required', required ? `yes${isOfEntry ? ', in each entry' : ''}` : 'no'),
    ...list('Secret', schema.writeOnly === true ? 'yes: write ${secret:NAME}' : null),
  ]
}

/** Formats the fields of an item or a field, and those in them. */
function formatFields(schema: ItemSchema, depth: number, layout: Layout): string {
  const { paint, columns } = layout
  const indent = '  '.repeat(depth)
  const hanging = `${indent}    `
  return listFields(schema)
    .map(([name, field, required]) => {
      const facts = `${name}  ${listFacts(field, required).join('; ')}`
      const head = wrap(facts, columns, hanging).trimStart().slice(name.length)
      const description = wrap(field.description ?? '', columns, hanging)
      const inner = formatFields(field, depth + 2, layout)
      return `${indent}${paint.cyan(name)}${paint.dim(head)}\n${description}\n${inner}`
    })
    .join('')
}

/** Finds an example of a field: its own, that of the item, its default, or its first choice. */
function findExample(spec: ItemSpec, path: string[], schema: ItemSchema): Json {
  const value = schema.examples?.[0] ?? findValue(spec.schema.examples?.[0] ?? null, path)
  if (value !== undefined) return value
  if (schema.type === 'object') return buildObjectExample(spec, path, schema)
  return schema.default ?? schema.enum?.[0] ?? null
}

/** Builds an example with the required fields of an object. */
function buildObjectExample(spec: ItemSpec, path: string[], schema: ItemSchema): Json {
  return Object.fromEntries(
    listFields(schema)
      .filter(([, , required]) => required)
      .map(([name, field]) => [name, findExample(spec, [...path, name], field)]),
  )
}

/** Finds the value at a path; in a list, that of the first entry that has it. */
function findValue(value: Json, path: string[]): Json | undefined {
  const [name, ...rest] = path
  if (name === undefined) return value
  if (Array.isArray(value)) {
    const found = value.map((entry) => findValue(entry, path))
    return found.find((entry) => entry !== undefined)
  }
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
  return findValue(value[name] ?? null, rest)
}
