import { createHmac, scryptSync } from 'node:crypto'
import { createNew } from '../model/secret.ts'

/**
 * Parameters of scrypt: memory-hard enough against guessing recorded secrets, fast enough for a
 * hundred of them in seconds.
 */
const cost = { N: 16_384, r: 8, p: 1 }

/** Kind of a fingerprint: `scrypt:…` of earlier versions, or `scrypt:s1:…`. */
type Kind = 'old' | 's1'

const prefixes: Record<Kind, string> = { old: 'scrypt:', s1: 'scrypt:s1:' }

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
  /** Fingerprints computed so far. */
  fingerprints: Map<Kind, string>
}

/**
 * Computes and compares the fingerprints of texts with secrets, and keeps the texts in memory. New
 * fingerprints have the random salt of the state. Those of earlier versions have the id of the
 * workspace as salt: they are only compared, but also computed for commands that load no state.
 */
export class SecretFingerprints {
  readonly #salts: Partial<Record<Kind, string>>
  readonly #keys = new Map<string, Buffer>()
  /** Texts that are known to be secrets, by text and template. */
  readonly #texts = new Map<string, SecretText>()
  readonly #byText = new Map<string, SecretText[]>()
  readonly #byFingerprint = new Map<string, SecretText>()

  /** @param salt of earlier versions */
  constructor(salt: string) {
    this.#salts = { old: salt }
  }

  /** Sets the salt of the state, which new fingerprints have from now on. */
  useSalt(salt: string): void {
    this.#salts.s1 = salt
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
    const kind = parseKind(fingerprint)
    if (kind === null || this.#salts[kind] === undefined) return undefined
    if (!this.#byFingerprint.has(fingerprint))
      for (const text of this.#texts.values()) this.#compute(text, kind)
    return this.#byFingerprint.get(fingerprint)
  }

  /** Tests whether a fingerprint, or `new:` and a reference, is that of a text. */
  matches(text: SecretText, fingerprint: string): boolean {
    const kind = parseKind(fingerprint)
    if (kind !== null && this.#salts[kind] === undefined) return false
    return [text, ...(this.#byText.get(text.text) ?? [])].some((each) =>
      kind === null
        ? each.template !== null && createNew(each.template).$secret === fingerprint
        : this.#compute(each, kind) === fingerprint,
    )
  }

  /** Computes the fingerprint of a text, as it is recorded from now on. */
  compute(text: SecretText): string {
    return this.#compute(text, this.#salts.s1 === undefined ? 'old' : 's1')
  }

  /** Computes the fingerprint of a text as earlier versions recorded it. */
  computeOld(text: SecretText): string {
    return this.#compute(text, 'old')
  }

  /** Computes a fingerprint: one scrypt for each value; a text around it only adds an HMAC. */
  #compute(secret: SecretText, kind: Kind): string {
    const known = secret.fingerprints.get(kind)
    if (known !== undefined) return known
    const { text, values } = secret
    const keys = values.map((value) => this.#deriveKey(value, this.#salts[kind] ?? ''))
    const alone = values.length === 1 && values[0] === text
    const digest = alone
      ? (keys[0] ?? Buffer.alloc(0))
      : createHmac('sha256', Buffer.concat(keys)).update(text).digest()
    const fingerprint = `${prefixes[kind]}${digest.subarray(0, 16).toString('hex')}`
    secret.fingerprints.set(kind, fingerprint)
    const named = this.#byFingerprint.get(fingerprint)
    if (named === undefined || named.template === null) this.#byFingerprint.set(fingerprint, secret)
    return fingerprint
  }

  #deriveKey(value: string, salt: string): Buffer {
    const name = `${salt} ${value}`
    let key = this.#keys.get(name)
    if (key === undefined) {
      key = scryptSync(value, salt, 32, cost)
      this.#keys.set(name, key)
    }
    return key
  }
}

/** Parses the kind of a fingerprint; null for anything else. */
function parseKind(fingerprint: string): Kind | null {
  if (fingerprint.startsWith(prefixes.s1)) return 's1'
  return fingerprint.startsWith(prefixes.old) ? 'old' : null
}
