import type {
  Comparable,
  Configured,
  Findings,
  Outside,
  Policed,
  Secrets,
} from './runtime/parts.ts'
import { catalogue } from '../core/catalog/catalogue.ts'
import { findNamesake } from '../core/catalog/wire-names.ts'
import { representSecretsIn } from '../core/diff/known-secrets.ts'
import { EdgewiseError } from '../core/model/edgewise-error.ts'
import { markForeign } from '../core/model/text/text-makers.ts'
import {
  createItemState,
  pickWritten,
  type ImportedItem,
  type Domain,
  type ItemKey,
} from '../core/model/item.ts'
import { formatPlace } from '../core/model/problem.ts'
import { holdsSecret, listSecrets } from '../core/model/secret.ts'
import { listSome, pluralize } from '../core/model/text/words.ts'
import { escapeInvisible } from '../outlets/report/text/escape-invisible.ts'
import type { RecordedState, RecordedItem } from '../state/store/store.ts'
import { describeAct } from './history/describe-act.ts'
import type { ImportSource } from './import/import-file.ts'
import {
  describeInvalid,
  listExposedFiles,
  loadPayloads,
  lookUpSecrets,
  sealImported,
} from './import/load-payloads.ts'
import { usesSecrets } from './runtime/open-state.ts'
import { loadWorkspace, type LoadedWorkspace } from './runtime/load-workspace.ts'
import { markLateItems, refuseDiffering } from './import/refuse-differing.ts'
import type { Ports } from './runtime/ports.ts'
import { refuseOwnedElsewhere } from './submission/refuse-owned-elsewhere.ts'
import { refuseInvalid } from './runtime/refuse-invalid.ts'
import { runBlocking } from './runtime/with-pool.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { buildManifests, writeManifests } from './import/write-manifests.ts'

/** Options of an import. */
export interface ImportRequest extends LockRequest {
  sources: ImportSource[]
  /** Domain of an answer that names none. */
  domain?: string
  /** Write manifests for domains that have none, before the state is recorded. */
  writeManifests?: boolean
  /** Replace recorded values that differ. */
  replace?: boolean
}

/** An item that was not recorded, and why. */
export interface SkippedItem {
  domain: Domain
  item: ItemKey
  reason: string
}

/** Numbers of recorded domains and items, and the items that were skipped. */
export interface Imported {
  domains: number
  items: number
  /** Items that no manifest mentions, or that the catalogue does not have. */
  skipped: SkippedItem[]
  /** Items that can't be imported; the dialogue was warned of them. */
  invalid: SkippedItem[]
}

/**
 * Records the existing configuration of a service as confirmed state. Writes nothing to the
 * service.
 *
 * @throws EdgewiseError `invalid` when a manifest has an error, `usage` when a source can't be
 * imported or differs from recorded state, `owned-elsewhere` when a domain belongs to another
 * workspace
 */
export async function importConfig(
  workspace: LoadedWorkspace,
  request: ImportRequest,
  ports: Ports,
): Promise<Imported> {
  const { outside, dialogue } = ports
  for (const text of listExposedFiles(workspace, request.sources, outside)) dialogue.warn(text)
  refuseInvalid(workspace, 'the manifests have errors; nothing was recorded')
  outside.onPhase?.({ name: 'loading-import', total: countKilobytes(request.sources) })
  const addsSecrets = request.writeManifests
  const purpose = { reason: 'import', selection: 'workspace', addsSecrets } as const
  return withState(workspace, purpose, request, ports, async (locked, recorded) => {
    const { store, by } = locked
    const { observed, invalid } = loadObserved(workspace, request, recorded, ports)
    const { current, manifests } = prepareManifests(workspace, request, observed, outside)
    const isDesired = ({ domain, item }: ImportedItem) =>
      current.desired.get(domain)?.has(item) === true
    const managed = observed.filter(isDesired)
    await refuseOwnedElsewhere(current, store, managed)
    if (request.replace !== true) refuseDiffering(managed, recorded, workspace)
    if (manifests !== null) {
      warnOfSuspected(current, manifests.files, dialogue.warn)
      // Nothing but a failure to write or record can refuse the import from here on.
      writeManifests(workspace.root, manifests, outside, dialogue.note)
    }
    const importedAt = new Date(outside.clock.now()).toISOString()
    const imported = recordImported(managed, recorded, current, manifests?.names ?? {}, importedAt)
    const touched = await markLateItems(imported, recorded, current, locked, dialogue)
    outside.onPhase?.({ name: 'saving-state', total: touched.size })
    if (touched.size > 0) {
      const what = `${managed.length} items of ${listSome([...touched.keys()])}`
      const { commit } = await workspace.findTree()
      store.chain.add(describeAct(outside, 'import', what, { by, commit }))
      await store
        .save(touched, `Import of ${managed.length} items of ${touched.size} domains`)
        .catch((error: unknown) => {
          throw manifests === null || manifests.count === 0 ? error : explainNotRecorded(error)
        })
    }
    // An item that is not set needs no manifest.
    const skipped = observed.filter(
      (entry) => !isDesired(entry) && (entry.value !== null || !catalogue.has(entry.item)),
    )
    return {
      domains: touched.size,
      items: managed.length,
      skipped: skipped.map(({ domain, item }) => ({
        domain,
        item: current.scrub(markForeign(item)),
        reason: catalogue.has(item) ? 'no manifest mentions it' : 'there is no such item',
      })),
      invalid: invalid.map((each) => ({
        ...each,
        reason: current.scrub(markForeign(each.reason)),
      })),
    }
  })
}

