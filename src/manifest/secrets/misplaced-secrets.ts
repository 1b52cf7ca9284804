import type { ItemSchema } from '../../core/catalog/value/item-schema.ts'
import { isObject, formatPointerStep, type Json } from '../../core/model/json.ts'
import { isSecret } from '../../core/model/secret.ts'
import type { Finding } from '../manifests/finding.ts'

/**
 * Finds secrets in fields that don't accept free text. Their values are not known yet, so no other
 * check can find them.
 */
export function findMisplacedSecrets(schema: ItemSchema, value: Json, pointer: string): Finding[] {
  if (isSecret(value)) {
    if (schema.type === 'string' && schema.enum === undefined) return []
    const expected =
      schema.enum === undefined
        ? (typeWords[schema.type ?? ''] ?? 'an object with fields')
        : `one of ${schema.enum.map((each) => `"${String(each)}"`).join(', ')}`
    return [
      {
        code: 'secret-invalid',
        pointer,
        summary: 'Secret not allowed here',
        detail:
          `expected ${expected}, got a reference to a secret. A secret is allowed in a text ` +
          'field only.',
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

const typeWords: Record<string, string> = {
  array: 'a list',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object with fields',
}
