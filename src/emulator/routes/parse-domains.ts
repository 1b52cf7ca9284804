import { isAcceleratedDomain } from '../../core/catalog/value/formats.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import type { Store } from '../store/store.ts'
import { Refusal } from './refusal.ts'

const maxDomains = 10

/**
 * Parses the domains of a write to lower case, without duplicates: a comma-separated string of at
 * most 10 (specification, "POST /domain/config"). Throws a Refusal for any other value.
 */
export function parseDomains(given: Json | undefined): Domain[] {
  if (typeof given !== 'string')
    throw new Refusal(
      'domains-invalid',
      `expected "domains" to be a string of names separated by commas, got ${describeKind(given)}`,
    )
  const names = given.split(',').map((name) => name.trim())
  if (names.includes(''))
    throw new Refusal(
      'domains-invalid',
      'expected "domains" to be names separated by commas, got an empty name',
    )
  const distinct = new Map(names.map((name) => [name.toLowerCase(), name]))
  if (distinct.size > maxDomains)
    throw new Refusal(
      'domains-invalid',
      `expected at most ${maxDomains} domains in "domains", got ${distinct.size}`,
    )
  const malformed = [...distinct.values()].find((name) => !isAcceleratedDomain(name))
  if (malformed !== undefined) throw createDomainRefusal(malformed)
  return [...distinct.keys()]
}

/** Creates the refusal of an unknown domain, in the words of the specification ("Errors"). */
export function createDomainRefusal(domain: string): Refusal {
  return new Refusal('domain-invalid', `domain(${domain}) is invalid`)
}

/** Refuses domains that do not exist. */
export function refuseUnknown(domains: Domain[], store: Pick<Store, 'hasDomain'>): void {
  const unknown = domains.find((domain) => !store.hasDomain(domain))
  if (unknown !== undefined) throw createDomainRefusal(unknown)
}

function describeKind(value: Json | undefined): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value)
    ? 'a list'
    : typeof value === 'object'
      ? 'an object'
      : `a ${typeof value}`
}
