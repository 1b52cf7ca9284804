import { Option } from 'commander'
import type { Planned } from '../../operations/plan.ts'
import type { Dialogue } from '../../operations/runtime/ports.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import {
  addEffectsOptions,
  addLevelOptions,
  addReportOption,
  addSelectionOptions,
  type EffectsOptions,
  type LevelOptions,
  type ReportOptions,
  type SelectionOptions,
} from './options.ts'

interface PlanOptions extends SelectionOptions, ReportOptions, EffectsOptions, LevelOptions {
  detailedExitcode?: boolean
  out?: string
  witness?: boolean
  rules?: string
}

/** `edgewise plan`: shows what would change; writes neither to the service nor to state. */
export function declarePlan(declare: Declare): void {
  const command = declare<PlanOptions>('plan', {
    description: 'show what would change, and in how many writes',
    examples: [
      'plan',
      "plan --target '*.shop.example.com' --item https",
      'plan --out plan.json --detailed-exitcode',
    ],
    traced: true,
    run: async (context, _args, options) => {
      const { plan: makePlan } = await import('../../operations/plan.ts')
      const { buildPlanJson } = await import('../../outlets/report/plan/json.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openToPlan } = await import('../open.ts')
      const { createReports } = await import('../reports.ts')
      const { formatJson } = await import('../../core/model/json.ts')
      const { createOutput, saveOutput } = await import('../save-file.ts')
      const { buildLevels } = await import('../checks/levels.ts')
      const { io } = context
      const workspace = await openToPlan(context, buildLevels(options), options.rules)
      const { readEffectsRequest, readReadings } = await import('../requests/effects-request.ts')
      const { target, item: items } = options
      const dialogue = createTerminalDialogue(context)
      const effects = readEffectsRequest(context, workspace, options)
      const witnesses = options.witness === true ? readReadings(options) : null
      const request = { target, items, effects, witnesses }
      const make = () => makePlan(workspace, request, { outside: io })
      const { takeTurn } = await import('../own/own-check.ts')
      const planned = await (options.rules === undefined ? make() : takeTurn(workspace, io, make))
      const { plan, rollbackUnfinished } = planned
      for (const warning of [...planned.notes, ...plan.warnings]) dialogue.warn(warning)
      const wireName = (key: string) => workspace.config.service.itemKeys[key] ?? key
      if (options.out !== undefined)
        await saveOutput(
          createOutput(options.out, workspace, io),
          formatJson(buildPlanJson(plan, wireName)),
        )
      for (const file of createReports('plan', options, workspace, io)) await file.save(planned)
      if (context.options.json === true) io.out(formatJson(buildPlanJson(plan, wireName, planned)))
      else await showPlan(context, workspace.root, dialogue, planned)
      const { stays, summary } = plan
      const isPending = plan.changes.length > summary.conditional || summary.held > 0
      const differs = isPending || rollbackUnfinished || stays !== undefined
      return options.detailedExitcode === true && differs ? exitCodes.differences : exitCodes.done
    },
  })
  addEffectsOptions(addReportOption(addLevelOptions(addSelectionOptions(command)), 'plan'))
    .option('--witness', 'show for each change a request that it alters, or that none is')
    .option('--out <file>', 'save the plan for "edgewise apply FILE"')
    .addOption(new Option('--rules <file>', 'who may decide, for edgewise serve').hideHelp())
    .option(
      '--detailed-exitcode',
      'exit with 2 for changes (not conditional ones), values that stay, unfinished rollbacks',
    )
}

/** Shows a plan with its effects; in GitHub Actions also what violates policies, as annotations. */
async function showPlan(
  { io }: CommandContext,
  root: string,
  dialogue: Dialogue,
  { plan, effects, witnesses, policies }: Planned,
): Promise<void> {
  await dialogue.show({ kind: 'plan', plan })
  if (effects !== null) await dialogue.show({ kind: 'effects', effects })
  if (witnesses !== null) await dialogue.show({ kind: 'witnesses', witnesses })
  if (policies === null || io.env['GITHUB_ACTIONS'] !== 'true') return
  const { findFolderInRepository } = await import('../validate.ts')
  const { formatViolationsGithub } = await import('../../outlets/report/policies/github.ts')
  const folder = findFolderInRepository(root)
  io.out(formatViolationsGithub(policies.report.groups, folder), 'commands')
}
