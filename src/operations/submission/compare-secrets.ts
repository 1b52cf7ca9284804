import type { Configured, Secrets } from '../runtime/parts.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { isSameAtService } from '../../core/catalog/item-spec.ts'
import { representSecretsIn } from '../../core/diff/known-secrets.ts'
import { isConditional, nameChange, type Change, type Write } from '../../core/model/change.ts'
import type { ApplyEvent } from '../../core/model/events.ts'
import type { Plan } from '../../core/model/plan.ts'
import { listSecrets } from '../../core/model/secret.ts'
import { settleConditional } from '../../core/plan/selection.ts'
import { obtainSecrets } from './resolve-for-send.ts'
import { listSecretUses } from './preflight.ts'

/** Makes a plan again, once it is known which of its conditional changes differ. */
export type Remake = (differs: (change: Change) => boolean) => Promise<Plan>

/** Plan without conditional changes: those that do not differ are not in it. */
export interface Compared {
  plan: Plan
  /** The conditional changes that differ, which the plan has like any other, and the rest. */
  differing: Change[]
  same: Change[]
  /** Writes of the first plan that would only have repeated recorded values, numbered anew. */
  unchanged: Write[]
}

/**
 * Compares the secrets of conditional changes with their recorded values. Runs the commands of
 * these secrets, so call it after consent. The writes and waves of the result are those of a plan
 * that has known the values.
 *
 * @throws EdgewiseError `access` when a command fails, `invalid` when a value occurs in the
 * service's address
 */
export async function compareSecrets(
  workspace: Configured & Secrets,
  plan: Plan,
  remake: Remake | undefined,
  signal: AbortSignal,
): Promise<Compared> {
  if (plan.definite === undefined || remake === undefined)
    return { plan, differing: [], same: [], unchanged: [] }
  const { vault } = workspace
  const conditional = plan.changes.filter(isConditional)
  const writes = selectWrites(plan.writes, new Set(conditional.map(nameChange)))
  await obtainSecrets(workspace, listSecretUses({ ...plan, writes }, vault), signal)
  const represent = ({ item, before, after }: Change) =>
    representSecretsIn(item, after, listSecrets([before]), (secret, recorded) =>
      vault.represent(secret, recorded),
    )
  const differing = conditional.filter(
    (change) => !isSameAtService(getItemSpec(change.item), change.before, represent(change)),
  )
  const names = new Set(differing.map(nameChange))
  const sent = await settle(plan, conditional.length, names, remake)
  const same = conditional.filter((change) => !names.has(nameChange(change)))
  const dropped = new Set(same.map(nameChange))
  const unchanged = plan.writes.filter((write) =>
    listNames(write).every((name) => dropped.has(name)),
  )
  const from = sent.writes.length + 1
  return {
    plan: sent,
    differing,
    same,
    unchanged: unchanged.map((write, i) => ({ ...write, id: from + i })),
  }
}

/** Makes the plan of the changes that differ. If these are none or all, it is known already. */
async function settle(
  plan: Plan,
  conditional: number,
  differing: ReadonlySet<string>,
  remake: Remake,
): Promise<Plan> {
  const { definite, ...whole } = plan
  if (differing.size === 0) return definite ?? whole
  if (differing.size < conditional) return remake((change) => differing.has(nameChange(change)))
  const summary = { ...plan.summary, conditional: 0 }
  return { ...whole, summary, changes: settleConditional(plan.changes, () => true) }
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

/** Selects the parts of writes that make these changes. */
function selectWrites(writes: Write[], names: ReadonlySet<string>): Write[] {
  return writes.flatMap((write) =>
    write.domains.flatMap((domain): Write[] => {
      const items = Object.entries(write.items).filter(([item]) =>
        names.has(nameChange({ domain, item })),
      )
      if (items.length === 0) return []
      return [{ ...write, domains: [domain], items: Object.fromEntries(items) }]
    }),
  )
}

function listNames({ domains, items }: Write): string[] {
  return domains.flatMap((domain) => Object.keys(items).map((item) => nameChange({ domain, item })))
}
