/**
 * Parses an absolute URL; null if the text is none. `URL.canParse` of Node 20 is false for a valid
 * URL with letters such as "ü" after some thousand calls.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