/** Loads the items of the sources, with their secrets sealed; reports those that are left out. */
function loadObserved(
  workspace: Comparable,
  { sources, domain, writeManifests: writes = false }: ImportRequest,
  recorded: RecordedState,
  { outside, dialogue }: Ports,
): { observed: ImportedItem[]; invalid: SkippedItem[] } {
  const { payloads, empty, invalid } = runBlocking(outside, () =>
    loadPayloads(workspace, sources, domain, recorded),
  )
  if (empty.length > 0)
    dialogue.note(`There is no item in ${listSome(empty.map((name) => escapeInvisible(name)))}.`)
  for (const text of describeInvalid(invalid, workspace.scrub)) dialogue.warn(text)
  // Imported secrets are recorded, so their fingerprints need the salt that is stored.
  if (usesSecrets(workspace.config)) workspace.vault.keepSalt()
  if (writes) lookUpSecrets(workspace)
  outside.onPhase?.({ name: 'comparing', total: countDomains(payloads) })
  return { observed: sealImported(payloads, recorded, workspace), invalid }
}

/**
 * Builds the manifests to write, if any, and loads the workspace as it will be with them.
 *
 * @throws EdgewiseError `invalid` if they have errors
 */
function prepareManifests(
  workspace: LoadedWorkspace,
  { writeManifests: writes = false }: ImportRequest,
  observed: ImportedItem[],
  outside: Outside,
): { current: Policed; manifests: ReturnType<typeof buildManifests> | null } {
  if (!writes) return { current: workspace, manifests: null }
  const manifests = runBlocking(outside, () => buildManifests(workspace, observed, outside))
  const { files, workspaceFile } = manifests
  const added = [...files, ...(workspaceFile === null ? [] : [workspaceFile.after])]
  const current = loadWorkspace(workspace.root, outside, 'available', added)
  refuseInvalid(
    current,
    'the new manifests would have errors; nothing was written or recorded',
    'Write these manifests yourself, then import without --write-manifests.',
  )
  if (workspace.vault.salt !== null) current.vault.useSalt(workspace.vault.salt)
  if (usesSecrets(current.config)) current.vault.keepSalt()
  return { current, manifests }
}

function countKilobytes(sources: ImportSource[]): number {
  const length = sources.reduce(
    (sum, source) => sum + ('text' in source ? source.text.length : 0),
    0,
  )
  return Math.ceil(length / 1000)
}

function countDomains(payloads: { domain: Domain }[]): number {
  return new Set(payloads.map(({ domain }) => domain)).size
}

/** Warns of header values in new manifests that look like secrets, without showing them. */
function warnOfSuspected(
  { diagnostics }: Findings,
  files: { path: string }[],
  warn: (text: string) => void,
): void {
  const written = new Set(files.map(({ path }) => path))
  const places = diagnostics
    .filter(({ code, file }) => code === 'secret-suspected' && written.has(file))
    .map(formatPlace)
  if (places.length === 0) return
  const values = pluralize(places.length, 'header value looks', 'header values look')
  warn(
    `${values} like a secret, and the new manifests have the text itself: ${listSome(places)}. ` +
      'Write ${secret:NAME} there before you commit; "edgewise validate" lists all of them.',
  )
}

/** Adds to the error of a failed recording that the manifests were written. */
function explainNotRecorded(error: unknown): unknown {
  if (!(error instanceof EdgewiseError)) return error
  const { code, message, hint, diagnostics } = error
  return new EdgewiseError(
    code,
    `the manifests were written, but the import was not recorded: ${message}`,
    `${hint}\nThe manifests stay: import again without --write-manifests.`.trimStart(),
    diagnostics,
  )
}

/**
 * Returns the new state of the domains with an imported item.
 *
 * @param names names that imported secrets got
 */
function recordImported(
  managed: ImportedItem[],
  recorded: RecordedState,
  { vault, config }: Configured & Secrets,
  names: Record<string, string>,
  importedAt: string,
): RecordedState {
  const touched = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item, value: imported, unknownFields } of managed) {
    const items = touched.get(domain) ?? new Map(recorded.get(domain))
    items.delete(findNamesake(item, config.service.itemKeys) ?? '')
    const value = representSecretsIn(item, imported, new Set(), (secret) => vault.represent(secret))
    if (holdsSecret(value)) vault.keepSalt()
    const named = [...listSecrets([value])].flatMap((secret) => {
      const name = names[secret]
      return name === undefined ? [] : [[secret, name] as const]
    })
    const templates = { ...Object.fromEntries(named), ...vault.listTemplates(value) }
    const secrets = Object.keys(templates).length === 0 ? {} : { templates }
    items.set(item, {
      ...createItemState(value, unknownFields),
      ...pickWritten(recorded.get(domain)?.get(item)?.writtenFields),
      ...secrets,
      at: importedAt,
      apply: `import-${importedAt}`,
      origin: 'import',
    })
    touched.set(domain, items)
  }
  return touched
}
