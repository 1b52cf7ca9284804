import { lowerAscii } from '../../model/text/lower-ascii.ts'
import type { Run } from '../run.ts'

/**
 * Finds the host of a Referer, in lower case (request semantics, 3.2); null without one. A value
 * without a scheme has one by R21.
 */
export function findRefererHost(run: Run, value: string): string | null {
  const text = lowerAscii(value)
  const found = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)*([^/?#]*)/.exec(text)
  if (found !== null) return withoutPort(found[1] ?? '')
  const first = /^[^/:?#]*/.exec(text)?.[0] ?? ''
  if (first === '') return null
  return run.reading('R21') === 'host-first' ? first : null
}

function withoutPort(authority: string): string | null {
  const mark = authority.startsWith('[') ? ']:' : ':'
  const end = authority.indexOf(mark)
  const host = end < 0 ? authority : authority.slice(0, end + mark.length - 1)
  return host === '' ? null : host
}

/** Tests whether a host matches an entry; `*.d` stands for d and all names below it. */
export function matchHost(entry: string, host: string): boolean {
  const wanted = lowerAscii(entry)
  if (!wanted.startsWith('*.')) return host === wanted
  return host === wanted.slice(2) || host.endsWith(wanted.slice(1))
}
