import type { Settings, Checkout } from '../../operations/runtime/workspace-parts.ts'
import { extname } from 'node:path'
import { InvalidArgumentError, type Command } from 'commander'
import type { LoadedWorkspace } from '../../operations/runtime/load-workspace.ts'
import type { Shown } from '../../operations/show.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import { addObserveOptions, buildObserve, type ObserveOptions } from '../observe.ts'
import type { Declare } from './declare.ts'

interface ShowOptions extends ObserveOptions {
  report: string[]
}

/** Endings of the reports of `edgewise show`. */
const endings = ['.md', '.html', '.json', '.yaml']

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
  addObserveOptions(command)
    .option(
      '--report <file>',
      'write a report, by its ending: .md, .html, .json or .yaml; repeatable',
      collectReport,
      [],
    )
    .addHelpText(
      'after',
      `
A .yaml report is a manifest with the merged configuration, without profiles.
-v names the source of each field, defaults too, and shows long values whole.`,
    )
}

function collectReport(file: string, before: string[]): string[] {
  if (endings.includes(extname(file))) return [...before, file]
  throw new InvalidArgumentError('Expected a file that ends with .md, .html, .json or .yaml.')
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
  const { io, paint } = context
  const { json = false, verbose = false } = context.options
  const workspace = openWorkspace(context, 'available')
  const observing = await buildObserve(context, workspace, options)
  const shown = await show(workspace, name, observing, io)
  for (const sentence of shown.notes) context.note(sentence)
  const layout = { paint, columns: io.columns, verbose }
  io.out(
    json
      ? `${JSON.stringify(buildSheetJson(shown.sheet))}\n`
      : formatSheet(shown.sheet, io.clock.now(), layout),
  )
  await saveReports(context, workspace, shown, options.report)
  return exitCodes.done
}

async function saveReports(
  { io }: Pick<CommandContext, 'io'>,
  workspace: LoadedWorkspace,
  { sheet }: Shown,
  files: string[],
): Promise<void> {
  const { createOutput, saveOutput } = await import('../save-file.ts')
  for (const file of files)
    await saveOutput(
      createOutput(file, workspace, io),
      extname(file) === '.html'
        ? await renderPage(sheet, workspace, io)
        : await render(sheet, file, io.clock.now()),
    )
}

/** Renders a report by the ending of its file. */
async function render(sheet: Shown['sheet'], file: string, now: number): Promise<string> {
  const { buildSheetJson } = await import('../../outlets/report/domain/json.ts')
  if (extname(file) === '.json') return `${JSON.stringify(buildSheetJson(sheet))}\n`
  if (extname(file) === '.yaml') {
    const { formatSheetYaml } = await import('../../outlets/report/domain/yaml.ts')
    return formatSheetYaml(sheet)
  }
  const { formatTextReport } = await import('../../outlets/report/text/markdown.ts')
  const { formatSheet } = await import('../../outlets/report/domain/text.ts')
  const { plainPaint } = await import('../../outlets/report/text/paint.ts')
  const text = formatSheet(sheet, now, { paint: plainPaint, columns: 110, verbose: false })
  return formatTextReport(`Edgewise: ${sheet.domain}`, text.trimEnd())
}

/** Renders the page of a domain, with its applies. */
async function renderPage(
  sheet: Shown['sheet'],
  workspace: Settings & Checkout,
  io: CommandContext['io'],
): Promise<string> {
  const { loadDomainHistory } = await import('../../operations/history/past-applies.ts')
  const { describeDomainTab, formatDomainPage } =
    await import('../../outlets/report/domain/format-domain-page.ts')
  const { formatShell } = await import('../../outlets/report/page/format-shell.ts')
  const { findLineLinks } = await import('../../operations/history/line-links.ts')
  const isRecorded = sheet.items.some(({ changed }) => changed !== null)
  const past = isRecorded ? await loadDomainHistory(workspace, sheet.domain, io) : null
  const { findLink } = await findLineLinks(workspace, io)
  const main = formatDomainPage(sheet, {
    workspace: workspace.config.id,
    now: io.clock.now(),
    home: null,
    applies: past?.applies ?? [],
    findLink,
    scrub: (text) => workspace.scrub(text),
  })
  return formatShell({ ...describeDomainTab(sheet), main, nav: null })
}
