import type { Command } from 'commander'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, type LockOptions } from './options.ts'
import type { ItemKey } from '../../model/item.ts'
import { groupBy } from '../../model/group-by.ts'
import { listSome, pluralize } from '../../model/words.ts'
import type { Imported } from '../../operations/import.ts'

interface ImportOptions extends LockOptions {
  domain?: string
  writeManifests?: boolean
  replace?: boolean
}

/**
 * `edgewise import`: records the existing configuration of the service as a confirmed base. Writes
 * nothing to the service.
 */
export function declareImport(program: Command, declare: Declare): void {
  const command = declare<ImportOptions>(program, 'import <files...>', {
    description: 'record the existing configuration of the service, without writing to it',
    args: ['JSON files of the configuration; - is stdin'],
    examples: [
      'import current.json',
      'import answer.json --domain www.example.com --write-manifests',
      'import - < current.json',
    ],
    traced: true,
    run: async (context, [files], options) => {
      const { importConfig } = await import('../../operations/import.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { loadSources } = await import('../load-sources.ts')
      const { io, note } = context
      const workspace = openWorkspace(context, 'available')
      const { domain, writeManifests = false, replace = false } = options
      const request = {
        sources: await loadSources(files as string[], workspace.root, io),
        writeManifests,
        replace,
        domain,
        ...buildLockRequest(options),
      }
      const { domains, items, skipped } = await importConfig(workspace, request, {
        outside: io,
        dialogue: createTerminalDialogue(context),
      })
      if (context.options.json === true) {
        io.out(`${JSON.stringify({ format: 'edgewise.import/1', domains, items, skipped })}\n`)
        return exitCodes.done
      }
      io.out(`Recorded ${pluralize(items, 'item')} of ${pluralize(domains, 'domain')}.\n`)
      const { catalogue } = await import('../../catalog/catalogue.ts')
      for (const line of describeSkipped(skipped, (item) => catalogue.has(item)))
        note(escapeInvisible(line))
      return exitCodes.done
    },
  })
    .option('--domain <domain>', 'domain of an answer that names none')
    .option('--write-manifests', 'first write manifests for domains that have none')
    .option('--replace', 'replace differing state')
  addLockOptions(command)
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
