import type { ForeignText } from './text/text-makers.ts'
import { isObject, mapParts, type Json } from './json.ts'
import type { PlacedText } from './config.ts'
import type { ItemKey, Value, Wire } from './item.ts'

/**
 * A secret in snapshots, plans and state: `scrypt:…`, a fingerprint that shows that it changed and
 * not its value; `unresolved:NAME` if its value is unavailable; in plans also `new:NAME` as long as
 * state has no salt for fingerprints.
 */
export type Secret = { $secret: string }

/** A text of an item, or the secret that stands for it; no function takes it for a text. */
export type Text = string | Secret

/** The same without secrets. */
export type Plain<T> = T extends Secret ? never : { [Key in keyof T]: Plain<T[Key]> }

const unresolved = 'unresolved:'
const fresh = 'new:'

/** Hides the secrets that a process knows. */
export interface SecretHider {
  /**
   * Removes secrets and parts of them from a text of others, in any form; withholds the text if
   * that can't be done. It says whether the text has a part of a secret, so the text may have
   * nothing of who reads the result, except an echo of what was sent.
   *
   * @param sent texts that the others were sent: a part of a secret that they have is an echo
   */
  scrub(text: ForeignText, sent?: readonly string[]): string
  /** Replaces whole secrets in any text, also one of who asks: it says nothing about parts. */
  redact(text: string): string
}

/** Replaces a foreign text that may quote a secret in a form that is not recognized. */
export const withheldMessage = '(message withheld: may quote a secret)'

/**
 * Length of a foreign text in which secrets are looked for before it is shortened for a message. It
 * is longer than such a message, so that no secret is cut where the message ends.
 */
export const maxSearchedLength = 50_000

/** Reports whether a value is a masked secret. */
export function isSecret(value: unknown): value is Secret {
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
  for (const value of values) collectSecrets(value, secrets)
  return secrets
}

function collectSecrets(value: Json, found: Set<string>): void {
  if (typeof value !== 'object' || value === null) return
  if (isSecret(value)) found.add(value.$secret)
  else for (const part of Object.values(value)) collectSecrets(part, found)
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
  return mapParts(value, pointer, (part, at) => mapSecrets(part, replace, at))
}

/** Masks secret strings; the only place that knows their values. */
export interface SecretKeeper {
  /**
   * Returns the secret for a string with references, such as `Bearer ${secret:token}`: its
   * fingerprint if every reference is resolved, else `unresolved:` and the template.
   */
  maskTemplate(template: string): Secret
  /** Returns the secret for a literal value of a manifest (`allowLiteralSecrets`). */
  maskLiteral(value: string): Secret
  /** Reports whether a text contains the known value of a secret, in any spelling. */
  occursIn(text: PlacedText): boolean
}

/**
 * Lists the names in the source of a secret: a name, or a template around names, as stored in
 * states and unresolved secrets.
 */
export function listReferencedNames(reference: string): string[] {
  const names = listSecretNames(reference)
  return names.length === 0 ? [reference] : names
}

/** The secrets of an apply: their values for the wire, and masks for everything else. */
export interface SecretPort {
  /**
   * Returns a payload with the values of its secrets, for the wire only.
   *
   * @throws EdgewiseError `access` if a value is unavailable
   */
  reveal(payload: Wire): Wire
  /**
   * Returns a value from the service with fingerprints in place of the secrets that were sent, for
   * comparison in memory. It may still have secrets in other forms.
   *
   * @param models values of the item that may have secrets: what was sent or recorded
   */
  recognize(item: ItemKey, value: Json, models: Value[]): Json
  /**
   * Returns a value from the service with fingerprints in place of everything that may be a secret,
   * in any form.
   *
   * @param models as for `recognize`
   */
  maskAnswer(item: ItemKey, value: Json, models: Value[]): Json
  /** Reports whether `reveal` can resolve all secrets of a value. */
  canReveal(value: Value): boolean
  /** Lists the sources of the secrets of a value, by fingerprint. */
  listTemplates(value: Value): Record<string, string>
}

/** Lists the names of the secrets that a string refers to, in order; none for a plain string. */
export function listSecretNames(text: string): string[] {
  return [...text.matchAll(/\$\{secret:([^{}]*)\}/g)].map((match) => match[1] ?? '')
}
