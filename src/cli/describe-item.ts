import { catalogue, unnamedItems } from '../catalog/catalogue.ts'
import { findExclusions } from '../catalog/conflicts.ts'
import type { DeltaForm, ItemSpec } from '../catalog/item-spec.ts'
import { getAnnotations, type ItemSchema } from '../catalog/value/item-schema.ts'
import { unrecordedState } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { describeDefault, describeType } from './describe-schema.ts'

/** Extracts the first sentence of an item's description. */
export function extractFirstSentence(spec: ItemSpec): string {
  return /^.*?\.(?=\s|$)/s.exec(spec.schema.description ?? '')?.[0] ?? ''
}

/** Lists the facts of a field: type, required, range, default, secret. */
export function listFacts(schema: ItemSchema, required: boolean): string[] {
  return [
    describeType(schema),
    required ? 'required' : null,
    describeRange(schema),
    schema.default === undefined ? describeDefault(schema) : `default ${describeDefault(schema)}`,
    schema.writeOnly === true ? 'secret' : null,
  ].filter((fact) => fact !== null)
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

/** Lists the rules of an item that hold beyond its fields, in sentences with `code`. */
export function listRules(spec: ItemSpec): string[] {
  const grouped = [...catalogue.values()]
    .filter((other) => other.group === spec.group && other !== spec)
    .map((other) => `\`${other.key}\``)
  return [
    ...(unnamedItems.includes(spec.key)
      ? [
          `Its wire name is not documented: configure it under \`service.itemKeys.${spec.key}\` ` +
            'in `edgewise.yaml`.',
        ]
      : []),
    ...findExclusions(spec.key).map(
      ({ other, severity, detail }) =>
        `Together with \`${other}\` it gets ${severity === 'error' ? 'an error' : 'a warning'}: ` +
        detail.replace(/(?<![.!?])$/, '.'),
    ),
    ...spec.clearedItems.map((other) => `Setting it empties \`${other}\`.`),
    ...(spec.keptFields.length > 0
      ? [
          `The service keeps ${spec.keptFields.map((name) => `\`${name}\``).join(' and ')} if a ` +
            'write omits them.',
        ]
      : []),
    spec.unset === undefined
      ? 'The service documents no reset: `{$unset: true}` needs an account with ' +
        '`service.unset`. Removed from a manifest, it is released: the service keeps its value.'
      : `\`{$unset: true}\` resets it${describeReset(spec)}. Removed from a manifest, it is ` +
        'released: the service keeps its value.',
    ...(spec.explainDestructive?.(null)
      ? [`Destructive changes need \`--allow ${spec.key}\`: ${spec.explainDestructive(null)}.`]
      : []),
    ...spec.deltaForms.map((form) => deltaSentences[form]),
    grouped.length === 0
      ? 'It shares a write with no other item (with `grouping.groups: documented`).'
      : `It may share a write with ${grouped.join(', ')}.`,
  ]
}

const deltaSentences: Record<DeltaForm, string> = {
  append: 'Added entries are sent alone (form `append`) if that saves writes.',
  add: 'Added and changed headers are sent alone (form `add`) if that saves writes.',
  remove: 'Removed headers are sent alone (form `remove`) if that saves writes.',
  switch: 'Each write switches entries on or off, and leaves the others (form `switch`).',
}

function describeReset(spec: ItemSpec): string {
  const payload: Json | null = spec.unset?.(unrecordedState, 'www.example.com') ?? null
  return payload === null ? '' : ` by writing \`${JSON.stringify(payload)}\``
}
