import { resolve } from 'node:path'
import type { LoadedWorkspace, Recorded, Store } from '../index.ts'
import { sameJson } from '../model/canonical-json.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Adopted, Domain, ItemKey } from '../model/item.ts'
import { visible } from '../report/text/visible.ts'
import type { RecordedItem } from '../state/store.ts'
import type { LockOptions } from './commands/options.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { withLock } from './lock.ts'
import { openWorkspace } from './open.ts'
import { readImport } from './read-import.ts'
import { writeManifests } from './write-manifests.ts'

interface ImportOptions extends LockOptions {
  domain?: string
  writeManifests?: boolean
  replace?: boolean
}

/** `edgewise import`: records what a service already holds as a confirmed base; writes nothing to the service. */
export async function importFiles(context: CommandContext, [files]: unknown[], options: ImportOptions): Promise<number> {
  const { io } = context
  let workspace = openWorkspace(context, 'at hand')
  const observed = (files as string[]).flatMap((file) => readImport(resolve(io.cwd, file), options.domain, workspace))
  refuseInvalid(workspace)
  if (options.writeManifests === true && writeManifests(context, workspace, observed) > 0) {
    workspace = openWorkspace(context, 'at hand')
    refuseInvalid(workspace)
  }
  return withLock(context, workspace, 'import', options.lockTimeout, ({ store }) =>
    adoptAll(context, workspace, store, observed, options.replace === true),
  )
}

function refuseInvalid({ diagnostics }: LoadedWorkspace): void {
  if (diagnostics.every(({ severity }) => severity !== 'error')) return
  throw new EdgewiseError('invalid', 'the manifests have errors; nothing was recorded', 'Run "edgewise validate".', diagnostics)
}

/** Records what manifests mention of it. */
async function adoptAll(
  context: CommandContext,
  workspace: LoadedWorkspace,
  store: Store,
  observed: Adopted[],
  replace: boolean,
): Promise<number> {
  const { io } = context
  const recorded = await store.load()
  const managed = observed.filter(({ domain, item }) => workspace.desired.get(domain)?.has(item) === true)
  const isManaged = new Set(managed)
  const skipped = observed.filter((entry) => !isManaged.has(entry))
  refuseDiffering(managed, recorded, replace)
  const at = new Date(io.clock.now()).toISOString()
  const touched = new Map<Domain, Map<ItemKey, RecordedItem>>()
  for (const { domain, item, value } of managed) {
    const items = touched.get(domain) ?? new Map(recorded.get(domain))
    const templates = workspace.vault.templatesOf(value)
    const secrets = Object.keys(templates).length === 0 ? {} : { templates }
    items.set(item, { status: 'confirmed', candidates: [value], ...secrets, at, apply: `import-${at}`, origin: 'import' })
    touched.set(domain, items)
  }
  if (touched.size > 0) await store.save(touched, `Import of ${managed.length} items of ${touched.size} domains`)
  tell(
    context,
    touched.size,
    managed.length,
    skipped.map(({ domain, item }) => ({ domain, item: workspace.scrub(item) })),
  )
  return exits.done
}

function tell({ io, options, note }: CommandContext, domains: number, items: number, skipped: Pick<Adopted, 'domain' | 'item'>[]): void {
  if (options.json === true) {
    io.out(`${JSON.stringify({ format: 'edgewise.import/1', domains, items, skipped })}\n`)
    return
  }
  io.out(`Recorded ${items} ${items === 1 ? 'item' : 'items'} of ${domains} ${domains === 1 ? 'domain' : 'domains'}.\n`)
  if (skipped.length === 0) return
  note(`Skipped, since no manifest mentions them:`)
  for (const { domain, item } of skipped) note(`  ${visible(item)} of ${domain}`)
}

function refuseDiffering(managed: Adopted[], recorded: Recorded, replace: boolean): void {
  if (replace) return
  const differing = managed.filter(({ domain, item, value }) => {
    const held = recorded.get(domain)?.get(item)
    return held !== undefined && !(held.status === 'confirmed' && sameJson(held.candidates[0], value))
  })
  const [first] = differing
  if (first === undefined) return
  throw new EdgewiseError(
    'usage',
    `${differing.length === 1 ? 'an item is' : `${differing.length} items are`} recorded otherwise, e.g. ${first.item} of ${first.domain}; nothing was recorded`,
    'Give --replace if the imported values are the right ones.',
  )
}
