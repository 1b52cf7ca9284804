import { isObject, type Json } from './json.ts'

/**
 * A secret in snapshots, plans and state: `scrypt:s1:…` (`scrypt:…` of earlier versions), a
 * fingerprint that shows that it changed and not its value; `unresolved:NAME` if its value is
 * unavailable; in plans also `new:NAME` as long as state has no salt for fingerprints.
 */
export interface Secret {
  $secret: string
}

const unresolved = 'unresolved:'
const fresh = 'new:'

/** Replaces a foreign text that may quote a secret in a form that is not recognized. */
export const withheldMessage = '(message withheld: may quote a secret)'

/**
 * Length of a foreign text in which secrets are looked for before it is shortened for a message. It
 * is longer than such a message, so that no secret is cut where the message ends.
 */
export const maxSearchedLength = 50_000

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

/** Creates the new secret of a reference. */
export function createNew(reference: string): Secret {
  return { $secret: fresh + reference }
}

/** Returns the reference of a new secret; null for others. */
export function findNewReference(secret: string): string | null {
  return secret.startsWith(fresh) ? secret.slice(fresh.length) : null
}

/** Lists the secrets in values. */
export function listSecrets(values: Iterable<Json>): Set<string> {
  const secrets = new Set<string>()
  for (const value of values)
    mapSecrets(value, (secret) => {
      secrets.add(secret)
      return null
    })
  return secrets
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

/** Finds the template of a secret; its text may be that of a property which every object has. */
export function findTemplate(
  templates: Readonly<Record<string, string>> | undefined,
  secret: string,
): string | undefined {
  return templates !== undefined && Object.hasOwn(templates, secret) ? templates[secret] : undefined
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
