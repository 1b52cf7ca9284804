import { isIPv4 } from 'node:net'

/**
 * Reports whether a host is this machine by its name alone: `localhost`, `127.0.0.0/8` or `::1`.
 * Other names, such as `api.localhost` and `localhost.`, are resolved by DNS and may be anywhere.
 *
 * @param hostname as spelled by `URL`, which writes `0x7f.1` as `127.0.0.1`
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true
  return hostname.startsWith('127.') && isIPv4(hostname)
}
