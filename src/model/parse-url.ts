/**
 * Parses an absolute URL; null if the text is not one. `URL.canParse` is not used: that of Node 20
 * returns false for a valid URL with letters such as "ü" after some thousand calls.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch (error) {
    if (error instanceof TypeError) return null
    throw error
  }
}
