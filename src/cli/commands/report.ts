import { Option } from 'commander'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { addObserveOptions, type ObserveOptions } from '../observe.ts'
import type { Declare } from './declare.ts'

interface ReportFlags extends ObserveOptions {
  html?: string
  pages?: string
  check?: string
}

/** `edgewise report`: writes the fleet and each domain as pages. */
export function declareReport(declare: Declare): void {
  const command = declare<ReportFlags>('report', {
    description: 'write the fleet and each domain as pages',
    examples: ['report --html site', 'report --html site --observed live.json'],
    traced: true,
    run: async (context, _args, { html, pages, check, ...options }) => {
      const { writeHtml, writePages } = await import('../report/html.ts')
      if (pages !== undefined) return writePages(context, pages, check)
      if (html !== undefined) return writeHtml(context, { html, ...options })
      throw new EdgewiseError('usage', 'expected the folder of the pages', 'Pass --html DIR.')
    },
  })
    .option('--html <dir>', 'folder of the pages: a new one, or one of an earlier report')
    .addOption(new Option('--pages <file>', 'file of the pages, for edgewise serve').hideHelp())
    .addOption(new Option('--check <file>', 'what its last drift check has found').hideHelp())
  addObserveOptions(command).addHelpText(
    'after',
    `
Writes index.html, a list of all domains that can be searched, and a page for
each domain: its values and their sources, its state, what is pending or
differs, and its latest applies. Browsers open them from the disk. The next
report into the folder removes the pages of domains that are gone.`,
  )
}
