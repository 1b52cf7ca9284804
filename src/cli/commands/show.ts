import { Option } from 'commander'
import type { CommandContext } from '../io.ts'
import { addObserveOptions, buildObserve, type ObserveOptions } from '../observe.ts'
import { escapeInvisibleInLines } from '../../outlets/report/text/escape-invisible.ts'
import type { Declare } from './declare.ts'
import { addReportOption, type ReportOptions } from './options.ts'

interface ShowOptions extends ObserveOptions, ReportOptions {
  at?: string
}

/** `edgewise show`: shows all that is known of a domain. Writes nothing. */
export function declareShow(declare: Declare): void {
  const command = declare<ShowOptions>('show <domain>', {
    description: 'show the configuration of a domain: values, sources, state',
    args: ['the domain'],
    examples: [
      'show www.example.com',
      'show www.example.com --live',
      'show www.example.com --at 20260102T030405Z-1a2b',
      'show www.example.com --report www.yaml',
    ],
    traced: true,
    run: (context, [name], options) => runShow(context, String(name), options),
  })
  const at = new Option('--at <apply>', 'only what was recorded at the end of this apply')
  command.addOption(at.conflicts(['observed', 'live']))
  addReportOption(addObserveOptions(command), 'show').addHelpText(
    'after',
    `
--at is computed backwards from the current state through the later applies; the
id of a rollout stands for the end of its last wave. Imports and "state forget"
are not applies: items imported since are listed as not known, items forgotten
since are missing. If the manifests have errors, only recorded values are shown.
A .yaml report is a manifest with the merged configuration, without profiles.
-v names the source of each field, defaults too, and shows long values whole.`,
  )
}

async function runShow(context: CommandContext, name: string, options: ShowOptions): Promise<void> {
  const { show } = await import('../../operations/show.ts')
  const { buildSheetJson } = await import('../../outlets/report/domain/json.ts')
  const { formatSheet } = await import('../../outlets/report/domain/text.ts')
  const { openWorkspace } = await import('../open.ts')
  const { createReports } = await import('../reports.ts')
  const { io, layout } = context
  const workspace = openWorkspace(context, 'available')
  const { at } = options
  const observing = await buildObserve(context, workspace, options)
  const shown = await show(workspace, name, { ...observing, at }, io)
  for (const file of createReports('show', options, workspace, io)) await file.save(shown)
  for (const sentence of shown.notes) context.note(escapeInvisibleInLines(sentence))
  context.print(
    () => buildSheetJson(shown.sheet),
    () => formatSheet(shown, io.clock.now(), layout),
  )
}
