import { isAddressFile } from '../../core/model/generated/state-validators.ts'
import type { AddressFile } from '../../core/model/generated/state-types.ts'
import { formatJson, parseJson } from '../../core/model/json.ts'
import type { StateKey } from '../store/store.ts'

/**
 * Formats the file that names the service of a state, as it is written in edgewise.yaml.
 *
 * @param movedTo location to which the state was migrated
 */
export function formatAddress(
  { id, address, writtenAddress = address }: StateKey,
  movedTo?: string,
): string {
  const file: AddressFile = { id, address: writtenAddress, movedTo }
  return formatJson(file)
}

/** Parses such a file; null if it is damaged. */
export function parseAddress(text: string): AddressFile | null {
  const data: unknown = parseJson(text)
  return isAddressFile(data) ? data : null
}
