/** Makes a function of an object compute each result once. */
export function remember<Key extends object, Result>(
  compute: (key: Key) => Result,
): (key: Key) => Result {
  const results = new WeakMap<Key, Result>()
  return (key) => {
    const found = results.get(key)
    if (found !== undefined) return found
    const result = compute(key)
    results.set(key, result)
    return result
  }
}
