/**
 * Seeded chance: the same key and number always give the same draw, in whatever order they are
 * asked for.
 */

/** A key (32 bits) made of texts, e.g. of a seed and a domain. */
export function hashKey(...texts: string[]): number {
  let hash = 0x811c9dc5
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ 0x1f, 0x01000193)
  }
  return scramble(hash)
}

/** The `n`-th draw of a key, from 0 up to 1 (exclusive). */
export function draw(key: number, n: number): number {
  return scramble(key ^ Math.imul(n + 1, 0x9e3779b1)) / 2 ** 32
}

/** The `n`-th draw of a key, from `least` up to `most` (exclusive). */
export function drawBetween(key: number, n: number, least: number, most: number): number {
  return least + (most - least) * draw(key, n)
}

/** Every bit of the result depends on every bit of `hash`. */
function scramble(hash: number): number {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
