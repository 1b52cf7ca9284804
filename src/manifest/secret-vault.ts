import { createHmac, scryptSync } from 'node:crypto'
import { getItemSpec } from '../catalog/catalogue.ts'
import { findSecretFields } from '../catalog/parse-item.ts'
import { listFieldNames } from '../catalog/value/item-schema.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { ItemKey, Value } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import { mapSecrets, type Secret } from '../model/secret.ts'
import {
  listReferencedNames,
  listSecretNames,
  type SecretKeeper,
  type SecretPort,
} from '../model/secret-keeper.ts'
import type { SecretSources } from './secret-sources.ts'
import { holdsValue } from './service-address.ts'
import { listSpellings } from './spellings.ts'

/**
 * Memory-hard enough that guessing a recorded secret is dear, and a hundred of them are still told
 * in seconds.
 */
const cost = { N: 16_384, r: 8, p: 1 }
/** A secret shorter than this is not looked for inside other texts; too much would match. */
const shortest = 4

/** Programs that give values of secrets. */
export type SecretPrograms = Omit<SecretSources, 'lookUp'>

const noPrograms: SecretPrograms = {
  isCommand: () => false,
  explain: () => 'its value is not known',
  run: (name) => Promise.reject(new TypeError(`expected a command for the secret ${name}`)),
}

/**
 * The only place that knows values of secrets. They live in memory; everything else sees a scrypt
 * fingerprint, salted with the workspace's id, so that a plan stays the same from run to run and a
 * change of the value shows.
 */
export class SecretVault implements SecretKeeper, SecretPort {
  readonly #salt: string
  readonly #lookUp: (name: string) => string | null
  readonly #values = new Map<string, string | null>()
  readonly #keys = new Map<string, Buffer>()
  /** Fingerprint → the string it stands for. */
  readonly #known = new Map<string, string>()
  /** The other way round; of several fingerprints of one string the first. */
  readonly #fingerprints = new Map<string, string>()
  /** Fingerprint → the references it was made from: a name, or a template around names. */
  readonly #templates = new Map<string, string>()
  readonly #unresolved = new Set<string>()
  readonly #hidden = new Set<string>()
  readonly #spellings = new Map<string, string[]>()

  readonly #programs: SecretPrograms

  /**
   * @param lookUp the value of a secret, or null where it is not at hand
   * @param programs what gives values that are not at hand
   */
  constructor(id: string, lookUp: (name: string) => string | null, programs = noPrograms) {
    this.#salt = `edgewise ${id}`
    this.#lookUp = lookUp
    this.#programs = programs
  }

