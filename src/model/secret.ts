import { isObject, type Json } from './json.ts'

/**
 * A secret in snapshots, plans and state: `scrypt:…`, a fingerprint that shows that it changed and
 * not its value, or `unresolved:NAME` if its value is unavailable.
 */
export interface Secret {
  $secret: string
}

const unresolved = 'unresolved:'

/** Replaces a foreign text that may quote a secret in a form that can't be recognised. */
export const withheldMessage = '(message withheld: may quote a secret)'

/** Reports whether a value is a masked secret. */
export function isSecret(value: unknown): value is { $secret: string } {
  return isObject(value) && typeof value['$secret'] === 'string' && Object.keys(value).length === 1
}

/** Returns the reference of an unresolved secret: a name, or a template; null for others. */
export function findReference(secret: string): string | null {
  return secret.startsWith(unresolved) ? secret.slice(unresolved.length) : null
}

/** Creates the unresolved secret of a reference. */
export function createUnresolved(reference: string): Secret {
  return { $secret: unresolved + reference }
}

/** Reports whether a value contains a secret. */
export function holdsSecret(value: Json): boolean {
  if (isSecret(value)) return true
  if (Array.isArray(value)) return value.some(holdsSecret)
  return isObject(value) && Object.values(value).some(holdsSecret)
}

/** Reports whether a value contains an unresolved secret. */
export function holdsUnresolved(value: Json): boolean {
  if (isSecret(value)) return findReference(value.$secret) !== null
  if (Array.isArray(value)) return value.some(holdsUnresolved)
  return isObject(value) && Object.values(value).some(holdsUnresolved)
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
