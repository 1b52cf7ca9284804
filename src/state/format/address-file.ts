import { isAddressFile } from '../../generated/state-validators.ts'
import type { AddressFile } from '../../generated/state-types.ts'
import { parseJson } from '../../model/json.ts'

/** Formats the file that names the service of a state. */
export function formatAddress({ id, address }: AddressFile): string {
  return `${JSON.stringify({ id, address })}\n`
}

/** Parses such a file; null if it is damaged. */
export function parseAddress(text: string): AddressFile | null {
  const data: unknown = parseJson(text)
  return isAddressFile(data) ? data : null
}
