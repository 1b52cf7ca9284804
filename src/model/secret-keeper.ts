import type { ItemKey, Value, Wire } from './item.ts'
import type { Json } from './json.ts'
import type { Secret } from './secret.ts'

/** Turns strings that are secret into what may be shown; the only place that knows their values. */
export interface SecretKeeper {
  /**
   * The secret that stands for a string with references such as `Bearer ${secret:token}`: its
   * fingerprint where every reference could be resolved, else `unresolved:` and the template.
   */
  maskTemplate(template: string): Secret
  /** The secret that stands for a value written out in a manifest (`allowLiteralSecrets`). */
  maskLiteral(value: string): Secret
  /** Whether an address holds a value that is known by now, in whatever spelling. */
  occursIn(url: string): boolean
}

/**
 * Lists the names in what a secret was made from: a name, or a template around names, as states and
 * unresolved secrets have it.
 */
export function listReferencedNames(reference: string): string[] {
  const names = listSecretNames(reference)
  return names.length === 0 ? [reference] : names
}

/**
 * What an apply needs of the secrets: their values for the wire, and nothing of them anywhere else.
 */
export interface SecretPort {
  /**
   * Returns a payload with the values of its secrets, for the wire only.
   *
   * @throws EdgewiseError `access` when a value is not at hand
   */
  reveal(payload: Wire): Wire
  /** Returns a value that the service returned, with fingerprints in place of secrets. */
  mask(item: ItemKey, value: Json): Json
  /** Whether all secrets of a value could be written out. */
  canReveal(value: Value): boolean
  /** Returns what the secrets of a value were made from, by fingerprint. */
  listTemplates(value: Value): Record<string, string>
}

/** The names of the secrets that a string refers to, in order; none for a plain string. */
export function listSecretNames(text: string): string[] {
  return [...text.matchAll(/\$\{secret:([^}]*)\}/g)].map((match) => match[1] ?? '')
}
