import type { Json } from '../model/json.ts'
import { isSecret } from '../model/secret.ts'
import { Unknown, type Answer } from './answer.ts'
import type { Facts } from './request.ts'

const part = /\$\{secret:([A-Za-z0-9_.-]{1,64})\}/g

/**
 * Reads a text that may be a secret: `{$secret: NAME}`, or a template such as `Bearer
 * ${secret:NAME}`. Without the fact of its value it is unknown.
 */
export function readText(facts: Facts, value: Json | undefined): Answer<string> {
  if (!isSecret(value)) return typeof value === 'string' ? value : ''
  const names = listSecretNames(value.$secret)
  const missing = names.filter((name) => !facts.secrets.has(name))
  if (missing.length > 0) return new Unknown(missing.map((name) => `not-given secret:${name}`))
  const get = (name: string) => facts.secrets.get(name) ?? ''
  return value.$secret.includes('${')
    ? value.$secret.replace(part, (_, name: string) => get(name))
    : get(value.$secret)
}

/** Reads a text that is shown: one with a secret is unknown, also where its value is given. */
export function readShown(value: Json | undefined): Answer<string> {
  if (!isSecret(value)) return typeof value === 'string' ? value : ''
  return new Unknown(listSecretNames(value.$secret).map((name) => `not-given secret:${name}`))
}

/** Lists the names in the reference of a secret. */
export function listSecretNames(reference: string): string[] {
  if (!reference.includes('${')) return [reference]
  return [...new Set([...reference.matchAll(part)].map(([, name = '']) => name))]
}
