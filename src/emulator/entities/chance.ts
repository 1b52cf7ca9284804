/** Seeded chance: the same key and number always give the same draw, in any order. */

/** Hashes texts, such as a seed and a domain, to a key of 32 bits. */
export function hashKey(...texts: string[]): number {
  let hash = 0x811c9dc5
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ 0x1f, 0x01000193)
  }
  return scramble(hash)
}

/** Returns the `n`-th draw of a key, in [0, 1). */
export function draw(key: number, n: number): number {
  return scramble(key ^ Math.imul(n + 1, 0x9e3779b1)) / 2 ** 32
}

/** Returns the `n`-th draw of a key, in [min, max). */
export function drawBetween(key: number, n: number, min: number, max: number): number {
  return min + (max - min) * draw(key, n)
}

/** Mixes a hash: every bit of the result depends on every bit of `hash`. */
function scramble(hash: number): number {
  let bits = hash
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
