import { stringify } from 'yaml'
import { catalogue } from '../../core/catalog/catalogue.ts'
import type { ItemSpec } from '../../core/catalog/item-spec.ts'
import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import type { Reading } from '../../core/trace/readings.ts'
import { findMax } from '../../core/model/lists.ts'
import type { ItemKey } from '../../core/model/item.ts'
import type { Paint } from '../../outlets/report/text/paint.ts'
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
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { formatPolicyHelp } from './explain-policy.ts'
import {
  buildExplainJson,
  findField,
  findReadings,
  parseItemName,
  type FoundField,
} from './explain-json.ts'
import { formatJson, isObject, type Json } from '../../core/model/json.ts'

/** `edgewise explain`: lists all items, or describes one item or one field. */
export async function explain(
  { io, options, paint }: CommandContext,
  [given]: unknown[],
): Promise<number> {
  const name = given === undefined ? undefined : String(given)
  io.out(
    options.json === true
      ? formatJson(buildExplainJson(name))
      : formatExplained(name, paint, io.columns),
  )
  return exitCodes.done
}

function formatExplained(name: string | undefined, paint: Paint, columns: number): string {
  if (name === undefined) return formatOverview(paint, columns)
  if (name === 'policy') return formatPolicyHelp(paint, columns)
  const shown = findReadings(name)
  if (shown.length > 0) return formatReadings(shown, paint, columns)
  const { spec, path } = parseItemName(name)
  if (path.length === 0) return formatItem(spec, paint, columns)
  const found = findField(spec, path)
  const fieldTexts = formatFields(found.schema, paint, columns)
  return formatFieldPage(spec, path, found, fieldTexts, paint, columns)
}

function formatOverview(paint: Paint, columns: number): string {
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

/** Formats the readings: question, answers, and which one holds without a setting. */
function formatReadings(shown: readonly Reading[], paint: Paint, columns: number): string {
  const width = Math.max(40, columns)
  const rows = shown.map(({ name, question, answers, favoured, usual }) => {
    const kinds = {
      checks: 'a list of all ten checks, with + between them',
      status: 'a status code',
      seconds: 'a number of seconds',
      zone: 'service, or the name of a time zone',
    }
    const listed = typeof answers === 'string' ? kinds[answers] : answers.join(', ')
    const marks = [
      ...(favoured === null ? [] : [`by the text: ${favoured}`]),
      ...(usual === null ? [] : [`usual: ${usual}`]),
      ...(favoured === null && usual === null ? ['open'] : []),
    ]
    const text = `${question}\n${listed} (${marks.join('; ')})`
    return paint.bold(name.padEnd(5)) + wrap(text, width, '     ').trimStart()
  })
  const hint =
    'Settle one with "trace.assume" in edgewise.yaml, or with --assume; "unspecified" opens ' +
    'one. The preset "usual" holds unless --strict or "trace.preset: strict".'
  return `${rows.join('\n')}\n\n${wrap(hint, width, '')}\n`
}

function formatItem(spec: ItemSpec, paint: Paint, columns: number): string {
  const ofEach = spec.schema.type === 'array' ? ' of each entry' : ''
  const fieldsTitle = `${paint.bold('Fields')}${ofEach}`
  const fieldTexts = formatFields(spec.schema, paint, columns)
  const parts = [
    paint.bold(spec.key),
    wrap(spec.schema.description ?? '', columns, ''),
    formatFacts(spec.schema, [['Stage', spec.stages.join(', ')]], paint, columns),
    ...(fieldTexts.length === 0 ? [] : [`${fieldsTitle}\n${fieldTexts.join('')}`.trimEnd()]),
    `${paint.bold('Rules')}\n${listRules(spec)
      .map((rule) => `  - ${wrap(rule.replaceAll('`', ''), columns - 4, '    ').trimStart()}`)
      .join('\n')}`,
    `${paint.bold('Example')}\n${formatExample(spec.key, spec.schema)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function formatExample(key: ItemKey, schema: ItemSchema): string {
  const document = { domain: 'www.example.com', config: { [key]: schema.examples?.[0] ?? null } }
  return stringify(document, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

function formatFields(schema: ItemSchema, paint: Paint, columns: number): string[] {
  return listFields(schema).map(([name, field, required]) =>
    formatField(name, field, required, 1, paint, columns),
  )
}

function formatField(
  name: string,
  schema: ItemSchema,
  required: boolean,
  depth: number,
  paint: Paint,
  columns: number,
): string {
  const indent = '  '.repeat(depth)
  const facts = `${name}  ${listFacts(schema, required).join('; ')}`
  const hanging = `${indent}    `
  const head = wrap(facts, columns, hanging).trimStart().slice(name.length)
  const description = wrap(schema.description ?? '', columns, hanging)
  const inner = listFields(schema).map(([key, field, needed]) =>
    formatField(key, field, needed, depth + 2, paint, columns),
  )
  return `${indent}${paint.cyan(name)}${paint.dim(head)}\n${description}\n${inner.join('')}`
}

/** Formats type and allowed values of an item or a field, and more facts, one a line. */
function formatFacts(
  schema: ItemSchema,
  more: [name: string, text: string][],
  paint: Paint,
  columns: number,
): string {
  const allowed = describeAllowed(schema)
  const facts: [string, string][] = [
    ['Type', nameType(schema)],
    ...(allowed === null ? [] : [['Allowed', allowed] satisfies [string, string]]),
    ...more,
  ]
  const indent = ' '.repeat(10)
  return facts
    .map(([name, text]) => paint.bold(name.padEnd(10)) + wrap(text, columns, indent).trimStart())
    .join('\n')
}

/** Formats the page of one field; the parts are separated by blank lines. */
function formatFieldPage(
  spec: ItemSpec,
  path: string[],
  { schema, required, isOfEntry }: FoundField,
  fieldTexts: string[],
  paint: Paint,
  columns: number,
): string {
  const need = required ? `yes${isOfEntry ? ', in each entry' : ''}` : 'no'
  const facts: [string, string][] = [
    ...(schema.type === 'object'
      ? []
      : [['Default', describeDefault(schema) ?? 'none'] satisfies [string, string]]),
    ['Required', need],
    ...(schema.writeOnly === true
      ? [['Secret', 'yes: write ${secret:NAME}'] satisfies [string, string]]
      : []),
  ]
  const name = path.at(-1) ?? ''
  const example = stringify({ [name]: findExample(spec, path, schema) }, { lineWidth: 0 })
  const parts = [
    paint.bold([spec.key, ...path].join('.')),
    wrap(schema.description ?? '', columns, ''),
    formatFacts(schema, facts, paint, columns),
    ...(fieldTexts.length === 0
      ? []
      : [`${paint.bold('Fields')}\n${fieldTexts.join('')}`.trimEnd()]),
    `${paint.bold('Example')}\n${example.trimEnd().replaceAll(/^/gm, '  ')}`,
    `"edgewise explain ${spec.key}" shows the whole item.`,
  ]
  return `${parts.join('\n\n')}\n`
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
