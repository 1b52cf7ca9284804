import { driftOf } from '../diff/drift.ts'
import { withKnownSecrets } from '../diff/known-secrets.ts'
import { readObserved } from '../manifest/observed.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Drift, Observed } from '../model/drift.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Rollout } from '../model/rollout.ts'
import { heldDomains } from '../plan/standing.ts'
import type { Recorded, RecordedItem } from '../state/record.ts'
import { askedOf } from './asked.ts'
import { unfinishedNotes } from './held.ts'

/** Where desired, recorded and observed configuration part, and what can be done from there. */
export interface FoundDrift {
  drift: Drift
  observed: Observed
  /** Sentences about observed values that could not be used, and about rollouts that are not wholly taken back. */
  notes: string[]
}

/**
 * Holds the manifests, the record and, where somebody can look at the service, what it holds against each other. Writes
 * nothing, neither to the service nor to the record.
 *
 * @param observed what was seen, `{domain: {item: payload}}`; null where nothing can be observed
 * @param rollouts what the store keeps of rollouts
 * @throws EdgewiseError `invalid` when a manifest has an error, `not-observed` when `observed` has another shape
 */
export function drift(
  workspace: Workspace & { vault: SecretVault },
  recorded: Recorded,
  observed: Json | null,
  rollouts: Rollout[] = [],
): FoundDrift {
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError('invalid', 'the manifests have errors', 'Run "edgewise validate".', workspace.diagnostics)
  }
  const { vault, config } = workspace
  const desired = withKnownSecrets(workspace.desired, recorded)
  const seen =
    observed === null
      ? { observed: new Map(), notes: [] }
      : readObserved(observed, { recorded, desired, itemKeys: config.service.itemKeys, vault })
  const held = heldDomains(rollouts, askedOf(workspace))
  return {
    observed: seen.observed,
    notes: [...seen.notes, ...unfinishedNotes(held)],
    drift: driftOf(recorded, desired, seen.observed, new Set(held.keys())),
  }
}

/**
 * What a repair starts from: for the domains where the service was seen to hold something else than is recorded, the
 * record with what was seen.
 *
 * @param at the time of the look, ISO 8601
 */
export function observedBase(
  { drift: found, observed }: FoundDrift,
  recorded: Recorded,
  vault: SecretVault,
  at: string,
): Map<Domain, Map<ItemKey, RecordedItem>> {
  const base = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item, after } of found.live) {
    const sight = observed.get(domain)?.get(item)
    if (sight === undefined) continue
    const items = base.get(domain) ?? new Map(recorded.get(domain))
    const known = recorded.get(domain)?.get(item)?.templates ?? {}
    const templates = after === null ? {} : { ...known, ...vault.templatesOf(after) }
    items.set(item, {
      status: sight.held.status,
      candidates: after === null ? [] : [after],
      ...(Object.keys(templates).length === 0 ? {} : { templates }),
      at,
      apply: `observed-${at}`,
      origin: 'import',
    })
    base.set(domain, items)
  }
  return base
}
