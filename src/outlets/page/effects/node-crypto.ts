/** What traces use of `node:crypto`, for browsers. */

interface Hash {
  update(text: string): Hash
  digest(encoding: string): string
}

/**
 * Refuses to hash. Only signatures with a known key are hashed, and no page has the key: it has the
 * names of secrets, and their values are no fact that can be given in it.
 *
 * @throws Error always
 */
export function createHash(algorithm: string): Hash {
  throw new Error(`expected no known secret in a page, but ${algorithm} was asked for`)
}
