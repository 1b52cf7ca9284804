/** Parts of the worked cases on cache, origin and response. */
export const home = 'https://www.example.com'
export const plain = 'http://www.example.com'
export const none = { '*': null }

/** A rule of `cache_rule_list`. */
export function newer(match_method: string, pattern: string, expire: number, more = {}): unknown {
  return { match_method, pattern, expire, ...more }
}

export function crl(...rules: unknown[]): Record<string, unknown> {
  return { cache_rule_list: rules }
}

export function cr(
  type: number,
  pattern: string,
  time: number,
  more = {},
): Record<string, unknown> {
  return { cache_rule: [{ type, pattern, time, ...more }] }
}

export function at(path: string): Record<string, unknown> {
  return { url: `${home}${path}` }
}
