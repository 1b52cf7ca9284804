import { Option, type Command } from 'commander'
import { efforts } from '../../model/plan.ts'
import type { Declare } from './declare.ts'
import { guarded, locking, selection } from './options.ts'

/** What is to change, and changing it: `plan`, `apply`, `rollback`, `drift`. */
export function changeCommands(program: Command, declare: Declare): void {
  const plan = declare(program, 'plan', {
    description: 'tell what would change, and in how many writes',
    examples: ['plan', "plan --target '*.shop.example.com' --item https", 'plan --out plan.json --detailed-exitcode'],
    load: async () => (await import('../plan.ts')).plan,
  })
  selection(plan)
    .option('--out <file>', 'save the plan for "edgewise apply FILE"')
    .option('--markdown <file>', 'write the plan as Markdown, for a comment')
    .addOption(new Option('--effort <effort>', 'how long to look for fewer writes').choices(efforts).default('normal'))
    .option('--explain-writes', 'say why each write is as it is, and what the obvious groupings cost')
    .option('--detailed-exitcode', 'exit with 2 when there are changes')

  const apply = declare(program, 'apply [planfile]', {
    description: 'carry the changes out, or exactly those of a saved plan',
    examples: ['apply', 'apply --yes', 'apply plan.json', 'apply --yes --allow https --force'],
    load: async () => (await import('../apply.ts')).apply,
  })
  guarded(selection(apply))
    .option('--no-waves', 'all at once and without a health check; finishes an open rollout of the same change')
    .option('--retry-held', 'apply what a stopped rollout holds as well')
    .option('--stop-on-refusal', 'send nothing more once a write is refused, instead of finding its guilty part')
  locking(apply, 'wait so long for another apply to end')

  const rollback = declare(program, 'rollback [apply]', {
    description: 'go back to what was recorded before an apply',
    examples: ['rollback', 'rollback 20260102T030405Z-1a2b', "rollback --target '*.shop.example.com' --yes"],
    load: async () => (await import('../rollback.ts')).rollback,
  })
  guarded(selection(rollback)).addHelpText(
    'after',
    `
Without APPLY it is the last one that changed something. The id of a rollout
stands for all of its waves. Only what that apply changed is touched; what can't
be taken back is named. The manifests stay as they are: revert them as well.`,
  )
  locking(rollback, 'wait so long for another apply to end')

  const drift = declare(program, 'drift', {
    description: 'where manifests, record and service part',
    examples: ['drift', 'drift --observed held.json --json', "drift --observed './query-cdn --all' --repair"],
    load: async () => (await import('../drift.ts')).drift,
  })
    .option('--markdown <file>', 'write the drift as Markdown, for an issue')
    .option('--observed <file|command>', 'what the service holds: a JSON file, or a program that prints it')
    .option('--repair', 'plan from what was observed, ask, and apply')
  locking(guarded(drift), 'with --repair: wait so long for an apply to end')
}
