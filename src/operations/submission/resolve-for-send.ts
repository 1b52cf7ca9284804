import type { Configured, Secrets } from '../runtime/parts.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { computePatch, showOrdered } from '../../core/diff/diff-snapshots.ts'
import {
  checkSecretValues,
  createSecretFinding,
} from '../../manifest/workspace-file/credential-places.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import {
  isSafeToRepeat,
  nameChange,
  type Change,
  type Form,
  type Write,
} from '../../core/model/change.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupByEach } from '../../core/model/lists.ts'
import type { Domain, ItemKey, Snapshot, Value } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { resolvePointer } from '../../core/model/json.ts'
import {
  findReference,
  holdsSecret,
  isSecret,
  listSecrets,
  mapSecrets,
  listReferencedNames,
} from '../../core/model/secret.ts'
import { findPlanFault } from '../../core/plan/find-plan-fault.ts'
import { refuseInvalidSecrets, listSecretUses, type SecretUse } from './preflight.ts'

/** Plan with resolved secrets. */
export interface Resolved {
  plan: Plan
  /** Names of secrets whose command returned another value than recorded; the writes contain it. */
  renewed: string[]
}

/**
 * Runs the commands of the secrets in a plan's writes, and substitutes their values for unresolved
 * secrets and recorded fingerprints, in writes and changes; new secrets get the form in which they
 * are recorded. Call it after consent, before anything is sent or recorded. A command runs once per
 * process.
 *
 * @throws EdgewiseError `access` when a command fails, `invalid` when a value is not valid, or
 * occurs in a text of the workspace file
 */
export async function resolveForSend(
  workspace: Configured & Secrets,
  planned: Plan,
  recorded: Snapshot,
  signal: AbortSignal,
): Promise<Resolved> {
  const { vault } = workspace
  const forms = planned.writes.flatMap(({ items }) => Object.values(items))
  if (!forms.some(({ payload }) => holdsSecret(payload))) return { plan: planned, renewed: [] }
  vault.keepSalt()
  const uses = listSecretUses(planned, vault)
  await obtainSecrets(workspace, uses, signal)
  const resolution = resolveUses(uses, vault)
  addRepresented(resolution, planned.writes, vault)
  if (resolution.touched.size === 0) return { plan: planned, renewed: [] }
  const writes = planned.writes.map((write) => resolveWrite(write, resolution))
  const plan = { ...planned, writes, changes: resolveChanges(planned.changes, writes, resolution) }
  refuseUnproven(plan, recorded, resolution)
  refuseInvalidSecrets(plan, vault)
  return { plan, renewed: listRenewed(planned, uses, vault) }
}

/**
 * Obtains the values of secrets; commands run once per process.
 *
 * @throws EdgewiseError `access` when a command fails, `invalid` when a value occurs in a text of
 * the workspace file
 */
export async function obtainSecrets(
  { vault, config }: Configured & Secrets,
  uses: SecretUse[],
  signal: AbortSignal,
): Promise<void> {
  await vault.obtain(
    uses.flatMap(({ reference }) => vault.listMissing(reference)),
    signal,
  )
  // The value of a command is known only now.
  const misplaced = config.texts.find((text) => vault.occursIn(text))
  if (misplaced !== undefined)
    throw new EdgewiseError('invalid', `edgewise.yaml: ${createSecretFinding(misplaced).detail}`)
  const [holder] = checkSecretValues(config, vault.listValues())
  if (holder !== undefined) throw new EdgewiseError('invalid', `edgewise.yaml: ${holder.detail}`)
}

/** Resolved secrets of a plan's writes. */
interface Resolution {
  /** Resolved secrets by write and item. */
  secrets: Map<string, Map<string, string>>
  /** Items with resolved secrets. */
  touched: Map<Domain, Set<ItemKey>>
}

function resolveUses(uses: SecretUse[], vault: SecretVault): Resolution {
  const secrets = new Map<string, Map<string, string>>()
  const touched = new Map<Domain, Set<ItemKey>>()
  for (const { write, domain, item, secret, reference } of uses) {
    const own = secrets.get(createKey(write, item)) ?? new Map<string, string>()
    const now = vault.resolve(reference).$secret
    if ((own.get(secret) ?? now) !== now) throw createConflictError(write, item)
    secrets.set(createKey(write, item), own.set(secret, now))
    touched.set(domain, (touched.get(domain) ?? new Set()).add(item))
  }
  return { secrets, touched }
}

