import { parseAddressBits, parseNetwork } from '../../catalog/value/formats.ts'
import { findIpVersion } from '../../catalog/value/ip-version.ts'
import { parseAddress } from '../request.ts'

/** Tests whether an address (canonical) equals an entry, or is in its network (3.2). */
export function matchAddress(entry: string, address: string): boolean {
  const network = parseNetwork(entry)
  if (network === null) return (parseAddress(entry) ?? entry) === address
  if (findIpVersion(address) !== 4) return false
  const size = 2 ** (32 - network.prefix)
  return Math.floor(network.base / size) === Math.floor(parseAddressBits(address) / size)
}
