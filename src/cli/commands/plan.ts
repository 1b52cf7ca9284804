import { Option, type Command } from 'commander'
import { efforts, selectDefinite, type Effort } from '../../model/plan.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { addSelectionOptions, type SelectionOptions } from './options.ts'

interface PlanOptions extends SelectionOptions {
  detailedExitcode?: boolean
  out?: string
  markdown?: string
  html?: string
  effort: Effort
  explainWrites?: boolean
}

/** `edgewise plan`: shows what would change; writes neither to the service nor to state. */
export function declarePlan(program: Command, declare: Declare): void {
  const command = declare<PlanOptions>(program, 'plan', {
    description: 'show what would change, and in how many writes',
    examples: [
      'plan',
      "plan --target '*.shop.example.com' --item https",
      'plan --out plan.json --detailed-exitcode',
    ],
    traced: true,
    run: async (context, _args, options) => {
      const { plan: makePlan } = await import('../../operations/plan.ts')
      const { buildPlanJson } = await import('../../report/plan/json.ts')
      const { formatPlanMarkdown } = await import('../../report/plan/markdown.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { openValidWorkspace } = await import('../open.ts')
      const { createOutput, saveOutput } = await import('../save-file.ts')
      const { io } = context
      const workspace = openValidWorkspace(context, 'available')
      const { target, item: items, effort } = options
      const dialogue = createTerminalDialogue(context)
      const request = {
        target,
        items,
        effort,
        explain: options.explainWrites === true,
        findsIrreversible: options.html !== undefined,
      }
      const { plan, notes, rollbackUnfinished } = await makePlan(workspace, request, {
        outside: io,
      })
      const warnings = [...notes, ...plan.warnings]
      for (const warning of warnings) dialogue.warn(warning)
      const { itemKeys } = workspace.config.service
      const json = () => `${JSON.stringify(buildPlanJson(plan, (key) => itemKeys[key] ?? key))}\n`
      const save = (path: string, text: string) =>
        saveOutput(createOutput(path, workspace, io), text)
      if (options.out !== undefined) await save(options.out, json())
      if (options.markdown !== undefined)
        await save(options.markdown, formatPlanMarkdown({ ...plan, warnings }))
      if (options.html !== undefined) {
        const { computePlanTimes } = await import('../../operations/plan-times.ts')
        const { createPageAbout } = await import('../../operations/page-about.ts')
        const { formatPage } = await import('../../report/page/format-page.ts')
        const { buildPlanPage } = await import('../../report/page/build-plan-page.ts')
        const about = createPageAbout(workspace, io, plan.basis, notes)
        const times = computePlanTimes(selectDefinite(plan).writes, workspace, false)
        await save(options.html, formatPage(buildPlanPage(plan, times, about)))
      }
      if (context.options.json === true) io.out(json())
      else await dialogue.show({ kind: 'plan', plan })
      const isDefinite = plan.changes.length > plan.summary.conditional
      const differs = isDefinite || rollbackUnfinished || plan.summary.held > 0
      return options.detailedExitcode === true && differs ? exitCodes.differences : exitCodes.done
    },
  })
  addSelectionOptions(command)
    .option('--out <file>', 'save the plan for "edgewise apply FILE"')
    .option('--markdown <file>', 'write the plan as Markdown, for a comment')
    .option('--html <file>', 'write the plan as a page for a browser')
    .addOption(
      new Option('--effort <effort>', 'search effort for fewer writes')
        .choices(efforts)
        .default('normal'),
    )
    .option('--explain-writes', 'print the reason for each write and the cost of simple groupings')
    .option(
      '--detailed-exitcode',
      'exit with 2 if there are changes (not conditional ones), or a rollback is unfinished',
    )
}
