import { isIP } from 'node:net'
import { ipv4 } from '../../model/text/ipv4.ts'

/**
 * Finds the version of an IP address; 0 for other text. Node compiles its pattern of IPv6 at the
 * first use, which takes 10 ms, so text without a colon is not matched with it.
 */
export function findIpVersion(text: string): number {
  if (ipv4.test(text)) return 4
  // Node's module of networks takes a twentieth of a short command's time to load.
  return text.includes(':') ? isIP(text) : 0
}
