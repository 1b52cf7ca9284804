import { getItemSpec } from '../catalog/catalogue.ts'
import { findSecretFields } from '../catalog/parse-item.ts'
import { listFieldNames } from '../catalog/value/item-schema.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { createUnresolved, findReference, mapSecrets, type Secret } from '../model/secret.ts'
import {
  listReferencedNames,
  listSecretNames,
  type SecretKeeper,
  type SecretPort,
} from '../model/secret-keeper.ts'
import { SecretFingerprints } from './secret-fingerprints.ts'
import type { SecretSources } from './secret-sources.ts'
import { holdsValue } from './service-address.ts'
import { listSpellings } from './spellings.ts'

/**
 * Minimum length of a secret to look for inside other texts; a shorter one would match too often.
 */
const minLength = 4

/** Commands that print values of secrets. */
export type SecretPrograms = Omit<SecretSources, 'lookUp'>

const noPrograms: SecretPrograms = {
  isCommand: () => false,
  explain: () => 'its value is not known',
  run: (name) => Promise.reject(new TypeError(`expected a command for the secret ${name}`)),
}

/**
 * Keeps the values of secrets; nothing else knows them. They exist in memory only. Everything else
 * sees a scrypt fingerprint salted with the workspace's id, so that plans are reproducible and a
 * changed value is detected.
 */
export class SecretVault implements SecretKeeper, SecretPort {
  readonly #lookUp: (name: string) => string | null
  readonly #values = new Map<string, string | null>()
  readonly #fingerprints: SecretFingerprints
  /** Fingerprint → its reference: a name, or a template with names. */
  readonly #templates = new Map<string, string>()
  readonly #unresolved = new Set<string>()
  readonly #hidden = new Set<string>()
  readonly #spellings = new Map<string, string[]>()
  readonly #programs: SecretPrograms

  /**
   * @param lookUp returns the value of a secret, or null if it is not available
   * @param programs commands for values that are not available
   */
  constructor(id: string, lookUp: (name: string) => string | null, programs = noPrograms) {
    this.#fingerprints = new SecretFingerprints(`edgewise ${id}`)
    this.#lookUp = lookUp
    this.#programs = programs
  }

