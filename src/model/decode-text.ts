/** A decoded text, or in a clause the reason why the bytes are not text. */
export type DecodedText = { text: string } | { fault: string }

/** Decodes UTF-8 without a byte order mark. The fault names UTF-16 if it is recognized. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf)
    return { fault: 'expected UTF-8 without a byte order mark, got one at the beginning' }
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  if (isMarked || bytes.includes(0)) return { fault: 'expected UTF-8, got NUL bytes or UTF-16' }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (error instanceof TypeError) return { fault: 'expected UTF-8, got other bytes' }
    throw error
  }
}
