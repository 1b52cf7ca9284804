import type { Json } from '../model/json.ts'
import { holdsSecret, isSecret, listSecrets, type Plain, type Text } from '../model/secret.ts'
import { Unknown, type Answer } from './answer.ts'
import type { Facts } from './request.ts'

const part = /\$\{secret:([A-Za-z0-9_.-]{1,64})\}/g

/**
 * Reads a text that may be a secret: `{$secret: NAME}`, or a template such as `Bearer
 * ${secret:NAME}`. Without the fact of its value it is unknown.
 */
export function readText(facts: Facts, value: Text): Answer<string> {
  if (!isSecret(value)) return value
  const names = listSecretNames(value.$secret)
  const isKnown = names.length > 0 && names.every((name) => facts.secrets.has(name))
  if (!isKnown) return readPlain(value)
  const get = (name: string) => facts.secrets.get(name) ?? ''
  return value.$secret.includes('${')
    ? value.$secret.replace(part, (_, name: string) => get(name))
    : get(value.$secret)
}

/** Reads a part of a value; unknown if it has a secret, also one whose value is given. */
export function readPlain<T>(value: T): Answer<Plain<T>> {
  const json = value as Json
  if (typeof json === 'string' || !holdsSecret(json)) return value as Plain<T>
  return new Unknown(
    [...listSecrets([json])].flatMap((secret) => {
      const names = listSecretNames(secret)
      return names.length === 0
        ? ['undecidable literal secret']
        : names.map((name) => `not-given secret:${name}`)
    }),
  )
}

/** Splits a text into entries without blanks; a secret is one entry. */
export function splitText(text: Text, by: string): Text[] {
  if (typeof text !== 'string') return [text]
  return text
    .split(by)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** Lists the names in the reference of a secret; none for a literal one, `literal:…`. */
export function listSecretNames(reference: string): string[] {
  if (reference.includes('${'))
    return [...new Set([...reference.matchAll(part)].map(([, name = '']) => name))]
  return reference.includes(':') ? [] : [reference]
}
