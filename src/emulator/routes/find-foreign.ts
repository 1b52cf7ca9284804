import { isLoopback } from '../../model/loopback.ts'
import type { EmulatorRequest } from './exchange.ts'

/**
 * Finds the reason why a request may come from a web page of another origin; null if it does not.
 * A browser would send it for any page that the user visits.
 *
 * @param onLoopback whether the emulator listens on loopback only. The name of another host may
 *   then resolve to this machine to bypass the same-origin policy (DNS rebinding)
 */
export function findForeign(
  { host, origin, fetchSite }: EmulatorRequest,
  onLoopback: boolean,
): string | null {
  if (onLoopback && host !== undefined && !isLoopback(parseHostname(host)))
    return 'the Host of the request is not this machine. Use 127.0.0.1, [::1] or localhost.'
  if (origin !== undefined && origin.toLowerCase() !== `http://${host?.toLowerCase()}`)
    return 'the Origin of the request is another site. Web pages may not call the emulator.'
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none')
    return 'the request comes from another site. Web pages may not call the emulator.'
  return null
}

/** Parses the host of a `Host` header; empty if it is malformed. */
function parseHostname(host: string): string {
  return /^(\[[0-9a-f:.]+\]|[^:]+)(?::\d+)?$/.exec(host.toLowerCase())?.[1] ?? ''
}
