/**
 * Numbers in [0, 1) that look random and are the same for the same seed (a 32-bit generator of the
 * xorshift kind).
 */
export function createRandom(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 0x1_0000_0000
  }
}
