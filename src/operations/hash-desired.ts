import { createHash } from 'node:crypto'
import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Domain, ItemState, ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { findReference, mapSecrets } from '../model/secret.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Returns a function that hashes a domain's desired state. The hash does not depend on the values
 * of secrets: a secret is hashed by its reference.
 */
export function hashDesired({
  desired,
}: Pick<LoadedWorkspace, 'desired'>): (domain: Domain) => string {
  const hashes = new Map<Domain, string>()
  const replaceSecrets = (value: Value): Json =>
    mapSecrets(value, (secret) => ({ $secret: findReference(secret) ?? secret }))
  return (domain) => {
    const known = hashes.get(domain)
    if (known !== undefined) return known
    const items = [...(desired.get(domain) ?? new Map<ItemKey, ItemState>())].map(
      ([item, { status, candidates }]) => [
        item,
        { status, candidates: candidates.map(replaceSecrets) },
      ],
    )
    const hash = `sha256:${createHash('sha256')
      .update(canonicalizeJson(Object.fromEntries(items)))
      .digest('hex')}`
    hashes.set(domain, hash)
    return hash
  }
}
