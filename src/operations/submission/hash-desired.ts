import { createHash } from 'node:crypto'
import type { Domain, ItemKey, ItemState, Snapshot, Value } from '../../core/model/item.ts'
import type { Json } from '../../core/model/json.ts'
import { findReference, findTemplate, mapSecrets } from '../../core/model/secret.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import { hashJson } from '../../core/plan/basis.ts'

/** Functions that hash desired state. Hashes do not depend on the values of secrets. */
export interface DesiredHashes {
  /** Hashes the whole desired state of a domain. */
  hashDomain(domain: Domain): string
  /** Hashes the desired value of one item, as `hashValue` does. */
  hashItem(domain: Domain, item: ItemKey): string
}

/** Returns functions that hash desired state; each secret is hashed by its reference. */
export function hashDesired({ desired }: { desired: Snapshot }): DesiredHashes {
  const hashes = new Map<Domain, string>()
  return {
    hashDomain: (domain) => {
      const known = hashes.get(domain)
      if (known !== undefined) return known
      const items = [...(desired.get(domain) ?? new Map<ItemKey, ItemState>())].map(
        ([item, { status, candidates }]) => [
          item,
          { status, candidates: candidates.map((value) => nameSecrets(value)) },
        ],
      )
      const hash = hashJson(Object.fromEntries(items))
      hashes.set(domain, hash)
      return hash
    },
    hashItem: (domain, item) => hashValue(desired.get(domain)?.get(item)),
  }
}

/** Characters of a hash of 128 bits in base64url. */
const hashLength = 22

/**
 * Hashes the value of a desired or recorded item, the last one that it may have; both have the same
 * hash for the same value and the same references of secrets. An item without a state, and one that
 * is unset, have a hash, too.
 */
export function hashValue(state: ItemState | undefined): string {
  if (state === undefined) return 'released'
  const value = state.status === 'unset' ? undefined : state.candidates.at(-1)
  if (value === undefined) return 'unset'
  const text = canonicalizeJson(nameSecrets(value, state.templates))
  return createHash('sha256').update(text).digest('base64url').slice(0, hashLength)
}

/** Replaces each secret of a value by its reference. */
function nameSecrets(value: Value, templates?: ItemState['templates']): Json {
  return mapSecrets(value, (secret) => ({
    $secret: findReference(secret) ?? findTemplate(templates, secret) ?? secret,
  }))
}
