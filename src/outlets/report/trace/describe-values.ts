import { isObject, type Json } from '../../../core/model/json.ts'
import { listSome } from '../../../core/model/text/words.ts'

/** Names of one kind of reason that are listed without `-v`. */
const maxNames = 4

/**
 * Describes reasons by their kind: `not given: method, origin.status`. Without `-v`, unmanaged
 * items are named only if nothing else is missing.
 */
export function describeReasons(reasons: string[], isVerbose: boolean): string {
  const others = reasons.filter((reason) => !reason.startsWith('unmanaged '))
  let shown = isVerbose || others.length === 0 ? reasons : others
  const kinds: [prefix: string, words: string][] = [
    ['not-given secret:', 'depends on secret '],
    ['not-given ', 'not given: '],
    ['not-specified ', 'not specified: '],
    ['in-doubt ', 'in doubt: '],
    ['unmanaged ', 'unmanaged: '],
    ['undecidable ', 'undecidable: '],
  ]
  return kinds
    .flatMap(([prefix, words]) => {
      const named = shown.filter((reason) => reason.startsWith(prefix))
      shown = shown.filter((reason) => !named.includes(reason))
      const names = named.map((reason) => reason.slice(prefix.length))
      const max = isVerbose ? names.length : maxNames
      return names.length === 0 ? [] : [words + listSome(names, max)]
    })
    .join('; ')
}

/** Describes a cache key: domains, scheme, path and query. */
export function describeKey(key: Json): string {
  if (!isObject(key)) return 'none'
  const { domains, scheme, path, query } = key
  const names = Array.isArray(domains) ? domains.map(String).join(', ') : ''
  const text = query === null ? String(path) : `${String(path)}?${String(query)}`
  return `${names} ${String(scheme)} ${text}`
}
