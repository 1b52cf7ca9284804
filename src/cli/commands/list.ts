import { Option } from 'commander'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import { addReportOption, addTargetOptions, type ReportOptions } from './options.ts'

interface ListOptions extends ReportOptions {
  of: 'desired' | 'recorded'
  target: string[]
}

/** `edgewise list`: lists values that differ from those of nearly all similar domains. */
export function declareList(declare: Declare): void {
  const command = declare<ListOptions>('list', {
    description: 'list values that differ from those of nearly all similar domains',
    examples: [
      'list --outliers',
      'list --outliers --of recorded --json',
      "list --outliers --exclude 'test-*' --report outliers.html",
    ],
    run: (context, _args, options) => runList(context, options),
  })
    .requiredOption('--outliers', 'list what differs from nearly all; nothing else is listed yet')
    .addOption(
      new Option('--of <what>', 'desired (manifests) or recorded (state)')
        .choices(['desired', 'recorded'])
        .default('desired'),
    )
  addReportOption(addTargetOptions(command, 'compare only domains that match'), 'list').addHelpText(
    'after',
    `
Domains are similar if they have a profile in common, or the same items. What
differs is listed if at least 95 % of 10 or more domains have the same value;
one domain may always differ. Nothing here is an error: the exit code is 0.`,
  )
}

async function runList(context: CommandContext, options: ListOptions): Promise<void> {
  const { listOutliers } = await import('../../operations/list.ts')
  const { buildOutliersJson, formatOutliers } =
    await import('../../outlets/report/list/outliers.ts')
  const { openWorkspace, refuseInvalidManifests } = await import('../open.ts')
  const { createReports } = await import('../reports.ts')
  const { io, layout } = context
  const { of } = options
  const workspace = openWorkspace(context, 'none')
  if (of === 'desired') refuseInvalidManifests(context, workspace)
  const outliers = await listOutliers(workspace, options, io)
  const shown: Parameters<typeof formatOutliers>[0] = {
    of,
    outliers,
    findPlace: ({ item, pointer }, domain) =>
      of === 'desired' ? workspace.findItemPlace(domain, item, pointer ?? '') : null,
  }
  const subject = { shown, target: options.target }
  for (const file of createReports('list', options, workspace, io)) await file.save(subject)
  context.print(
    () => buildOutliersJson(shown),
    () => formatOutliers(shown, layout),
  )
}
