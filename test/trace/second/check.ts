import { parseAddress, type Address } from './ip.ts'
import type { Items, RuleName } from './items.ts'
import { readAccessHeader } from './headers.ts'
import type { CheckName } from './readings.ts'
import { known, map, no, bind, unknown, type Cond, type Result } from './result.ts'
import type { World } from './trace.ts'

/** A part of a check with a condition of its own, and the rule that the output names for it. */
export interface Part {
  rule: RuleName
  holds: (world: World) => Cond
}

/** One of the ten checks (request semantics, 3.2). */
export interface Check<K extends CheckName> {
  /** D, the condition to deny; if it is left out, that some part or entry holds. */
  denies?: (world: World, value: Items[K]) => Cond
  /** Parts other than entries that deny by themselves, in the order in which they are named. */
  parts?: (value: Items[K]) => Part[]
  /** Entries, each by itself. */
  entries?: (value: Items[K]) => Part[]
  /** Whether an entry that holds makes the check pass (a white list). */
  entriesPass?: (value: Items[K]) => boolean
}

/** The header as access sees it is empty. */
export function isEmptyText(world: World, text: string | null): boolean {
  return text === null ? world.is('R20', 'alike') : text === ''
}

/** Tests a header as access sees it: an absent header is the empty text, or matches nothing. */
export function testHeader(world: World, name: string, matches: (text: string) => Cond): Cond {
  return bind(readAccessHeader(world, name), (text) => {
    if (text !== null) return matches(text)
    return world.is('R20', 'alike') ? matches('') : no
  })
}

/** Whether a header as access sees it is empty. */
export function isHeaderEmpty(world: World, name: string): Cond {
  return map(readAccessHeader(world, name), (text) => isEmptyText(world, text))
}

/** The client's address for the IP checks. */
export function readClientAddress(world: World): Result<Address | 'unlisted'> {
  const { ip } = world.facts
  const fact: Result<Address | 'unlisted'> = ip === undefined ? unknown('not-given ip') : known(ip)
  if (world.is('R30', 'to-origin')) return fact
  return bind(world.item('client_real_ip'), (value) => {
    if (value === null) return fact
    return bind(readAccessHeader(world, value.head.toLowerCase()), (text) => {
      const address = text === null ? null : parseAddress(text.trim())
      return address === null ? unknown('not-given ip') : known(address)
    })
  })
}