  /** Lists the names in a reference (a name, or a template) whose values are not at hand. */
  listMissing(reference: string): string[] {
    return listReferencedNames(reference).filter((name) => this.#value(name) === null)
  }

  /** Whether a command gives the value of a secret, once there is consent to run it. */
  isCommand(name: string): boolean {
    return this.#programs.isCommand(name)
  }

  /** Says why the value of a secret is not at hand, in a clause. */
  explain(name: string): string {
    return this.#programs.explain(name)
  }

  /**
   * Runs the commands of these secrets, each once for this process. To be called only after consent
   * to writes that hold them.
   *
   * @throws EdgewiseError `access` when one of them fails or gives nothing
   */
  async obtain(names: Iterable<string>, signal: AbortSignal): Promise<void> {
    for (const name of new Set(names)) {
      if (this.#value(name) !== null) continue
      this.#values.set(name, await this.#programs.run(name, signal))
      this.#unresolved.delete(name)
    }
  }

  /** The secret that stands for a reference: a name, or a template around names. */
  resolve(reference: string): Secret {
    return this.maskTemplate(reference.includes('${') ? reference : `\${secret:${reference}}`)
  }

  /** Whether all secrets of a value could be written out. */
  canReveal(value: Value): boolean {
    let all = true
    mapSecrets(value, (secret) => {
      all &&= this.#known.has(secret)
      return null
    })
    return all
  }

  maskTemplate(template: string): Secret {
    const names = listSecretNames(template)
    const values = names.map((name) => this.#value(name))
    if (values.includes(null)) {
      for (const name of names) if (this.#value(name) === null) this.#unresolved.add(name)
      return { $secret: `unresolved:${shorten(template)}` }
    }
    const whole = template.replace(
      /\$\{secret:([^}]*)\}/g,
      (_, name: string) => this.#value(name) ?? '',
    )
    const fingerprint = this.#fingerprint(whole, values as string[])
    this.#templates.set(fingerprint, shorten(template))
    return { $secret: fingerprint }
  }

  maskLiteral(value: string): Secret {
    return { $secret: this.#fingerprint(value, [value]) }
  }

  /**
   * Counts a value as secret that no manifest refers to, such as the token. A short one could be a
   * part of anything.
   */
  hide(value: string): void {
    if (value.length >= 8) this.#hidden.add(value)
  }

  occursIn(url: string): boolean {
    return url !== 'emulator' && holdsValue(url, this.#told())
  }

  /** Names of the secrets that were referred to and are not at hand. */
  listUnresolved(): string[] {
    return [...this.#unresolved].toSorted()
  }

  /** Whether the string that a fingerprint stands for is at hand. */
  knows(fingerprint: string): boolean {
    return this.#known.has(fingerprint)
  }

  /** The references that the secrets of a value were made from, by fingerprint. */
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
   * A value with its secrets written out, for the wire and nothing else.
   *
   * @throws EdgewiseError `access` when one of them is not at hand.
   */
  reveal(value: Value): Json {
    return mapSecrets(value, (secret) => {
      const known = this.#known.get(secret)
      if (known !== undefined) return known
      const name = secret.startsWith('unresolved:')
        ? `the secret ${secret.slice('unresolved:'.length)}`
        : 'a recorded secret'
      throw new EdgewiseError(
        'access',
        `the value of ${name} is not at hand`,
        'Provide it as edgewise.yaml says under "secrets".',
      )
    })
  }

  /**
   * What the service returned, with fingerprints in place of secrets: wherever the item always
   * holds one, or a known one occurs in any spelling. Names of fields that the item does not have
   * lose them too.
   */
  mask(item: ItemKey, value: Json): Json {
    const always = new Set(findSecretFields(getItemSpec(item), value).map((field) => field.pointer))
    const names = listFieldNames(getItemSpec(item).schema)
    const told = this.#told().flatMap((secret) => this.#spelled(secret))
    const visit = (at: Json, pointer: string): Json => {
      if (typeof at === 'string') {
        const known = this.#fingerprints.get(at)
        if (known !== undefined) return { $secret: known }
        return always.has(pointer) || told.some((spelling) => at.includes(spelling))
          ? { ...this.maskLiteral(at) }
          : at
      }
      if (Array.isArray(at)) return at.map((entry, i) => visit(entry, `${pointer}/${i}`))
      if (!isObject(at)) return at
      return Object.fromEntries(
        Object.entries(at).map(([key, field]) => [
          names.has(key) ? key : this.scrub(key),
          visit(field, `${pointer}/${key}`),
        ]),
      )
    }
    return visit(value, '')
  }

  /** A text without the values of any secret, in whatever spelling. */
  scrub(text: string): string {
    const spellings = this.#told().flatMap((value) => this.#spelled(value))
    return spellings
      .toSorted((a, b) => b.length - a.length)
      .reduce((clean, spelling) => clean.replaceAll(spelling, '(secret)'), text)
  }

  #value(name: string): string | null {
    let value = this.#values.get(name)
    if (value === undefined) {
      value = this.#lookUp(name)
      this.#values.set(name, value)
    }
    return value
  }

  /** One scrypt for each secret value; a text around it costs no more than a keyed hash. */
  #fingerprint(whole: string, values: string[]): string {
    const keys = values.map((value) => this.#key(value))
    const alone = values.length === 1 && values[0] === whole
    const digest = alone
      ? (keys[0] ?? Buffer.alloc(0))
      : createHmac('sha256', Buffer.concat(keys)).update(whole).digest()
    const fingerprint = `scrypt:${digest.subarray(0, 16).toString('hex')}`
    this.#known.set(fingerprint, whole)
    if (!this.#fingerprints.has(whole)) this.#fingerprints.set(whole, fingerprint)
    return fingerprint
  }

  #spelled(value: string): string[] {
    let spellings = this.#spellings.get(value)
    if (spellings === undefined) {
      spellings = listSpellings(value)
      this.#spellings.set(value, spellings)
    }
    return spellings
  }

  #key(value: string): Buffer {
    let key = this.#keys.get(value)
    if (key === undefined) {
      key = scryptSync(value, this.#salt, 32, cost)
      this.#keys.set(value, key)
    }
    return key
  }

  /** The values to look for in texts. */
  #told(): string[] {
    return [
      ...new Set([...this.#values.values(), ...this.#known.values(), ...this.#hidden]),
    ].filter((value): value is string => value !== null && value.length >= shortest)
  }
}

/** A template that is nothing but one reference, as its name. */
function shorten(template: string): string {
  return /^\$\{secret:([^}]*)\}$/.exec(template)?.[1] ?? template
}
