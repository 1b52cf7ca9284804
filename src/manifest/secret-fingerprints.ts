import { createHmac, scryptSync } from 'node:crypto'

/**
 * Parameters of scrypt: memory-hard enough against guessing recorded secrets, fast enough for a
 * hundred of them in seconds.
 */
const cost = { N: 16_384, r: 8, p: 1 }

/** Computes the fingerprints of strings with secrets, and keeps the strings in memory. */
export class SecretFingerprints {
  readonly #salt: string
  readonly #keys = new Map<string, Buffer>()
  /** Fingerprint → its string. */
  readonly #texts = new Map<string, string>()
  /** String → its first fingerprint. */
  readonly #fingerprints = new Map<string, string>()

  constructor(salt: string) {
    this.#salt = salt
  }

  /**
   * Computes a fingerprint: one scrypt for each secret value; a text around it only adds an HMAC.
   *
   * @param values the secret values in the text
   */
  compute(fullText: string, values: string[]): string {
    const keys = values.map((value) => this.#deriveKey(value))
    const alone = values.length === 1 && values[0] === fullText
    const digest = alone
      ? (keys[0] ?? Buffer.alloc(0))
      : createHmac('sha256', Buffer.concat(keys)).update(fullText).digest()
    const fingerprint = this.#format(digest, fullText)
    if (!this.#fingerprints.has(fullText)) this.#fingerprints.set(fullText, fingerprint)
    return fingerprint
  }

  /** Computes the fingerprint of a text that may be no secret: it is not looked for elsewhere. */
  computeForeign(text: string): string {
    return this.#format(this.#deriveKey(text), text)
  }

  /** Tests whether the string of a fingerprint is known. */
  has(fingerprint: string): boolean {
    return this.#texts.has(fingerprint)
  }

  /** Finds the string of a fingerprint; undefined if it was not computed here. */
  findText(fingerprint: string): string | undefined {
    return this.#texts.get(fingerprint)
  }

  /** Finds the first fingerprint of a string; undefined if none was computed. */
  find(text: string): string | undefined {
    return this.#fingerprints.get(text)
  }

  /** Lists all strings with secrets. */
  listTexts(): string[] {
    return [...this.#fingerprints.keys()]
  }

  #format(digest: Buffer, text: string): string {
    const fingerprint = `scrypt:${digest.subarray(0, 16).toString('hex')}`
    this.#texts.set(fingerprint, text)
    return fingerprint
  }

  #deriveKey(value: string): Buffer {
    let key = this.#keys.get(value)
    if (key === undefined) {
      key = scryptSync(value, this.#salt, 32, cost)
      this.#keys.set(value, key)
    }
    return key
  }
}
