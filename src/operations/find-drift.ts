import { detectDrift } from '../diff/detect-drift.ts'
import { replaceKnownSecrets } from '../diff/known-secrets.ts'
import { parseObserved } from '../manifest/observed.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import type { Workspace } from '../manifest/workspace.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Drift, Observed } from '../model/drift.ts'
import { unrecordedState, type Domain, type ItemState, type ItemKey } from '../model/item.ts'
import type { Json } from '../model/json.ts'
import type { Rollout } from '../model/rollout.ts'
import { findDomainsOnHold } from '../rollout/conflicts.ts'
import type { RecordedState, RecordedItem } from '../state/store.ts'
import { hashDesired } from './hash-desired.ts'
import { describeUnfinished } from '../rollout/on-hold.ts'

/** Where desired, recorded and observed configuration part, and what can be done from there. */
export interface FoundDrift {
  drift: Drift
  observed: Observed
  /** Sentences about observed items that are not managed, and about unfinished rollbacks. */
  notes: string[]
}

/**
 * Holds the manifests, the record and, where somebody can look at the service, what it holds
 * against each other. Writes nothing, neither to the service nor to the record.
 *
 * @param observed what was seen, `{domain: {item: payload}}`; null where nothing can be observed
 * @param rollouts what the store keeps of rollouts
 * @throws EdgewiseError `invalid` when a manifest has an error, `not-observed` when `observed` has
 * another shape
 */
export function findDrift(
  workspace: Workspace & { vault: SecretVault },
  recorded: RecordedState,
  observed: Json | null,
  rollouts: Rollout[] = [],
): FoundDrift {
  if (workspace.diagnostics.some((diagnostic) => diagnostic.severity === 'error')) {
    throw new EdgewiseError(
      'invalid',
      'the manifests have errors',
      'Run "edgewise validate".',
      workspace.diagnostics,
    )
  }
  const { vault, config } = workspace
  const desired = replaceKnownSecrets(workspace.desired, recorded)
  const seen =
    observed === null
      ? { observed: new Map(), notes: [] }
      : parseObserved(observed, { recorded, desired, itemKeys: config.service.itemKeys, vault })
  const held = findDomainsOnHold(rollouts, hashDesired(workspace))
  return {
    observed: seen.observed,
    notes: [...seen.notes, ...describeUnfinished(held)],
    drift: detectDrift(recorded, desired, seen.observed, new Set(held.keys())),
  }
}

/**
 * Gives the base of a repair: for the domains where the service was seen to hold something else
 * than is recorded, the state with what was seen. A value that is not certain is in doubt, so that
 * the repair writes the item whole; of an unreadable item that is no longer desired nothing is
 * recorded.
 *
 * @param at the time of the look, ISO 8601
 */
export function buildRepairBase(
  { drift: found, observed }: FoundDrift,
  recorded: RecordedState,
  { desired, vault }: Pick<Workspace, 'desired'> & { vault: SecretVault },
  at: string,
): Map<Domain, Map<ItemKey, RecordedItem>> {
  const base = new Map<Domain, Map<ItemKey, RecordedItem>>()
  const about = { at, apply: `observed-${at}`, origin: 'import' as const }
  const record = (
    domain: Domain,
    item: ItemKey,
    held: ItemState,
    templates: Record<string, string>,
  ) => {
    const items = base.get(domain) ?? new Map(recorded.get(domain))
    const named = Object.keys(templates).length === 0 ? {} : { templates }
    items.set(item, { ...held, ...named, ...about })
    base.set(domain, items)
  }
  for (const { domain, item, after } of found.live) {
    const sight = observed.get(domain)?.get(item)
    if (sight === undefined) continue
    const known = recorded.get(domain)?.get(item)
    if (known === undefined && sight.notVerified.length > 0) {
      // What was hidden was never recorded either.
      record(domain, item, unrecordedState, {})
      continue
    }
    const { status } = sight.state
    const templates = after === null ? {} : { ...known?.templates, ...vault.listTemplates(after) }
    record(domain, item, { status, candidates: after === null ? [] : [after] }, templates)
  }
  for (const { domain, item, unreadable } of found.items) {
    const known = recorded.get(domain)?.get(item)
    if (unreadable === undefined || known?.status === 'in-doubt') continue
    if (desired.get(domain)?.has(item) !== true) continue
    const { candidates = [], templates = {} } = known ?? {}
    record(domain, item, { status: 'in-doubt', candidates, unknown: true }, templates)
  }
  return base
}
