import { stringify } from 'yaml'
import { catalogue, getItemSpec, unnamedItems } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { getAnnotations, type ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { findMax } from '../model/append.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { unrecordedState, type ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Paint } from '../report/text/paint.ts'
import { wrap } from '../report/text/wrap.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { refuseUnknownItems } from '../operations/refuse-unknown-items.ts'

/** `edgewise explain`: lists all items, or describes one item or one field. */
export async function explain(
  { io, options, paint }: CommandContext,
  [name]: unknown[],
): Promise<number> {
  if (name === undefined) {
    const sentences = [...catalogue].map(([key, spec]) => [key, extractFirstSentence(spec)])
    io.out(
      options.json === true
        ? `${JSON.stringify(Object.fromEntries(sentences))}\n`
        : formatOverview(paint, io.columns),
    )
    return exitCodes.done
  }
  const [key = '', ...path] = String(name).split('.')
  refuseUnknownItems([key])
  const spec = getItemSpec(key)
  const schema = findField(spec, path)
  if (options.json === true) io.out(`${JSON.stringify(schema)}\n`)
  else
    io.out(
      path.length === 0
        ? formatItem(spec, paint, io.columns)
        : formatField(path.at(-1) ?? '', schema, false, 0, paint, io.columns),
    )
  return exitCodes.done
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

function extractFirstSentence(spec: ItemSpec): string {
  return /^.*?\.(?=\s|$)/s.exec(spec.schema.description ?? '')?.[0] ?? ''
}

function formatItem(spec: ItemSpec, paint: Paint, columns: number): string {
  const fields = listFields(spec.schema)
  const ofEach = spec.schema.type === 'array' ? ' of each entry' : ''
  const fieldsTitle = `${paint.bold('Fields')}${ofEach}`
  const fieldTexts = fields.map(([name, field, required]) =>
    formatField(name, field, required, 1, paint, columns),
  )
  const parts = [
    paint.bold(spec.key),
    wrap(spec.schema.description ?? '', columns, ''),
    ...(fields.length === 0 ? [] : [`${fieldsTitle}\n${fieldTexts.join('')}`.trimEnd()]),
    `${paint.bold('Rules')}\n${listRules(spec)
      .map((rule) => `  - ${wrap(rule, columns - 4, '    ').trimStart()}`)
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

function formatField(
  name: string,
  schema: ItemSchema,
  required: boolean,
  depth: number,
  paint: Paint,
  columns: number,
): string {
  const indent = '  '.repeat(depth)
  const facts = [
    describeType(schema),
    required ? 'required' : null,
    describeRange(schema),
    describeDefault(schema),
    schema.writeOnly === true ? 'secret' : null,
  ]
  const head =
    `${indent}${paint.cyan(name)}  ` + paint.dim(facts.filter((fact) => fact !== null).join(', '))
  const inner = listFields(schema).map(([key, field, needed]) =>
    formatField(key, field, needed, depth + 2, paint, columns),
  )
  return `${head}\n${wrap(schema.description ?? '', columns, `${indent}    `)}\n${inner.join('')}`
}

/** Lists the fields of an object, or of the objects in a list: name, schema, required. */
function listFields(schema: ItemSchema): [string, ItemSchema, boolean][] {
  const holder =
    schema.items === undefined
      ? schema
      : (schema.items.oneOf?.find((choice) => choice.type === 'object') ?? schema.items)
  return Object.entries(holder.properties ?? {}).map(([name, field]) => [
    name,
    field,
    holder.required?.includes(name) === true,
  ])
}

function describeType(schema: ItemSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ')
  const { list } = getAnnotations(schema)
  if (list !== undefined)
    return list === 'comma'
      ? 'list (or comma-separated text)'
      : 'list (or text with one entry per line)'
  if (schema.type === 'array')
    return schema.items?.enum === undefined
      ? 'list'
      : `list of ${schema.items.enum.map(String).join(' | ')}`
  return (
    { integer: 'whole number', string: 'text', boolean: 'true | false', object: 'object' }[
      schema.type ?? 'string'
    ] ?? 'value'
  )
}

function describeRange(schema: ItemSchema): string | null {
  const [min, max] = getAnnotations(schema).range ?? [
    schema.minimum ?? null,
    schema.maximum ?? null,
  ]
  if (schema.maxItems !== undefined) return `at most ${schema.maxItems} entries`
  if (schema.exclusiveMinimum !== undefined) return `over ${schema.exclusiveMinimum}`
  if (min === null && max === null) return null
  return max === null ? `at least ${min}` : `${min ?? 0} to ${max}`
}

function describeDefault(schema: ItemSchema): string | null {
  if (getAnnotations(schema).keeps === true) return 'unchanged if omitted'
  return schema.default === undefined
    ? null
    : `default ${schema.default === '' ? 'empty' : String(schema.default)}`
}

function listRules(spec: ItemSpec): string[] {
  const grouped = [...catalogue.values()]
    .filter((other) => other.group === spec.group && other !== spec)
    .map((other) => other.key)
  return [
    ...(unnamedItems.includes(spec.key)
      ? [
          `Its wire name is not documented: configure it under service.itemKeys.${spec.key} ` +
            'in edgewise.yaml.',
        ]
      : []),
    ...spec.clearedItems.map((other) => `Setting it empties ${other}.`),
    ...(spec.keptFields.length > 0
      ? [`The service keeps ${spec.keptFields.join(' and ')} if a write omits them.`]
      : []),
    spec.unset === undefined
      ? 'The service documents no reset. Removed from a manifest, it is released: the service ' +
        'keeps its value.'
      : `{$unset: true} resets it${describeReset(spec)}. Removed from a manifest, it is ` +
        'released: the service keeps its value.',
    ...(spec.explainDestructive?.(null)
      ? [`Destructive changes need --allow ${spec.key}: ${spec.explainDestructive(null)}.`]
      : []),
    grouped.length === 0
      ? 'It shares a write with no other item (with "grouping.groups: documented").'
      : `It may share a write with ${grouped.join(', ')}.`,
  ]
}

function describeReset(spec: ItemSpec): string {
  const payload: Json | null = spec.unset?.(unrecordedState, 'www.example.com') ?? null
  return payload === null ? '' : ` by writing ${JSON.stringify(payload)}`
}

function findField(spec: ItemSpec, path: string[]): ItemSchema {
  return path.reduce<ItemSchema>((schema, step) => {
    const fields = listFields(schema)
    const found = fields.find(([name]) => name === step)
    if (found !== undefined) return found[1]
    const names = fields.map(([name]) => name)
    const hint =
      didYouMean(step, names) || (names.length === 0 ? '' : ` It has: ${names.join(', ')}.`)
    throw new EdgewiseError(
      'usage',
      `${spec.key} has no field "${step}".${hint}`,
      `"edgewise explain ${spec.key}" lists its fields.`,
    )
  }, spec.schema)
}
