import type { ItemSchema } from '../catalog/value/item-schema.ts'
import { isObject, formatPointerStep, type Json } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import type { Finding } from './finding.ts'

/**
 * Secrets that stand where no free text may: their values are not known yet, so nothing else could
 * find them wrong.
 */
export function findMisplacedSecrets(schema: ItemSchema, value: Json, pointer: string): Finding[] {
  if (isSecret(value)) {
    if (schema.type === 'string' && schema.enum === undefined) return []
    const expected =
      schema.enum === undefined
        ? (words[schema.type ?? ''] ?? 'an object with fields')
        : `one of ${schema.enum.map((each) => `"${String(each)}"`).join(', ')}`
    return [
      {
        code: 'secret-invalid',
        pointer,
        summary: "A secret can't stand here",
        detail: `expected ${expected}, got a reference to a secret. Secrets stand for text only.`,
      },
    ]
  }
  if (Array.isArray(value))
    return schema.items === undefined
      ? []
      : value.flatMap((entry, i) =>
          findMisplacedSecrets(schema.items ?? {}, entry, `${pointer}/${i}`),
        )
  if (!isObject(value)) return []
  const fields =
    schema.properties ?? schema.oneOf?.find((choice) => choice.type === 'object')?.properties ?? {}
  return Object.entries(value).flatMap(([key, field]) => {
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined
    return known === undefined
      ? []
      : findMisplacedSecrets(known, field, pointer + formatPointerStep(key))
  })
}

const words: Record<string, string> = {
  array: 'a list',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object with fields',
}
