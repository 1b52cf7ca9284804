import { isObject, type Json } from './json.ts'

/**
 * A secret as it stands in snapshots, plans and records: `scrypt:…`, a fingerprint that shows that
 * it changed and not what it is, or `unresolved:NAME` where its value is not at hand.
 */
export interface Secret {
  $secret: string
}

/** True for a string that is kept secret. */
export function isSecret(value: unknown): value is { $secret: string } {
  return isObject(value) && typeof value['$secret'] === 'string' && Object.keys(value).length === 1
}

/** True for a secret whose value is not at hand. */
export function isUnresolved(value: unknown): boolean {
  return isSecret(value) && value.$secret.startsWith('unresolved:')
}

/** A copy of a value in which `replace` was asked about every secret, with its JSON pointer. */
export function mapSecrets(
  value: Json,
  replace: (secret: string, pointer: string) => Json,
  pointer = '',
): Json {
  if (isSecret(value)) return replace(value.$secret, pointer)
  if (Array.isArray(value))
    return value.map((entry, i) => mapSecrets(entry, replace, `${pointer}/${i}`))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      mapSecrets(field, replace, `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
    ]),
  )
}
