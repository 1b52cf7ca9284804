import { stringify } from 'yaml'
import { catalogue, getItemSpec, unnamedItems } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { getAnnotations, type ItemSchema } from '../catalog/value/item-schema.ts'
import { didYouMean } from '../catalog/value/nearest.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { unrecordedState, type ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Paint } from '../report/text/paint.ts'
import { wrap } from '../report/text/wrap.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { refuseUnknownItems } from '../operations/refuse-unknown-items.ts'

/**
 * `edgewise explain`: all items in a line each, one item with its fields and an example, or one
 * field.
 */
export async function explain(
  { io, options, paint }: CommandContext,
  [name]: unknown[],
): Promise<number> {
  if (name === undefined) {
    io.out(
      options.json === true
        ? `${JSON.stringify(Object.fromEntries([...catalogue].map(([key, spec]) => [key, firstSentence(spec)])))}\n`
        : overview(paint, io.columns),
    )
    return exitCodes.done
  }
  const [key = '', ...path] = String(name).split('.')
  refuseUnknownItems([key])
  const spec = getItemSpec(key)
  const schema = fieldAt(spec, path)
  if (options.json === true) io.out(`${JSON.stringify(schema)}\n`)
  else
    io.out(
      path.length === 0
        ? itemText(spec, paint, io.columns)
        : fieldText(path.at(-1) ?? '', schema, false, 0, paint, io.columns),
    )
  return exitCodes.done
}

function overview(paint: Paint, columns: number): string {
  const width = Math.max(...[...catalogue.keys()].map((key) => key.length))
  const lines = [...catalogue].map(([key, spec]) => {
    const text = wrap(firstSentence(spec), Math.max(40, columns - width - 4), '').split('\n')
    return text
      .map((line, i) => `  ${i === 0 ? paint.bold(key.padEnd(width)) : ' '.repeat(width)}  ${line}`)
      .join('\n')
  })
  return `${lines.join('\n')}\n\n"edgewise explain ITEM" tells the fields, the rules and an example.\n`
}

function firstSentence(spec: ItemSpec): string {
  return /^.*?\.(?=\s|$)/s.exec(spec.schema.description ?? '')?.[0] ?? ''
}

function itemText(spec: ItemSpec, paint: Paint, columns: number): string {
  const fields = fieldsOf(spec.schema)
  const parts = [
    paint.bold(spec.key),
    wrap(spec.schema.description ?? '', columns, ''),
    ...(fields.length === 0
      ? []
      : [
          `${paint.bold('Fields')}${spec.schema.type === 'array' ? ` of each entry` : ''}\n${fields.map(([name, field, required]) => fieldText(name, field, required, 1, paint, columns)).join('')}`.trimEnd(),
        ]),
    `${paint.bold('Rules')}\n${rulesOf(spec)
      .map((rule) => `  - ${wrap(rule, columns - 4, '    ').trimStart()}`)
      .join('\n')}`,
    `${paint.bold('Example')}\n${exampleOf(spec.key, spec.schema)}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function exampleOf(key: ItemKey, schema: ItemSchema): string {
  const document = { domain: 'www.example.com', config: { [key]: schema.examples?.[0] ?? null } }
  return stringify(document, { lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}

function fieldText(
  name: string,
  schema: ItemSchema,
  required: boolean,
  depth: number,
  paint: Paint,
  columns: number,
): string {
  const indent = '  '.repeat(depth)
  const facts = [
    typeWords(schema),
    required ? 'required' : null,
    rangeWords(schema),
    defaultWords(schema),
    schema.writeOnly === true ? 'secret' : null,
  ]
  const head = `${indent}${paint.cyan(name)}  ${paint.dim(facts.filter((fact) => fact !== null).join(', '))}`
  const inner = fieldsOf(schema).map(([key, field, needed]) =>
    fieldText(key, field, needed, depth + 2, paint, columns),
  )
  return `${head}\n${wrap(schema.description ?? '', columns, `${indent}    `)}\n${inner.join('')}`
}

/** The fields of an object, or of the objects in a list; with whether each is required. */
function fieldsOf(schema: ItemSchema): [string, ItemSchema, boolean][] {
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

function typeWords(schema: ItemSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ')
  const { list } = getAnnotations(schema)
  if (list !== undefined)
    return list === 'comma' ? 'list (or text with commas)' : 'list (or text with line breaks)'
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

function rangeWords(schema: ItemSchema): string | null {
  const [least, most] = getAnnotations(schema).range ?? [
    schema.minimum ?? null,
    schema.maximum ?? null,
  ]
  if (schema.maxItems !== undefined) return `at most ${schema.maxItems} entries`
  if (schema.exclusiveMinimum !== undefined) return `over ${schema.exclusiveMinimum}`
  if (least === null && most === null) return null
  return most === null ? `at least ${least}` : `${least ?? 0} to ${most}`
}

function defaultWords(schema: ItemSchema): string | null {
  if (getAnnotations(schema).keeps === true) return 'unchanged when left out'
  return schema.default === undefined
    ? null
    : `default ${schema.default === '' ? 'empty' : String(schema.default)}`
}

function rulesOf(spec: ItemSpec): string[] {
  const grouped = [...catalogue.values()]
    .filter((other) => other.group === spec.group && other !== spec)
    .map((other) => other.key)
  return [
    ...(unnamedItems.includes(spec.key)
      ? [
          `The service's name of this item is not documented: say it in edgewise.yaml under service.itemKeys.${spec.key}.`,
        ]
      : []),
    ...spec.clearedItems.map((other) => `Setting it empties ${other}.`),
    ...(spec.keptFields.length > 0
      ? [`The service leaves ${spec.keptFields.join(' and ')} alone when a write omits them.`]
      : []),
    spec.unset === undefined
      ? 'There is no documented way to unset it: taken out of a manifest it is released and stays as it is at the service.'
      : `{$unset: true} takes it back${wayBack(spec)}; taken out of a manifest it is released and stays as it is.`,
    ...(spec.explainDestructive?.(null)
      ? [
          `apply makes some of its changes only with --allow ${spec.key}: ${spec.explainDestructive(null)}.`,
        ]
      : []),
    grouped.length === 0
      ? 'It travels alone in a write (with "grouping.groups: documented").'
      : `It may travel in one write with ${grouped.join(', ')}.`,
  ]
}

function wayBack(spec: ItemSpec): string {
  const payload: Json | null = spec.unset?.(unrecordedState, 'www.example.com') ?? null
  return payload === null ? '' : ` by writing ${JSON.stringify(payload)}`
}

function fieldAt(spec: ItemSpec, path: string[]): ItemSchema {
  return path.reduce<ItemSchema>((schema, step) => {
    const fields = fieldsOf(schema)
    const found = fields.find(([name]) => name === step)
    if (found !== undefined) return found[1]
    const names = fields.map(([name]) => name)
    const hint =
      didYouMean(step, names) || (names.length === 0 ? '' : ` It has: ${names.join(', ')}.`)
    throw new EdgewiseError(
      'usage',
      `${spec.key} has no field "${step}" there.${hint}`,
      `"edgewise explain ${spec.key}" lists its fields.`,
    )
  }, spec.schema)
}