/** Adds the secrets that are recorded in another form than planned. */
function addRepresented(resolution: Resolution, writes: Write[], vault: SecretVault): void {
  for (const write of writes) {
    for (const [item, { payload }] of Object.entries(write.items)) {
      const own = resolution.secrets.get(createKey(write, item)) ?? new Map<string, string>()
      for (const secret of listSecrets([payload])) {
        const now = vault.represent(secret)
        if (own.has(secret) || now === secret || !vault.knows(secret)) continue
        resolution.secrets.set(createKey(write, item), own.set(secret, now))
        for (const domain of write.domains)
          resolution.touched.set(domain, (resolution.touched.get(domain) ?? new Set()).add(item))
      }
    }
  }
}

/** Creates the error for two secrets with one recorded value and two current values. */
function createConflictError({ domains }: Write, item: ItemKey): EdgewiseError {
  const message = "two secrets had the same value and now differ; one write can't set both"
  return new EdgewiseError(
    'access',
    `${item} of ${domains.join(', ')}: ${message}`,
    'Apply these domains one at a time with --target.',
  )
}

function createKey({ id }: Write, item: ItemKey): string {
  return `${id} ${item}`
}

function resolveWrite(write: Write, { secrets }: Resolution): Write {
  const items = Object.entries(write.items).map(([item, form]): [ItemKey, Form] => {
    const own = secrets.get(createKey(write, item))
    return [
      item,
      own === undefined ? form : { ...form, payload: replaceSecrets(form.payload, own) },
    ]
  })
  return { ...write, items: Object.fromEntries(items) }
}

function replaceSecrets(value: Value, secrets: ReadonlyMap<string, string>): Value {
  return mapSecrets(value, (secret) => ({ $secret: secrets.get(secret) ?? secret }))
}

/** Updates the changes to match the resolved writes. */
function resolveChanges(changes: Change[], writes: Write[], resolution: Resolution): Change[] {
  const { touched } = resolution
  const writesByDomain = groupByEach(writes, ({ domains }) =>
    domains.filter((domain) => touched.has(domain)),
  )
  return changes.map((change) => {
    const { domain, item, before, after } = change
    if (after === null || touched.get(domain)?.has(item) !== true) return change
    const own = (writesByDomain.get(domain) ?? []).filter(
      (write) => write.items[item] !== undefined,
    )
    const value = computeValueAfter(item, { before, after }, own, resolution)
    const shown = showOrdered(getItemSpec(item), before, value, change.shown?.after)
    return { ...change, after: value, ...shown, patch: computePatch(before, value) }
  })
}

/**
 * Computes the value after the writes. A delta keeps entries that it does not name, including an
 * old value of the same secret.
 */
function computeValueAfter(
  item: ItemKey,
  { before, after }: { before: Value | null; after: Value },
  writes: Write[],
  { secrets }: Resolution,
): Value {
  const spec = getItemSpec(item)
  const forms = writes.flatMap((write) => write.items[item] ?? [])
  if (forms.every(({ name }) => isSafeToRepeat(name))) {
    const all = new Map(writes.flatMap((write) => [...(secrets.get(createKey(write, item)) ?? [])]))
    return spec.canonicalize(replaceSecrets(after, all))
  }
  const recordedValue = before ?? undefined
  let value: Value | undefined = recordedValue
  for (const { payload } of forms) value = spec.reduce(value, payload)
  return value ?? after
}

/** Proves again that the writes lead to the changes, for items with resolved secrets. */
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
    `the plan can't be proven with the values of its secrets: ${fault}`,
    'Nothing was sent. This is a defect of edgewise; please report it.',
  )
}

function listRenewed({ changes }: Plan, uses: SecretUse[], vault: SecretVault): string[] {
  const before = new Map(changes.map((change) => [nameChange(change), change]))
  const isRenewed = ({ domain, item, secret, reference }: SecretUse) => {
    const isSame = (known: string) => vault.isSame(known, reference)
    if (findReference(secret) === null) return !isSame(secret)
    const change = before.get(nameChange({ domain, item }))
    return change !== undefined && hasOtherSecret(change, secret, isSame)
  }
  const names = uses.filter(isRenewed).flatMap(({ reference }) => listReferencedNames(reference))
  return [...new Set(names)].filter((name) => vault.isCommand(name)).toSorted()
}

/** Tests whether a recorded secret, in the place of an unresolved one, differs from its value. */
function hasOtherSecret(
  { before, after }: Change,
  unresolved: string,
  isSame: (known: string) => boolean,
): boolean {
  let differs = false
  mapSecrets(after, (secret, pointer) => {
    const known = secret === unresolved ? resolvePointer(before, pointer) : undefined
    differs ||= isSecret(known) && !isSame(known.$secret)
    return null
  })
  return differs
}
