/** What traces use of `node:net`, for browsers. */

import { ipv4 } from '../../../core/model/text/ipv4.ts'

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
