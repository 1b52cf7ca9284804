import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { PlacedText } from '../../core/model/config.ts'
import type { ItemKey, Value } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import {
  createNew,
  createUnresolved,
  findNewReference,
  findReference,
  listSecrets,
  mapSecrets,
  type Secret,
  listSecretNames,
  type SecretKeeper,
  type SecretPort,
} from '../../core/model/secret.ts'
import { markForeign, type ForeignText } from '../../core/model/text/text-makers.ts'
import { Scrubber } from './scrubber.ts'
import { sealAnswer, sealForeign, unsealForeign, type Seals } from './seal-foreign.ts'
import { SecretFingerprints, type Salt, type SecretText } from './secret-fingerprints.ts'
import { SecretValues } from './secret-values.ts'
import { holdsValue } from '../manifests/readings.ts'

/** Who made an observed value: others, or who asks. */
export type Maker = 'foreign' | 'asked'

/**
 * Keeps the values of secrets; nothing else knows them. They exist in memory only. Everything else
 * sees a scrypt fingerprint with the salt of the state, so that a changed value is detected.
 */
export class SecretVault extends SecretValues implements SecretKeeper, SecretPort {
  readonly #fingerprints: SecretFingerprints
  #salt: Salt | null = null
  /** Value that no manifest refers to → the text that replaces it. */
  readonly #hidden = new Map<string, string>()
  readonly #scrubber = new Scrubber(() => this.#listKnownValues())
  /** What seals the texts of who asks. */
  readonly #wholeOnly: Pick<Seals, 'isQuoted' | 'scrub'> = {
    isQuoted: (text) => this.#scrubber.holds(text),
    scrub: (name) => this.redact(name),
  }

  /** @param id of the workspace; other parameters as for `SecretValues` */
  constructor(id: string, ...lookUp: ConstructorParameters<typeof SecretValues>) {
    super(...lookUp)
    this.#fingerprints = new SecretFingerprints(`edgewise ${id}`)
  }

  /** Salt of the fingerprints; null until the state is loaded. */
  get salt(): Salt | null {
    return this.#salt
  }

  /** Sets the salt of the state. */
  useSalt(salt: Salt): void {
    this.#salt = salt
    this.#fingerprints.useSalt(salt.text)
  }

  /** Stores the salt with the next change of the state; to be called before recording secrets. */
  keepSalt(): void {
    if (this.#salt === null || this.#salt.isStored) return
    this.#salt.keep()
    this.#salt.isStored = true
  }

  /**
   * Returns the form of a secret in which it can be compared with recorded ones: the recorded
   * secret if it is the same, otherwise the form in which it will be recorded. Every comparison of
   * secrets uses this function.
   *
   * @param secret of a manifest, a plan or a state; it stays as it is if its value is not available
   * @param recorded secrets of the item in state
   * @param asNew as if state had no salt
   */
  represent(secret: string, recorded: ReadonlySet<string> = new Set(), asNew = false): string {
    const text = this.#findText(secret)
    return text === undefined ? secret : this.#represent(text, recorded, asNew)
  }

  /** Returns the secret of a reference, a name or a template with names, as it is recorded. */
  resolve(reference: string): Secret {
    const secret = createUnresolved(reference)
    return { $secret: this.represent(secret.$secret) }
  }

  /** Tests whether a recorded secret is the same as that of a reference. */
  isSame(secret: string, reference: string): boolean {
    const text = this.#resolveText(reference)
    return text !== undefined && this.#fingerprints.matches(text, secret)
  }

  /** Tests whether a value is that of a secret without a reference. */
  isValue(secret: string, value: string): boolean {
    return this.#fingerprints.matches(this.#fingerprints.createForeign(value), secret)
  }

  /**
   * Returns the unresolved secret of a template, and looks its values up, so that they are masked
   * everywhere from now on.
   */
  refer(template: string): Secret {
    this.#resolveText(template)
    return createUnresolved(shorten(template))
  }

  /** Tests whether the values of all secrets in a value are available. */
  canReveal(value: Value): boolean {
    return [...listSecrets([value])].every((secret) => this.knows(secret))
  }

  maskTemplate(template: string): Secret {
    return this.resolve(shorten(template))
  }

  maskLiteral(value: string): Secret {
    return { $secret: this.#fingerprints.compute(this.#fingerprints.add(value, [value], null)) }
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

  occursIn({ text, minLength }: PlacedText): boolean {
    return holdsValue(text, this.#listSecrets(), minLength)
  }

  /** Tests whether the text of a fingerprint, or of a new secret, is available. */
  knows(secret: string): boolean {
    return findReference(secret) === null && this.#findText(secret) !== undefined
  }

  /** Returns the references of the secrets in a value, by fingerprint. */
  listTemplates(value: Value): Record<string, string> {
    return Object.fromEntries(
      [...listSecrets([value])].flatMap((secret) => {
        const template = this.knows(secret) ? this.#findText(secret)?.template : null
        return typeof template === 'string' ? [[secret, template]] : []
      }),
    )
  }

  /**
   * Replaces the secrets in a value with their texts, for the wire only.
   *
   * @throws EdgewiseError `access` if one of them is not available
   */
  reveal(value: Value): Json {
    return mapSecrets(value, (secret) => {
      const reference = findReference(secret)
      const known = reference === null ? this.#findText(secret) : undefined
      if (known !== undefined) return known.text
      const name = reference === null ? 'a recorded secret' : `the secret ${reference}`
      const advice = 'Provide it through its source under "secrets" in edgewise.yaml.'
      throw new EdgewiseError('access', `the value of ${name} is not available`, advice)
    })
  }

  recognize(item: ItemKey, value: Json, models: Value[]): Json {
    return sealForeign(getItemSpec(item), unsealForeign(value), models, {
      ...this.#createSeals(models),
      seal: () => ({ $secret: 'unknown' }),
      isQuoted: () => false,
      scrub: (name) => name,
    })
  }

  /**
   * Replaces secrets in an observed or imported value with fingerprints.
   *
   * @param models values of the item that may have secrets: desired and recorded ones
   * @param maker who made the value: that of who asks is not searched for parts of secrets
   */
  mask(item: ItemKey, value: Json, models: Value[], maker: Maker): Json {
    const seals = this.#createSeals(models)
    const own = maker === 'foreign' ? seals : { ...seals, ...this.#wholeOnly }
    return sealForeign(getItemSpec(item), value, models, own)
  }

  maskAnswer(item: ItemKey, value: Json, models: Value[]): Json {
    return sealAnswer(getItemSpec(item), unsealForeign(value), models, this.#createSeals(models))
  }

  /**
   * Removes the values of all secrets from a foreign text, in any form.
   *
   * @param names known names, in lower case, which stay
   * @param sent as for `SecretHider.scrub`
   */
  scrub(text: ForeignText, names?: ReadonlySet<string>, sent?: readonly string[]): string {
    return this.#scrubber.scrub(text, names, sent)
  }

  /** Replaces whole secrets in any text. @param names as for `scrub` */
  redact(text: string, names?: ReadonlySet<string>): string {
    return this.#scrubber.redact(text, names)
  }

  /** Tests whether a text may quote a secret: in any form, or a whole one in that of who asks. */
  isQuoted(text: string, maker: Maker): boolean {
    return maker === 'foreign'
      ? this.#scrubber.isQuoted(markForeign(text))
      : this.#wholeOnly.isQuoted(text)
  }

  /** Removes secrets from a text that somebody made. */
  hideIn(text: string, maker: Maker): string {
    return maker === 'foreign' ? this.scrub(markForeign(text)) : this.redact(text)
  }

  #createSeals(models: Value[]): Seals {
    const recorded = listSecrets(models)
    return {
      find: (text) => {
        const known = this.#fingerprints.findByText(text)
        return known === undefined ? undefined : { $secret: this.#represent(known, recorded) }
      },
      seal: (text) => {
        const foreign = this.#fingerprints.createForeign(text)
        const same = [...recorded].find((each) => this.#fingerprints.matches(foreign, each))
        return { $secret: same ?? this.#fingerprints.compute(foreign) }
      },
      isQuoted: (text) => this.isQuoted(text, 'foreign'),
      scrub: (name) => this.hideIn(name, 'foreign'),
    }
  }

  #represent(text: SecretText, recorded: ReadonlySet<string>, asNew = false): string {
    for (const secret of recorded) if (this.#fingerprints.matches(text, secret)) return secret
    const isNew = asNew || this.#salt?.isStored === false
    if (!isNew) return this.#fingerprints.compute(text)
    // A literal is in the manifest anyway.
    return text.template === null
      ? this.#fingerprints.computeProvisional(text)
      : createNew(text.template).$secret
  }

  #findText(secret: string): SecretText | undefined {
    const reference = findReference(secret) ?? findNewReference(secret)
    return reference === null ? this.#fingerprints.find(secret) : this.#resolveText(reference)
  }

  /** Finds the text of a reference; undefined if a value is not available. */
  #resolveText(reference: string): SecretText | undefined {
    const template = reference.includes('${') ? reference : `\${secret:${reference}}`
    const names = listSecretNames(template)
    const values = this.findAll(names)
    if (values === null) return undefined
    const text = template.replace(
      /\$\{secret:([^{}]*)\}/g,
      (_, name: string) => values[names.indexOf(name)] ?? '',
    )
    return this.#fingerprints.add(text, values, shorten(template))
  }

  #listSecrets(): string[] {
    return [...this.list(), ...this.#fingerprints.listTexts()]
  }

  /** Lists the values to look for in texts, with the text that replaces each. */
  #listKnownValues(): Map<string, string> {
    return new Map([
      ...this.#listSecrets().map((value): [string, string] => [value, '(secret)']),
      ...this.#hidden,
    ])
  }
}

/** Shortens a template that is a single reference to its name. */
function shorten(template: string): string {
  return /^\$\{secret:([^{}]*)\}$/.exec(template)?.[1] ?? template
}
