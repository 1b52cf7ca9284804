import type { Command } from 'commander'
import { addObserveOptions } from '../observe.ts'
import type { HtmlOptions } from '../report/html.ts'
import type { Declare } from './declare.ts'

/** `edgewise report`: writes the fleet and each domain as pages. */
export function declareReport(program: Command, declare: Declare): void {
  const command = declare<HtmlOptions>(program, 'report', {
    description: 'write the fleet and each domain as pages',
    examples: ['report --html site', 'report --html site --observed live.json'],
    traced: true,
    run: async (context, _args, options) =>
      (await import('../report/html.ts')).writeHtml(context, options),
  }).requiredOption('--html <dir>', 'folder of the pages: a new one, or one of an earlier report')
  addObserveOptions(command).addHelpText(
    'after',
    `
Writes index.html, a list of all domains that can be searched, and a page for
each domain: its values and their sources, its state, what is pending or
differs, and its latest applies. Browsers open them from the disk. The next
report into the folder removes the pages of domains that are gone.`,
  )
}
