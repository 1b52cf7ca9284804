import { formatJson } from '../../core/model/json.ts'
import type { Command } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { addObserveOptions, buildObserve, type ObserveOptions } from '../observe.ts'
import type { Declare } from './declare.ts'
import { addReportOption, type ReportOptions } from './options.ts'

interface ShowOptions extends ObserveOptions, ReportOptions {}

/** `edgewise show`: shows all that is known of a domain. Writes nothing. */
export function declareShow(program: Command, declare: Declare): void {
  const command = declare<ShowOptions>(program, 'show <domain>', {
    description: 'show the configuration of a domain: values, sources, state',
    args: ['the domain'],
    examples: [
      'show www.example.com',
      'show www.example.com --live',
      'show www.example.com --report www.yaml',
    ],
    traced: true,
    run: (context, [name], options) => runShow(context, String(name), options),
  })
  addReportOption(addObserveOptions(command), 'show').addHelpText(
    'after',
    `
A .yaml report is a manifest with the merged configuration, without profiles.
-v names the source of each field, defaults too, and shows long values whole.`,
  )
}

async function runShow(
  context: CommandContext,
  name: string,
  options: ShowOptions,
): Promise<number> {
  const { show } = await import('../../operations/show.ts')
  const { buildSheetJson } = await import('../../outlets/report/domain/json.ts')
  const { formatSheet } = await import('../../outlets/report/domain/text.ts')
  const { openWorkspace } = await import('../open.ts')
  const { createReports } = await import('../reports.ts')
  const { io, paint } = context
  const { json = false, verbose = false } = context.options
  const workspace = openWorkspace(context, 'available')
  const observing = await buildObserve(context, workspace, options)
  const shown = await show(workspace, name, observing, io)
  for (const sentence of shown.notes) context.note(sentence)
  const layout = { paint, columns: io.columns, verbose }
  io.out(
    json
      ? formatJson(buildSheetJson(shown.sheet))
      : formatSheet(shown.sheet, io.clock.now(), layout),
  )
  for (const file of createReports('show', options, workspace, io)) await file.save(shown)
  return exitCodes.done
}
