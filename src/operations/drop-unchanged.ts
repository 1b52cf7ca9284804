import { getItemSpec } from '../catalog/catalogue.ts'
import { isSameAtService } from '../catalog/item-spec.ts'
import { representSecretsIn } from '../diff/known-secrets.ts'
import type { Change, Write } from '../model/change.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { listSecrets } from '../model/secret.ts'
import { placeApprovals } from '../plan/approval-waves.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { obtainSecrets } from './resolve-for-send.ts'
import { listSecretUses } from './secret-uses.ts'

/** Plan without the writes that would send recorded values only. */
export interface Dropped {
  plan: Plan
  /** The writes that are not in the plan any more. */
  unchanged: Write[]
}

/**
 * Drops the writes of which every change is conditional and no secret differs from its recorded
 * value. Runs the commands of the secrets in conditional writes, so call it after consent. Every
 * other write stays as planned: nothing is added or regrouped.
 *
 * @throws EdgewiseError `access` when a command fails, `invalid` when a value occurs in the
 * service's address
 */
export async function dropUnchanged(
  workspace: Pick<LoadedWorkspace, 'vault' | 'config'>,
  plan: Plan,
  signal: AbortSignal,
): Promise<Dropped> {
  const { vault } = workspace
  const conditional = new Map(
    plan.changes
      .filter(({ reason }) => reason === 'secret-unknown')
      .map((change) => [createKey(change.domain, change.item), change]),
  )
  const candidates = plan.writes.filter((write) =>
    listKeys(write).every((key) => conditional.has(key)),
  )
  if (candidates.length === 0) return { plan, unchanged: [] }
  await obtainSecrets(workspace, listSecretUses({ ...plan, writes: candidates }, vault), signal)
  const isUnchanged = ({ item, before, after }: Change) =>
    before !== null &&
    after !== null &&
    isSameAtService(
      getItemSpec(item),
      before,
      representSecretsIn(item, after, listSecrets([before]), (secret, recorded) =>
        vault.represent(secret, recorded),
      ),
    )
  const unchanged = candidates.filter((write) =>
    listKeys(write).every((key) => {
      const change = conditional.get(key)
      return change !== undefined && isUnchanged(change)
    }),
  )
  const dropped = new Set(unchanged.flatMap(listKeys))
  return {
    plan: {
      ...plan,
      writes: plan.writes.filter((write) => !unchanged.includes(write)),
      changes: plan.changes.flatMap((change) => dropChange(change, dropped)),
    },
    unchanged,
  }
}

/** Numbers the waves of a new rollout again, so that none is empty. */
export function closeWaveGaps(plan: Plan): Plan {
  const waves = [...new Set(plan.writes.map(({ wave }) => wave))].toSorted((a, b) => a - b)
  const writes = plan.writes.map((write) => ({ ...write, wave: waves.indexOf(write.wave) + 1 }))
  const { approvals = [], ...others } = plan
  const placed = placeApprovals(approvals, waves)
  return { ...others, writes, ...(placed.length === 0 ? {} : { approvals: placed }) }
}

/** Adds the dropped writes to an event of an apply: `write.not-sent`, and their number. */
export function reportUnchanged(event: ApplyEvent, unchanged: Write[]): ApplyEvent[] {
  if (unchanged.length === 0) return [event]
  if (event.type === 'apply.finished') return [{ ...event, unchanged: unchanged.length }]
  if (event.type !== 'apply.started') return [event]
  const message = 'the values of its secrets are as recorded'
  return [
    { ...event, writes: event.writes + unchanged.length },
    ...unchanged.map(({ id }): ApplyEvent => {
      return { type: 'write.not-sent', time: event.time, id, reason: 'unchanged', message }
    }),
  ]
}

/** Drops a change. An item that it would have emptied is released instead. */
function dropChange(change: Change, dropped: ReadonlySet<string>): Change[] {
  const { domain, item, by, ...rest } = change
  if (dropped.has(createKey(domain, item))) return []
  if (by === undefined || !dropped.has(createKey(domain, by))) return [change]
  return [{ ...rest, domain, item, action: 'release', reason: 'differs' }]
}

function listKeys({ domains, items }: Write): string[] {
  return domains.flatMap((domain) => Object.keys(items).map((item) => createKey(domain, item)))
}

function createKey(domain: Domain, item: ItemKey): string {
  return `${domain} ${item}`
}
