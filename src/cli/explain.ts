import { stringify } from 'yaml'
import { catalogue, getItemSpec, unnamedItems } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import { getAnnotations, type ItemSchema } from '../catalog/value/item-schema.ts'
import { findMax } from '../model/append.ts'
import { unrecordedState, type ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Paint } from '../report/text/paint.ts'
import { wrap } from '../report/text/wrap.ts'
import { describeDefault, describeType, listFields } from './describe-schema.ts'
import { exitCodes } from './exit-codes.ts'
import { findField, formatFacts, formatFieldPage } from './explain-field.ts'
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
  const found = path.length === 0 ? null : findField(spec, path)
  const schema = found?.schema ?? spec.schema
  if (options.json === true) io.out(`${JSON.stringify(schema)}\n`)
  else if (found === null) io.out(formatItem(spec, paint, io.columns))
  else {
    const fieldTexts = formatFields(schema, paint, io.columns)
    io.out(formatFieldPage(spec, path, found, fieldTexts, paint, io.columns))
  }
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
  const ofEach = spec.schema.type === 'array' ? ' of each entry' : ''
  const fieldsTitle = `${paint.bold('Fields')}${ofEach}`
  const fieldTexts = formatFields(spec.schema, paint, columns)
  const parts = [
    paint.bold(spec.key),
    wrap(spec.schema.description ?? '', columns, ''),
    formatFacts(spec.schema, [], paint, columns),
    ...(fieldTexts.length === 0 ? [] : [`${fieldsTitle}\n${fieldTexts.join('')}`.trimEnd()]),
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
  const facts = [
    describeType(schema),
    required ? 'required' : null,
    describeRange(schema),
    schema.default === undefined ? describeDefault(schema) : `default ${describeDefault(schema)}`,
    schema.writeOnly === true ? 'secret' : null,
  ]
  const head =
    `${indent}${paint.cyan(name)}  ` + paint.dim(facts.filter((fact) => fact !== null).join(', '))
  const inner = listFields(schema).map(([key, field, needed]) =>
    formatField(key, field, needed, depth + 2, paint, columns),
  )
  return `${head}\n${wrap(schema.description ?? '', columns, `${indent}    `)}\n${inner.join('')}`
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
