import { resolve } from 'node:path'
import { plan as makePlan } from '../index.ts'
import type { Effort } from '../model/plan.ts'
import { planJson } from '../report/plan/json.ts'
import { planText } from '../report/plan/text.ts'
import { planMarkdown } from '../report/plan/markdown.ts'
import { visible } from '../report/text/visible.ts'
import type { SelectionOptions } from './commands/options.ts'
import { exits } from './exits.ts'
import { guardWarnings } from './guards.ts'
import type { CommandContext } from './io.ts'
import { firstPlanWarnings, openRecorded, selectionOf, validWorkspace } from './open.ts'
import { writeOut } from './write-out.ts'

interface PlanOptions extends SelectionOptions {
  detailedExitcode?: boolean
  out?: string
  markdown?: string
  effort: Effort
  explainWrites?: boolean
}

/** `edgewise plan`: tells what would change; writes neither to the service nor to the record. */
export async function plan(context: CommandContext, _args: unknown[], options: PlanOptions): Promise<number> {
  const { io, paint } = context
  const workspace = validWorkspace(context, 'at hand')
  const { store, recorded } = await openRecorded(context, workspace)
  const selection = selectionOf(options, workspace, recorded)
  const rollouts = await store.rollouts()
  const unguarded = await makePlan(workspace, recorded, selection, {
    effort: options.effort,
    explain: options.explainWrites === true,
    rollouts,
  })
  const made = { ...unguarded, warnings: [...unguarded.warnings, ...guardWarnings(workspace, recorded, unguarded, io.clock.now())] }
  const warnings = [...(await firstPlanWarnings(workspace, store, recorded)), ...made.warnings]
  for (const warning of warnings) context.note(`${context.errPaint.yellow('note:')} ${visible(warning)}`)
  const json = () => `${JSON.stringify(planJson(made, (item) => workspace.config.service.itemKeys[item] ?? item))}\n`
  if (options.out !== undefined) writeOut(resolve(io.cwd, options.out), json())
  if (options.markdown !== undefined) writeOut(resolve(io.cwd, options.markdown), planMarkdown({ ...made, warnings }))
  if (context.options.json === true) io.out(json())
  else io.out(`${planText(made, { paint, columns: io.columns, verbose: context.options.verbose === true })}\n`)
  return options.detailedExitcode === true && made.changes.length > 0 ? exits.differences : exits.done
}
