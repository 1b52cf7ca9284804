import { isIP } from 'node:net'

export const ipv4 =
  /^(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/

/**
 * Finds the version of an IP address; 0 for other text. Node compiles its pattern of IPv6 at the
 * first use, which takes 10 ms, so text without a colon is not matched with it.
 */
export function findIpVersion(text: string): number {
  if (ipv4.test(text)) return 4
  // Node's module of networks takes a twentieth of a short command's time to load.
  return text.includes(':') ? isIP(text) : 0
}
