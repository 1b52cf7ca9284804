/**
 * Parses headers as requests of files have them, from `Name: value` each. A name alone is a header
 * that is known to be absent, and `*` alone are all others.
 */
export function parseHeaderLines(lines: readonly string[]): Record<string, string | null> {
  const found = new Map<string, string | null>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = (colon < 0 ? line : line.slice(0, colon)).trim().toLowerCase()
    const before = found.get(name)
    const value = colon < 0 ? null : line.slice(colon + 1).trim()
    found.set(name, typeof before === 'string' && value !== null ? `${before}, ${value}` : value)
  }
  return Object.fromEntries(found)
}
