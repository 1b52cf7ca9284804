import { joinAlternatives, typeWords } from '../../core/catalog/value/schema-problems.ts'
import { listLeaves, type ItemSchema } from '../../core/catalog/value/item-schema.ts'
import type { Json } from '../../core/model/json.ts'
import { isSecret } from '../../core/model/secret.ts'
import type { Finding } from '../manifests/finding.ts'

/**
 * Finds secrets in fields that don't accept free text. Their values are not known yet, so no other
 * check can find them.
 */
export function findMisplacedSecrets(root: ItemSchema, item: Json, pointer: string): Finding[] {
  return listLeaves(root, item, pointer).flatMap(({ schema, value, pointer: at }): Finding[] => {
    if (!isSecret(value) || (schema.type === 'string' && schema.enum === undefined)) return []
    const expected =
      schema.enum === undefined
        ? (typeWords[schema.type ?? ''] ?? 'an object with fields')
        : joinAlternatives(schema.enum.map(String))
    return [
      {
        code: 'secret-invalid',
        pointer: at,
        summary: 'Secret not allowed here',
        detail:
          `expected ${expected}, got a reference to a secret. A secret is allowed in a text ` +
          'field only.',
      },
    ]
  })
}
