import { EdgewiseError } from '../model/edgewise-error.ts'
import type { RecordedState } from '../state/store.ts'

/**
 * Selects recorded domains by name, in upper or lower case.
 *
 * @throws EdgewiseError `usage` when a domain is not recorded
 */
export function selectRecorded(recorded: RecordedState, names: string[]): RecordedState {
  return new Map(
    names.map((name) => {
      const domain = name.toLowerCase()
      const items = recorded.get(domain)
      if (items !== undefined) return [domain, items]
      throw new EdgewiseError(
        'usage',
        `no state is recorded for "${domain}"`,
        '"edgewise state list" lists all recorded domains.',
      )
    }),
  )
}