  /** Lists the names in a reference (a name, or a template) whose values are not available. */
  listMissing(reference: string): string[] {
    return listReferencedNames(reference).filter((name) => this.#lookUpValue(name) === null)
  }

  /** Tests whether the value of a secret comes from a command, which runs after consent. */
  isCommand(name: string): boolean {
    return this.#programs.isCommand(name)
  }

  /** Explains in a clause why the value of a secret is not available. */
  explain(name: string): string {
    return this.#programs.explain(name)
  }

  /**
   * Runs the commands of these secrets, each once per process. Only allowed after consent to writes
   * that contain them.
   *
   * @throws EdgewiseError `access` if one of them fails or prints nothing
   */
  async obtain(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const name of new Set(names)) {
      if (this.#lookUpValue(name) !== null) continue
      this.#values.set(name, await this.#programs.run(name, signal))
      this.#unresolved.delete(name)
    }
  }

  /** Returns the secret of a reference: a name, or a template with names. */
  resolve(reference: string): Secret {
    return this.maskTemplate(reference.includes('${') ? reference : `\${secret:${reference}}`)
  }

  /**
   * Returns the unresolved secret of a template, and looks its values up, so that they are masked
   * everywhere from now on.
   */
  refer(template: string): Secret {
    this.maskTemplate(template)
    return createUnresolved(shorten(template))
  }

  /** Tests whether the values of all secrets in a value are available. */
  canReveal(value: Value): boolean {
    let isComplete = true
    mapSecrets(value, (secret) => {
      isComplete &&= this.#fingerprints.has(secret)
      return null
    })
    return isComplete
  }

  maskTemplate(template: string): Secret {
    const names = listSecretNames(template)
    const values = names.map((name) => this.#lookUpValue(name))
    if (values.includes(null)) {
      for (const name of names) if (this.#lookUpValue(name) === null) this.#unresolved.add(name)
      return createUnresolved(shorten(template))
    }
    const fullText = template.replace(
      /\$\{secret:([^}]*)\}/g,
      (_, name: string) => this.#lookUpValue(name) ?? '',
    )
    const fingerprint = this.#fingerprints.compute(fullText, values as string[])
    this.#templates.set(fingerprint, shorten(template))
    return { $secret: fingerprint }
  }

  maskLiteral(value: string): Secret {
    return { $secret: this.#fingerprints.compute(value, [value]) }
  }

  /**
   * Treats a value as secret that no manifest refers to, such as the token. Short values are
   * ignored, since they could be a part of anything.
   */
  hide(value: string): void {
    if (value.length >= 8) this.#hidden.add(value)
  }

  occursIn(url: string): boolean {
    return url !== 'emulator' && holdsValue(url, this.#listKnownValues())
  }

  /** Lists the secrets that were referred to and are not available. */
  listUnresolved(): string[] {
    return [...this.#unresolved].toSorted()
  }

  /** Tests whether the string of a fingerprint is available. */
  knows(fingerprint: string): boolean {
    return this.#fingerprints.has(fingerprint)
  }

  /** Returns the references of the secrets in a value, by fingerprint. */
  listTemplates(value: Value): Record<string, string> {
    const templates: Record<string, string> = {}
    mapSecrets(value, (secret) => {
      const template = this.#templates.get(secret)
      if (template !== undefined) templates[secret] = template
      return null
    })
    return templates
  }

  /**
   * Replaces the secrets in a value with their strings, for the wire only.
   *
   * @throws EdgewiseError `access` if one of them is not available
   */
  reveal(value: Value): Json {
    return mapSecrets(value, (secret) => {
      const known = this.#fingerprints.findText(secret)
      if (known !== undefined) return known
      const reference = findReference(secret)
      const name = reference === null ? 'a recorded secret' : `the secret ${reference}`
      throw new EdgewiseError(
        'access',
        `the value of ${name} is not available`,
        'Provide it through its source under "secrets" in edgewise.yaml.',
      )
    })
  }

  /**
   * Replaces secrets in a value that the service returned with fingerprints: every secret field,
   * and every text with a known secret in any spelling. Unknown field names are scrubbed too.
   */
  mask(item: ItemKey, value: Json): Json {
    const always = new Set(findSecretFields(getItemSpec(item), value).map((field) => field.pointer))
    const names = listFieldNames(getItemSpec(item).schema)
    const spellings = this.#listKnownValues().flatMap((secret) => this.#listSpellings(secret))
    const maskNode = (node: Json, pointer: string): Json => {
      if (typeof node === 'string') {
        const known = this.#fingerprints.find(node)
        if (known !== undefined) return { $secret: known }
        return always.has(pointer) || spellings.some((spelling) => node.includes(spelling))
          ? { ...this.maskLiteral(node) }
          : node
      }
      if (Array.isArray(node)) return node.map((entry, i) => maskNode(entry, `${pointer}/${i}`))
      if (!isObject(node)) return node
      return Object.fromEntries(
        Object.entries(node).map(([key, field]) => [
          names.has(key) ? key : this.scrub(key),
          maskNode(field, `${pointer}/${key}`),
        ]),
      )
    }
    return maskNode(value, '')
  }

  /** Removes the values of all secrets from a text, in any spelling. */
  scrub(text: string): string {
    const spellings = this.#listKnownValues().flatMap((value) => this.#listSpellings(value))
    return spellings
      .toSorted((a, b) => b.length - a.length)
      .reduce((clean, spelling) => clean.replaceAll(spelling, '(secret)'), text)
  }

  #lookUpValue(name: string): string | null {
    let value = this.#values.get(name)
    if (value === undefined) {
      value = this.#lookUp(name)
      this.#values.set(name, value)
    }
    return value
  }

  #listSpellings(value: string): string[] {
    let spellings = this.#spellings.get(value)
    if (spellings === undefined) {
      spellings = listSpellings(value)
      this.#spellings.set(value, spellings)
    }
    return spellings
  }

  /** Lists the values to look for in texts. */
  #listKnownValues(): string[] {
    return [
      ...new Set([...this.#values.values(), ...this.#fingerprints.listTexts(), ...this.#hidden]),
    ].filter((value): value is string => value !== null && value.length >= minLength)
  }
}

/** Shortens a template that is a single reference to its name. */
function shorten(template: string): string {
  return /^\$\{secret:([^}]*)\}$/.exec(template)?.[1] ?? template
}
