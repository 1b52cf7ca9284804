import type { PlacedText } from './config.ts'
import type { ItemKey, Value, Wire } from './item.ts'
import type { Json } from './json.ts'
import type { Secret } from './secret.ts'

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
