import { isObject, type Json } from './json.ts'

/**
 * A secret in snapshots, plans and state: `scrypt:…`, a fingerprint that shows that it changed and
 * not its value, or `unresolved:NAME` if its value is unavailable.
 */
export interface Secret {
  $secret: string
}

/** Reports whether a value is a masked secret. */
export function isSecret(value: unknown): value is { $secret: string } {
  return isObject(value) && typeof value['$secret'] === 'string' && Object.keys(value).length === 1
}

/** Reports whether a value is a secret whose value is unavailable. */
export function isUnresolved(value: unknown): boolean {
  return isSecret(value) && value.$secret.startsWith('unresolved:')
}

/** Copies a value and replaces every secret in it; `replace` gets its JSON pointer too. */
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
