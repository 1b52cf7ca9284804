import { Option } from 'commander'
import { escapeInvisible } from '../../outlets/report/text/escape-invisible.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Ports } from '../../operations/runtime/ports.ts'
import type { Io } from '../io.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, addTargetOptions, type LockOptions } from './options.ts'
import type { ItemKey } from '../../core/model/item.ts'
import { groupBy } from '../../core/model/lists.ts'
import { listSome, pluralize } from '../../core/model/text/words.ts'
import type { Imported } from '../../operations/import.ts'

interface ImportOptions extends LockOptions {
  live?: boolean
  target: string[]
  domain?: string
  writeManifests?: boolean
  replace?: boolean
  skipInvalid?: boolean
}

/**
 * `edgewise import`: records the existing configuration of the service as a confirmed base. Writes
 * nothing to the service.
 */
export function declareImport(declare: Declare): void {
  const command = declare<ImportOptions>('import [files...]', {
    description: 'record the existing configuration of the service, without writing to it',
    args: ['JSON files of the configuration; - is stdin'],
    examples: [
      'import current.json',
      'import answer.json --domain www.example.com --write-manifests',
      'import - < current.json',
      'import --live --write-manifests',
    ],
    traced: true,
    run: async (context, [files], options) => {
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, note } = context
      refuseMixedSources(files as string[], options)
      const workspace = openWorkspace(context, 'available')
      const ports = { outside: io, dialogue: createTerminalDialogue(context) }
      const { domains, items, skipped, invalid } = await importFrom(
        files as string[],
        options,
        workspace,
        ports,
      )
      context.print(
        () => ({
          format: 'edgewise.import/1',
          domains,
          items,
          skipped: [...skipped, ...invalid],
        }),
        () => `Recorded ${pluralize(items, 'item')} of ${pluralize(domains, 'domain')}.\n`,
      )
      if (context.options.json === true) return
      const { catalogue } = await import('../../core/catalog/catalogue.ts')
      for (const line of describeSkipped(skipped, (item) => catalogue.has(item)))
        note(escapeInvisible(line))
    },
  })
    .option('--live', 'read the configuration back from the service (service.readBack)')
    .addOption(
      new Option('--domain <domain>', 'domain of an answer that names none').conflicts('live'),
    )
    .option('--write-manifests', 'first write manifests for domains that have none')
    .option('--replace', 'replace differing state')
    .option('--skip-invalid', "skip and list what can't be imported; with --live always")
  addTargetOptions(command, 'with --live: only domains that match')
  addLockOptions(command)
}

/** @throws EdgewiseError `usage` unless there is exactly one kind of source */
function refuseMixedSources(files: string[], { live = false, target }: ImportOptions): void {
  const hint = 'Pass files, or --live to read from the service.'
  if (!live && files.length === 0)
    throw new EdgewiseError('usage', 'expected files to import, got none', hint)
  if (live && files.length > 0)
    throw new EdgewiseError('usage', 'files and --live exclude each other', hint)
  if (!live && target.length > 0)
    throw new EdgewiseError('usage', '--target is valid only with --live', 'Remove the option.')
}

async function importFrom(
  files: string[],
  options: ImportOptions,
  workspace: LoadedWorkspace,
  ports: Ports & { outside: Io },
): Promise<Imported> {
  const { live = false, target, domain, writeManifests = false, replace = false } = options
  const { skipInvalid: skipsInvalid = false } = options
  const request = { writeManifests, replace, lockTimeout: options.lockTimeout }
  if (live) {
    const { importLive } = await import('../../operations/import/import-live.ts')
    return importLive(workspace, { ...request, target }, ports)
  }
  const { importConfig } = await import('../../operations/import.ts')
  const { loadSources } = await import('../load-sources.ts')
  const loaded = await loadSources(files, workspace.root, ports.outside)
  const sources = loaded.map((source) => ({ ...source, skipsInvalid }))
  return importConfig(workspace, { ...request, sources, domain }, ports)
}

/** Describes the skipped items: each item once, with some of its domains. */
function describeSkipped(
  skipped: Imported['skipped'],
  isKnown: (item: ItemKey) => boolean,
): string[] {
  const list = (title: string, entries: Imported['skipped']) =>
    entries.length === 0
      ? []
      : [
          title,
          ...[...groupBy(entries, ({ item }) => item)].map(
            ([item, same]) => `  ${item}: ${listSome(same.map(({ domain }) => domain))}`,
          ),
        ]
  return [
    ...list(
      'Skipped, because no manifest mentions them:',
      skipped.filter(({ item }) => isKnown(item)),
    ),
    ...list(
      'Skipped, because there is no such item (service.itemKeys maps other wire names):',
      skipped.filter(({ item }) => !isKnown(item)),
    ),
  ]
}
