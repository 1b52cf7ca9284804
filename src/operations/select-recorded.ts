import { EdgewiseError } from '../model/edgewise-error.ts'
import type { RecordedState } from '../state/store.ts'
import { quoteAll } from './select.ts'

/**
 * Selects recorded domains by name, in upper or lower case.
 *
 * @throws EdgewiseError `usage` with every domain that is not recorded
 */
export function selectRecorded(recorded: RecordedState, names: string[]): RecordedState {
  const domains = names.map((name) => name.toLowerCase())
  const unknown = domains.filter((domain) => !recorded.has(domain))
  if (unknown.length > 0)
    throw new EdgewiseError(
      'usage',
      `no state is recorded for ${quoteAll(unknown)}`,
      '"edgewise state list" lists all recorded domains.',
    )
  return new Map(domains.map((domain) => [domain, recorded.get(domain) ?? new Map()]))
}
