import { stringify } from 'yaml'
import { catalogue, getItemSpec } from '../catalog/catalogue.ts'
import type { ItemSpec } from '../catalog/item-spec.ts'
import type { ItemSchema } from '../catalog/value/item-schema.ts'
import { findMax } from '../model/append.ts'
import type { ItemKey } from '../model/item.ts'
import type { Paint } from '../report/text/paint.ts'
import { wrap } from '../report/text/wrap.ts'
import { extractFirstSentence, listFacts, listRules } from './describe-item.ts'
import { listFields } from './describe-schema.ts'
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
  const head = `${indent}${paint.cyan(name)}  ` + paint.dim(listFacts(schema, required).join(', '))
  const inner = listFields(schema).map(([key, field, needed]) =>
    formatField(key, field, needed, depth + 2, paint, columns),
  )
  return `${head}\n${wrap(schema.description ?? '', columns, `${indent}    `)}\n${inner.join('')}`
}
