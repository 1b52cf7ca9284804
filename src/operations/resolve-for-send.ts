import { getItemSpec } from '../catalog/catalogue.ts'
import { computePatch } from '../diff/compute-patch.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import { secretDetail } from '../manifest/service-address.ts'
import { isSafeToRepeat, type Change, type Form, type Write } from '../model/change.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Snapshot, Value } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { mapSecrets } from '../model/secret.ts'
import { listReferencedNames } from '../model/secret-keeper.ts'
import { findPlanFault } from '../plan/find-plan-fault.ts'
import { refuseInvalidSecrets } from './preflight.ts'
import { listSecretUses, type SecretUse } from './secret-uses.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/** A plan that can be sent as it stands. */
export interface Resolved {
  plan: Plan
  /** Names of secrets whose command gave another value than is recorded; the writes hold it. */
  renewed: string[]
}

/**
 * Runs the commands of the secrets that a plan's writes hold, and puts what they give in the place
 * of unresolved secrets and of recorded fingerprints, in writes and changes. To be called after
 * consent and before anything is sent or recorded. A command runs once for a process.
 *
 * @throws EdgewiseError `access` when a command fails, `invalid` when a value is not valid,
 *   or stands in the service's address
 */
export async function resolveForSend(
  { vault, config }: Pick<LoadedWorkspace, 'vault' | 'config'>,
  planned: Plan,
  recorded: Snapshot,
  signal: AbortSignal,
): Promise<Resolved> {
  const uses = listSecretUses(planned, vault)
  if (uses.length === 0) return { plan: planned, renewed: [] }
  await vault.obtain(
    uses.flatMap(({ reference }) => vault.listMissing(reference)),
    signal,
  )
  // The address is shown and recorded; what a command gives is known only now.
  if (vault.occursIn(config.service.url))
    throw new EdgewiseError('invalid', `service.url in edgewise.yaml: ${secretDetail}`)
  const resolution = resolveUses(uses, vault)
  const writes = planned.writes.map((write) => resolveWrite(write, resolution))
  const plan = { ...planned, writes, changes: resolveChanges(planned.changes, writes, resolution) }
  refuseUnproven(plan, recorded, resolution)
  refuseInvalidSecrets(plan, vault)
  return { plan, renewed: renewedNames(uses, vault) }
}

/** What stands for the secrets of a plan's writes now. */
interface Resolution {
  /** By write and item. */
  secrets: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** The items that hold them. */
  touched: ReadonlyMap<Domain, ReadonlySet<ItemKey>>
}

function resolveUses(uses: SecretUse[], vault: SecretVault): Resolution {
  const secrets = new Map<string, Map<string, string>>()
  const touched = new Map<Domain, Set<ItemKey>>()
  for (const { write, domain, item, secret, reference } of uses) {
    const own = secrets.get(place(write, item)) ?? new Map<string, string>()
    const now = vault.resolve(reference).$secret
    if ((own.get(secret) ?? now) !== now) throw apart(write, item)
    secrets.set(place(write, item), own.set(secret, now))
    touched.set(domain, (touched.get(domain) ?? new Set()).add(item))
  }
  return { secrets, touched }
}

/** Two secrets were recorded with one value and are different now, so one write can't hold both. */
function apart({ domains }: Write, item: ItemKey): EdgewiseError {
  const message = "two secrets had one value and now have two: one write can't set both"
  return new EdgewiseError(
    'access',
    `${item} of ${domains.join(', ')}: ${message}`,
    'Choose one of these domains after the other with --target.',
  )
}

function place({ id }: Write, item: ItemKey): string {
  return `${id} ${item}`
}

function resolveWrite(write: Write, { secrets }: Resolution): Write {
  const items = Object.entries(write.items).map(([item, form]): [ItemKey, Form] => {
    const own = secrets.get(place(write, item))
    return [item, own === undefined ? form : { ...form, payload: replaced(form.payload, own) }]
  })
  return { ...write, items: Object.fromEntries(items) }
}

function replaced(value: Value, secrets: ReadonlyMap<string, string>): Value {
  return mapSecrets(value, (secret) => ({ $secret: secrets.get(secret) ?? secret }))
}

/** Makes the changes say what the writes now lead to. */
function resolveChanges(changes: Change[], writes: Write[], resolution: Resolution): Change[] {
  const { touched } = resolution
  const writesOf = new Map<Domain, Write[]>()
  for (const write of writes) {
    for (const domain of write.domains.filter((each) => touched.has(each))) {
      writesOf.set(domain, [...(writesOf.get(domain) ?? []), write])
    }
  }
  return changes.map((change) => {
    const { domain, item, before, after } = change
    if (after === null || touched.get(domain)?.has(item) !== true) return change
    const own = (writesOf.get(domain) ?? []).filter((write) => write.items[item] !== undefined)
    const value = valueAfter(item, { before, after }, own, resolution)
    return { ...change, after: value, patch: computePatch(before, value) }
  })
}

/** A delta leaves alone what it does not name, also the old value of the same secret there. */
function valueAfter(
  item: ItemKey,
  { before, after }: { before: Value | null; after: Value },
  writes: Write[],
  { secrets }: Resolution,
): Value {
  const spec = getItemSpec(item)
  const forms = writes.flatMap((write) => write.items[item] ?? [])
  if (forms.every(({ name }) => isSafeToRepeat(name))) {
    const all = new Map(writes.flatMap((write) => [...(secrets.get(place(write, item)) ?? [])]))
    return spec.canonicalize(replaced(after, all))
  }
  const held = before ?? undefined
  let value: Value | undefined = held
  for (const { payload } of forms) value = spec.reduce(value, payload)
  return value ?? after
}

/** Proves once more that the writes bring about the changes, for the items that were resolved. */
function refuseUnproven(plan: Plan, recorded: Snapshot, { touched }: Resolution): void {
  const { changes, writes } = plan
  const isTouched = (domain: Domain, item: ItemKey) => touched.get(domain)?.has(item) === true
  const own = changes.filter(({ domain, item }) => isTouched(domain, item))
  const parts = writes.flatMap((write) =>
    write.domains.map((domain): Write => {
      const items = Object.entries(write.items).filter(([item]) => isTouched(domain, item))
      return { ...write, domains: [domain], items: Object.fromEntries(items) }
    }),
  )
  const base: Snapshot = new Map(
    [...touched].map(([domain, items]) => {
      const all = [...(recorded.get(domain) ?? [])]
      return [domain, new Map(all.filter(([item]) => items.has(item)))]
    }),
  )
  const fault = findPlanFault(own, parts, base)
  if (fault === null) return
  throw new EdgewiseError(
    'plan-unproven',
    `with the values of its secrets the plan does not prove itself: ${fault}`,
    'Nothing was sent. This is a defect of edgewise; please report it.',
  )
}

function renewedNames(uses: SecretUse[], vault: SecretVault): string[] {
  const isRenewed = ({ secret, reference }: SecretUse) =>
    // What was unresolved was not recorded, so it is no other value.
    !secret.startsWith('unresolved:') && vault.resolve(reference).$secret !== secret
  const renewed = uses.filter(isRenewed)
  const names = renewed.flatMap(({ reference }) => listReferencedNames(reference))
  return [...new Set(names)].filter((name) => vault.isCommand(name)).toSorted()
}
