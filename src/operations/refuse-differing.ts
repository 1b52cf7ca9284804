import { getItemSpec } from '../catalog/catalogue.ts'
import { fillKeptFields, isSameAtService } from '../catalog/item-spec.ts'
import { findNamesake } from '../catalog/wire-names.ts'
import type { SecretVault } from '../manifest/secret-vault.ts'
import { isSameJson } from '../model/canonical-json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { groupBy } from '../model/group-by.ts'
import type { ImportedItem, ItemKey, Value } from '../model/item.ts'
import { findTemplate, listSecrets, mapSecrets } from '../model/secret.ts'
import { listSome } from '../model/words.ts'
import type { RecordedItem, RecordedState } from '../state/store.ts'
import type { LoadedWorkspace } from './load-workspace.ts'

/**
 * Refuses an import over recorded items that differ, or may differ.
 *
 * @throws EdgewiseError `usage` with the kind of each difference
 */
export function refuseDiffering(
  managed: ImportedItem[],
  recorded: RecordedState,
  { vault, config }: Pick<LoadedWorkspace, 'vault' | 'config'>,
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
  const groups = groupBy(differing, ({ item, how }) => `${item} ${how}`)
  const lines = [...groups.values()].map(([first, ...others]) => {
    const domains = [first, ...others].flatMap((each) => (each === undefined ? [] : [each.domain]))
    return `${first?.item ?? ''} of ${listSome(domains)} ${first?.how ?? ''}`
  })
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
  const [known] = candidates
  if (status !== 'confirmed' || known === undefined) return 'is recorded as unset'
  const spec = getItemSpec(item)
  // A field that the service keeps and nobody has recorded is unknown, which is no difference.
  const completed = fillKeptFields(spec.keptFields, known, value)
  if (isSameAtService(spec, completed, value)) return null
  // A text around a secret can be compared only with the value of the secret.
  const isUnknown = (secret: string) =>
    findTemplate(templates, secret)?.includes('${') === true && !vault.knows(secret)
  const hide = (each: Value) => mapSecrets(each, () => 'secret')
  return [...listSecrets([known])].some(isUnknown) && isSameJson(hide(known), hide(value))
    ? 'has a secret that can not be compared'
    : 'is recorded with another value'
}
