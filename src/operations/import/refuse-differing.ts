import type { Configured, Secrets } from '../runtime/parts.ts'
import { getItemSpec } from '../../core/catalog/catalogue.ts'
import { isRecordedValue } from '../../core/catalog/item-spec.ts'
import { findNamesake } from '../../core/catalog/wire-names.ts'
import type { SecretVault } from '../../manifest/secrets/secret-vault.ts'
import { isSameJson } from '../../core/model/json.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { groupDomains } from '../../core/model/lists.ts'
import { type ImportedItem, type ItemKey, type Value, type Domain } from '../../core/model/item.ts'
import { findTemplate, listSecrets, mapSecrets } from '../../core/model/secret.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { RecordedItem, RecordedState } from '../../state/store/store.ts'
import { loadEarlierCalls } from '../../engine/apply/earlier-calls.ts'
import { markLate } from '../../engine/apply/settling.ts'
import type { Dialogue } from '../runtime/ports.ts'
import type { Locked } from '../runtime/with-lock.ts'

/**
 * Refuses an import over recorded items that differ, or may differ.
 *
 * @throws EdgewiseError `usage` with the kind of each difference
 */
export function refuseDiffering(
  managed: ImportedItem[],
  recorded: RecordedState,
  { vault, config }: Configured & Secrets,
): void {
  const differing = managed.flatMap(({ domain, item, value }) => {
    const known = recorded.get(domain)?.get(item)
    const namesake = findNamesake(item, config.service.itemKeys) ?? ''
    const isReplacing = recorded.get(domain)?.get(namesake)?.status === 'confirmed'
    const different = known === undefined ? null : explainDifference(item, known, value, vault)
    const how = isReplacing ? `replaces ${namesake}, which has the same name` : different
    return how === null ? [] : [{ domain, item, how }]
  })
  if (differing.length === 0) return
  const lines = groupDomains(differing, ({ item, how }) => `${item} ${how}`).map(
    ({ first, domains }) => `${first.item} of ${listSome(domains)} ${first.how}`,
  )
  throw new EdgewiseError(
    'usage',
    `the state has something else, so nothing was recorded: ${lines.join('; ')}`,
    'Pass --replace if the imported values are what the service has.',
  )
}

/** Explains how a recorded item differs from an imported value; null if it does not. */
function explainDifference(
  item: ItemKey,
  { status, candidates, templates = {} }: RecordedItem,
  value: Value,
  vault: SecretVault,
): string | null {
  if (status === 'in-doubt') return 'is in-doubt: an apply may have changed it'
  if (status === 'unset' && value === null) return null
  const [known] = candidates
  if (status !== 'confirmed' || known === undefined) return 'is recorded as unset'
  const spec = getItemSpec(item)
  if (isRecordedValue(spec, known, value)) return null
  // A text around a secret can be compared only with the value of the secret.
  const isUnknown = (secret: string) =>
    findTemplate(templates, secret)?.includes('${') === true && !vault.knows(secret)
  const hide = (each: Value) => mapSecrets(each, () => 'secret')
  return [...listSecrets([known])].some(isUnknown) && isSameJson(hide(known), hide(value))
    ? 'has a secret that can not be compared'
    : 'is recorded with another value'
}

/**
 * Marks the imported items that a call of an apply that died may still change, and notes them.
 *
 * @param imported new state of domains
 * @param recorded their state before
 */
export async function markLateItems(
  imported: RecordedState,
  recorded: RecordedState,
  { config }: Configured,
  { store, lockedAt }: Locked,
  { note }: Pick<Dialogue, 'note'>,
): Promise<RecordedState> {
  const timeoutMs = config.service.timeoutSeconds * 1000
  const settleMs = config.service.settleSeconds * 1000
  const { itemKeys, url } = config.service
  const affected = [...imported].map(([domain, items]) => ({
    domains: [domain],
    items: [...items.keys()],
  }))
  const earlier = await loadEarlierCalls(affected, recorded, lockedAt.atMs, store, itemKeys)
  const endsWithProcess = url === 'emulator'
  const times = { lockedAt, timeoutMs, settleMs, endsWithProcess }
  const context = { ...earlier, apply: '', ...times, itemKeys }
  const changed: Domain[] = []
  const marked = new Map(
    Array.from(imported, ([domain, items]) => {
      const before = recorded.get(domain) ?? new Map<ItemKey, RecordedItem>()
      const after = markLate(domain, items, before, lockedAt.atMs, context)
      if ([...after].some(([item, state]) => state !== items.get(item))) changed.push(domain)
      return [domain, after] as const
    }),
  )
  if (changed.length > 0)
    note(
      `A call of an apply that died may still change imported items of ${listSome(changed)}: ` +
        'another value is sent only once that is impossible. To be certain of the same value, ' +
        'import it again after that time.',
    )
  return marked
}
