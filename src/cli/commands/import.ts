import { resolve } from 'node:path'
import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, type LockOptions } from './options.ts'
import { pluralize } from '../../model/words.ts'

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
    examples: [
      'import current.json',
      'import answer.json --domain www.example.com --write-manifests',
    ],
    run: async (context, [files], options) => {
      const { importConfig } = await import('../../operations/import.ts')
      const { escapeInvisible } = await import('../../report/text/escape-invisible.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openWorkspace } = await import('../open.ts')
      const { loadFile } = await import('../load-file.ts')
      const { io, note } = context
      const workspace = openWorkspace(context, 'available')
      const { domain, writeManifests = false, replace = false } = options
      const sources = (files as string[]).map((file) => {
        const name = resolve(io.cwd, file)
        return { name, text: loadFile(name) }
      })
      const request = {
        sources,
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
      if (skipped.length > 0) note('Skipped, because no manifest mentions them:')
      for (const entry of skipped) note(escapeInvisible(`  ${entry.item} of ${entry.domain}`))
      return exitCodes.done
    },
  })
    .option('--domain <domain>', 'domain of an answer that names none')
    .option('--write-manifests', 'first write manifests for domains that have none')
    .option('--replace', 'replace differing state')
  addLockOptions(command)
}
