import { getItemSpec } from '../catalog/catalogue.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { createUnresolved, findReference, mapSecrets, type Secret } from '../model/secret.ts'
import {
  listReferencedNames,
  listSecretNames,
  type SecretKeeper,
  type SecretPort,
} from '../model/secret-keeper.ts'
import { Scrubber } from './scrubber.ts'
import { sealAnswer, sealForeign, type Seals } from './seal-foreign.ts'
import { SecretFingerprints } from './secret-fingerprints.ts'
import type { SecretSources } from './secret-sources.ts'
import { holdsValue } from './service-address.ts'

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
  /** Value that no manifest refers to → the text that replaces it. */
  readonly #hidden = new Map<string, string>()
  readonly #scrubber = new Scrubber(() => this.#listKnownValues())
  readonly #seals: Seals = {
    find: (text) => this.#find(text),
    seal: (text) => ({ $secret: this.#fingerprints.computeForeign(text) }),
    isQuoted: (text) => this.isQuoted(text),
    scrub: (name) => this.scrub(name),
  }
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
   * Treats a value as secret that no manifest refers to, such as the token. A value of less than
   * four characters is ignored, since it could be a part of anything.
   *
   * @param label text that replaces the value
   */
  hide(value: string, label: string): void {
    this.#hidden.set(value, label)
  }

  occursIn(url: string): boolean {
    return url !== 'emulator' && holdsValue(url, this.#listKnownValues().keys())
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

  recognize(item: ItemKey, value: Json, models: Value[]): Json {
    return sealForeign(getItemSpec(item), value, models, {
      find: (text) => this.#find(text),
      seal: () => ({ $secret: 'unknown' }),
      isQuoted: () => false,
      scrub: (name) => name,
    })
  }

  /**
   * Replaces secrets in an observed or imported value with fingerprints.
   *
   * @param models values of the item that may have secrets: desired and recorded ones
   */
  mask(item: ItemKey, value: Json, models: Value[]): Json {
    return sealForeign(getItemSpec(item), value, models, this.#seals)
  }

  maskAnswer(item: ItemKey, value: Json, models: Value[]): Json {
    return sealAnswer(getItemSpec(item), value, models, this.#seals)
  }

  /**
   * Removes the values of all secrets from a foreign text, in any form.
   *
   * @param names names of ours, in lower case, which stay
   */
  scrub(text: string, names?: ReadonlySet<string>): string {
    return this.#scrubber.scrub(text, names)
  }

  /** Tests whether a foreign text may quote a secret, in any form. */
  isQuoted(text: string): boolean {
    return this.#scrubber.isQuoted(text)
  }

  #find(text: string): Secret | undefined {
    const fingerprint = this.#fingerprints.find(text)
    return fingerprint === undefined ? undefined : { $secret: fingerprint }
  }

  #lookUpValue(name: string): string | null {
    let value = this.#values.get(name)
    if (value === undefined) {
      value = this.#lookUp(name)
      this.#values.set(name, value)
    }
    return value
  }

  /** Lists the values to look for in texts, with the text that replaces each. */
  #listKnownValues(): Map<string, string> {
    const known = [...this.#values.values(), ...this.#fingerprints.listTexts()]
    const values = new Map<string, string>()
    for (const value of known) if (value !== null) values.set(value, '(secret)')
    return new Map([...values, ...this.#hidden])
  }
}

/** Shortens a template that is a single reference to its name. */
function shorten(template: string): string {
  return /^\$\{secret:([^}]*)\}$/.exec(template)?.[1] ?? template
}
