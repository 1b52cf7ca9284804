import { createHash } from 'node:crypto'
import { canonicalizeJson } from '../model/canonical-json.ts'
import type { Domain, ItemState, ItemKey, Value } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import { mapSecrets } from '../model/secret.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * A hash of what the manifests ask for of a domain, the same whether or not the values of its
 * secrets are at hand: secrets count by what they are made from.
 */
export function hashDesired({
  desired,
  vault,
}: Pick<LoadedWorkspace, 'desired' | 'vault'>): (domain: Domain) => string {
  const hashes = new Map<Domain, string>()
  const named = (value: Value): Json => {
    const templates = vault.listTemplates(value)
    return mapSecrets(value, (secret) => ({
      $secret: templates[secret] ?? secret.replace(/^unresolved:/, ''),
    }))
  }
  return (domain) => {
    const known = hashes.get(domain)
    if (known !== undefined) return known
    const items = [...(desired.get(domain) ?? new Map<ItemKey, ItemState>())].map(
      ([item, { status, candidates }]) => [item, { status, candidates: candidates.map(named) }],
    )
    const hash = `sha256:${createHash('sha256')
      .update(canonicalizeJson(Object.fromEntries(items)))
      .digest('hex')}`
    hashes.set(domain, hash)
    return hash
  }
}
