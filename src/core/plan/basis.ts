import { compareKeys, getOrAdd } from '../model/lists.ts'
import { createHash } from 'node:crypto'
import type { Domain, ItemState, Snapshot } from '../model/item.ts'
import { pickDefined, type Json } from '../model/json.ts'
import type { Plan } from '../model/plan.ts'
import { canonicalizeJson } from '../model/text/canonical-json.ts'
import { normalizeAddress } from '../model/text/url.ts'

/**
 * Hashes the items of each of these domains; a domain that is not in the snapshot has a hash too.
 * A state that domains share is formatted once.
 */
export function hashDomains(snapshot: Snapshot, domains: Iterable<Domain>): Record<Domain, string> {
  const texts = new WeakMap<ItemState, string>()
  const hashItems = (domain: Domain) => {
    const items = [...(snapshot.get(domain) ?? [])].toSorted(compareKeys)
    const fields = items.map(([item, state]) => {
      const text = getOrAdd(texts, state, () => canonicalizeJson(toHashInput(state)))
      return `${JSON.stringify(item)}:${text}`
    })
    return hashText(`{${fields.join()}}`)
  }
  return Object.fromEntries(Array.from(domains, (domain) => [domain, hashItems(domain)]))
}

/** Hashes a JSON value; the order of keys does not matter. */
export function hashJson(value: Json): string {
  return hashText(canonicalizeJson(value))
}

function hashText(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Picks the fields of a state to hash: not when and by which apply it was recorded. */
function toHashInput(state: ItemState): Json {
  const { status, candidates, unknown = false, returned = null, unknownFields } = state
  return pickDefined({ status, candidates, unknown, returned, unknownFields })
}

/** Workspace that a plan file is made for: its id and the address of its service. */
export interface PlanOwner {
  id: string
  /** Address with the values of variables. */
  address: string
  /** Address as written in edgewise.yaml, for messages. */
  writtenAddress: string
}

/** Binds the hashes of a plan that may be saved to its workspace. */
export function bindBasis(
  basis: Plan['basis'],
  owner: Omit<PlanOwner, 'writtenAddress'>,
): Plan['basis'] {
  return {
    ...basis,
    desired: bindHashes(basis.desired, owner),
    recorded: bindHashes(basis.recorded, owner),
  }
}

/** Binds hashes to a workspace, so that other workspaces refuse the plan file. */
export function bindHashes(
  hashes: Record<Domain, string>,
  owner: Omit<PlanOwner, 'writtenAddress'>,
): Record<Domain, string> {
  const { id } = owner
  const address = normalizeAddress(owner.address)
  return Object.fromEntries(
    Object.entries(hashes).map(([domain, hash]) => [domain, hashJson({ id, address, hash })]),
  )
}
