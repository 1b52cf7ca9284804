import { getOrAdd } from '../../core/model/lists.ts'
import { createHmac, scryptSync } from 'node:crypto'
import { createNew } from '../../core/model/secret.ts'

/**
 * Parameters of scrypt: memory-hard enough against guessing recorded secrets, fast enough for a
 * hundred of them in seconds.
 */
const cost = { N: 16_384, r: 8, p: 1 }

const prefix = 'scrypt:'

/** Salt of the fingerprints of a state. */
export interface Salt {
  text: string
  /** Whether state has it; until then fingerprints are not shown. */
  isStored: boolean
  /** Stores it with the next change of the state. */
  keep(): void
}

/** A text with secrets, which exists in memory only. */
export interface SecretText {
  text: string
  /** The secret values in the text. */
  values: string[]
  /** Its reference: a name, or a template with names; null for a literal. */
  template: string | null
  /** Fingerprints computed so far, by salt. */
  fingerprints: Map<string, string>
}

/**
 * Computes and compares the fingerprints of texts with secrets, and keeps the texts in memory. They
 * have the random salt of the state. Without one a provisional salt is used: such fingerprints are
 * never recorded.
 */
export class SecretFingerprints {
  readonly #provisional: string
  #salt: string
  readonly #keys = new Map<string, Buffer>()
  /** Texts that are known to be secrets, by text and template. */
  readonly #texts = new Map<string, SecretText>()
  readonly #byText = new Map<string, SecretText[]>()
  readonly #byFingerprint = new Map<string, SecretText>()

  /** @param provisional salt for commands that load no state, and before state has a salt */
  constructor(provisional: string) {
    this.#provisional = this.#salt = provisional
  }

  /** Sets the salt of the state. */
  useSalt(salt: string): void {
    this.#salt = salt
  }

  /** Adds a text that is known to be a secret. */
  add(text: string, values: string[], template: string | null): SecretText {
    const name = JSON.stringify([text, values, template])
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const added = { text, values, template, fingerprints: new Map() }
    this.#texts.set(name, added)
    this.#byText.set(text, [...(this.#byText.get(text) ?? []), added])
    return added
  }

  /** Creates a text that may be no secret: it is not looked for elsewhere. */
  createForeign(text: string): SecretText {
    return { text, values: [text], template: null, fingerprints: new Map() }
  }

  /** Lists all texts that are known to be secrets. */
  listTexts(): Iterable<string> {
    return this.#byText.keys()
  }

  /** Finds a text that is known to be a secret. */
  findByText(text: string): SecretText | undefined {
    return this.#byText.get(text)?.[0]
  }

  /** Finds the text of a fingerprint; undefined if it is not known. */
  find(fingerprint: string): SecretText | undefined {
    if (!fingerprint.startsWith(prefix)) return undefined
    // Texts may have been sealed before the salt of the state was known.
    for (const salt of [this.#salt, this.#provisional])
      if (!this.#byFingerprint.has(fingerprint))
        for (const text of this.#texts.values()) this.#compute(text, salt)
    return this.#byFingerprint.get(fingerprint)
  }

  /** Tests whether a fingerprint, or `new:` and a reference, is that of a text. */
  matches(text: SecretText, fingerprint: string): boolean {
    return [text, ...(this.#byText.get(text.text) ?? [])].some((each) =>
      fingerprint.startsWith(prefix)
        ? this.compute(each) === fingerprint || this.computeProvisional(each) === fingerprint
        : each.template !== null && createNew(each.template).$secret === fingerprint,
    )
  }

  /** Computes the fingerprint of a text, as it is recorded. */
  compute(text: SecretText): string {
    return this.#compute(text, this.#salt)
  }

  /** Computes the fingerprint of a text as long as state has no salt. */
  computeProvisional(text: SecretText): string {
    return this.#compute(text, this.#provisional)
  }

  /** Computes a fingerprint: one scrypt for each value; a text around it only adds an HMAC. */
  #compute(secret: SecretText, salt: string): string {
    const known = secret.fingerprints.get(salt)
    if (known !== undefined) return known
    const { text, values } = secret
    const keys = values.map((value) => this.#deriveKey(value, salt))
    const alone = values.length === 1 && values[0] === text
    const digest = alone
      ? (keys[0] ?? Buffer.alloc(0))
      : createHmac('sha256', Buffer.concat(keys)).update(text).digest()
    const fingerprint = `${prefix}${digest.subarray(0, 16).toString('hex')}`
    secret.fingerprints.set(salt, fingerprint)
    const named = this.#byFingerprint.get(fingerprint)
    if (named === undefined || named.template === null) this.#byFingerprint.set(fingerprint, secret)
    return fingerprint
  }

  #deriveKey(value: string, salt: string): Buffer {
    return getOrAdd(this.#keys, `${salt} ${value}`, () => scryptSync(value, salt, 32, cost))
  }
}
