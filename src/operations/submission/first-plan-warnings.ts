import type { Change } from '../../core/model/change.ts'
import { findMovedManifests } from '../../manifest/manifests/forgotten-files.ts'
import type { Configured, Desired, Settings } from '../runtime/parts.ts'
import type { RecordedState, StateReader, Recorder } from '../../state/store/store.ts'
import { listSome } from '../../core/model/text/words.ts'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'

/** Lists the warnings of the first plan against a service. */
export async function listFirstPlanWarnings(
  workspace: Configured,
  store: StateReader,
  recorded: RecordedState,
): Promise<string[]> {
  if (recorded.size > 0) return []
  const { id, service } = workspace.config
  const others = await store.listOtherAddresses()
  const elsewhere =
    others.length === 0
      ? ''
      : ` State recorded for ${others.join(', ')} is not used here. If this service already has ` +
        'the configuration, "edgewise import" records it first.'
  const missing = (await store.explainMissing?.()) ?? null
  const fork =
    missing === null
      ? ''
      : ` ${missing.charAt(0).toUpperCase()}${missing.slice(1)}. A fork has none: add its ` +
        'upstream repository as a remote, and name that under "state.remote" in edgewise.yaml.'
  return [
    `Nothing is recorded yet for "${id}" at ${service.writtenUrl}: ` +
      `every managed item will be written.${elsewhere}${fork}`,
  ]
}

/** Notes outcomes that only this clone has, for commands that do not share them. */
export async function listUnsharedNotes(store: Recorder): Promise<string[]> {
  const unshared = await store.listUnshared()
  if (unshared.length === 0) return []
  return [
    `Outcomes of ${listSome(unshared.map(escapeInvisible))} are recorded only in this clone: the ` +
      'next command here that takes the lock, such as "edgewise apply", shares them.',
  ]
}

/** Notes imported items that a call of an apply that died may have changed after the import. */
export function listLateNotes(recorded: RecordedState): string[] {
  const late: string[] = []
  for (const [domain, items] of recorded)
    for (const [item, { late: isLate, origin, status }] of items)
      if (isLate !== undefined && origin === 'import' && status === 'confirmed')
        late.push(`${item} of ${domain}`)
  if (late.length === 0) return []
  return [
    'A call of an apply that died could still change imported items when they were imported: ' +
      `${listSome(late)}. To be certain of their values, import them again.`,
  ]
}

/** Names files outside of the globs that have domains without a manifest, which are released. */
export function listMovedNotes(
  { root, config, desired }: Settings & Desired,
  changes: Change[],
): string[] {
  const released = changes.filter(
    ({ action, domain }) => action === 'release' && !desired.has(domain),
  )
  const domains = new Set(released.map(({ domain }) => domain))
  const files = domains.size === 0 ? [] : findMovedManifests(root, config, domains)
  if (files.length === 0) return []
  const names = listSome(files.map(escapeInvisible))
  return [`no glob of edgewise.yaml matches ${names}, whose domains are released`]
}
