/** What traces use of `node:net`, for browsers. */

const ipv4 = /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

/** Finds the version of an IP address without a zone; 0 for other text. */
export function isIP(text: string): number {
  if (isIPv4(text)) return 4
  if (!/^[\da-f:.]+$/i.test(text)) return 0
  try {
    return new URL(`http://[${text}]/`).hostname === '' ? 0 : 6
  } catch (error) {
    if (error instanceof TypeError) return 0
    throw error
  }
}

/** Tests whether a text is an IPv4 address. */
export function isIPv4(text: string): boolean {
  return ipv4.test(text)
}
