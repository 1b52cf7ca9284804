import { resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { efforts, type Effort } from '../../model/plan.ts'
import { exits } from '../exit-codes.ts'
import type { Declare } from './declare.ts'
import { selection, type SelectionOptions } from './options.ts'

interface PlanOptions extends SelectionOptions {
  detailedExitcode?: boolean
  out?: string
  markdown?: string
  effort: Effort
  explainWrites?: boolean
}

/** `edgewise plan`: shows what would change; writes neither to the service nor to state. */
export function declarePlan(program: Command, declare: Declare): void {
  const command = declare<PlanOptions>(program, 'plan', {
    description: 'tell what would change, and in how many writes',
    examples: [
      'plan',
      "plan --target '*.shop.example.com' --item https",
      'plan --out plan.json --detailed-exitcode',
    ],
    run: async (context, _args, options) => {
      const { plan: makePlan } = await import('../../operations/plan.ts')
      const { planJson } = await import('../../report/plan/json.ts')
      const { planMarkdown } = await import('../../report/plan/markdown.ts')
      const { terminalDialogue } = await import('../terminal/dialogue.ts')
      const { validWorkspace } = await import('../open.ts')
      const { writeOut } = await import('../save-file.ts')
      const { io } = context
      const workspace = validWorkspace(context, 'at hand')
      const { target, item: items, effort } = options
      const dialogue = terminalDialogue(context)
      const request = { target, items, effort, explain: options.explainWrites === true }
      const { plan, notes } = await makePlan(workspace, request, { outside: io, dialogue })
      const warnings = [...notes, ...plan.warnings]
      for (const warning of warnings) dialogue.warn(warning)
      const { itemKeys } = workspace.config.service
      const json = () => `${JSON.stringify(planJson(plan, (key) => itemKeys[key] ?? key))}\n`
      if (options.out !== undefined) writeOut(resolve(io.cwd, options.out), json())
      if (options.markdown !== undefined)
        writeOut(resolve(io.cwd, options.markdown), planMarkdown({ ...plan, warnings }))
      if (context.options.json === true) io.out(json())
      else dialogue.show({ kind: 'plan', plan })
      return options.detailedExitcode === true && plan.changes.length > 0
        ? exits.differences
        : exits.done
    },
  })
  selection(command)
    .option('--out <file>', 'save the plan for "edgewise apply FILE"')
    .option('--markdown <file>', 'write the plan as Markdown, for a comment')
    .addOption(
      new Option('--effort <effort>', 'how long to look for fewer writes')
        .choices(efforts)
        .default('normal'),
    )
    .option(
      '--explain-writes',
      'say why each write is as it is, and what the obvious groupings cost',
    )
    .option('--detailed-exitcode', 'exit with 2 when there are changes')
}
