import { isIP, isIPv4 } from 'node:net'

/**
 * Finds the version of an IP address; 0 for other text. Node compiles its pattern of IPv6 at the
 * first use, which takes 10 ms, so text without a colon is not matched with it.
 */
export function findIpVersion(text: string): number {
  if (isIPv4(text)) return 4
  return text.includes(':') ? isIP(text) : 0
}
