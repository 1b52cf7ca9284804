import type { RolledBackApply } from '../../operations/rollback.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import { readOwnEffects } from '../requests/own-effects.ts'
import {
  addGuardOptions,
  buildGuardRequest,
  addLockOptions,
  addSelectionOptions,
  type GuardOptions,
  type LockOptions,
  type SelectionOptions,
} from './options.ts'
import { pickDefined } from '../../core/model/json.ts'
import { pluralize } from '../../core/model/text/words.ts'

/**
 * `edgewise rollback`: plans back to the state before an apply, shows the plan, asks, and executes
 * it.
 */
export function declareRollback(declare: Declare): void {
  const command = declare<SelectionOptions & GuardOptions & LockOptions & { reason?: string }>(
    'rollback [apply]',
    {
      description: 'roll back to the configuration before an apply',
      args: ['id of an apply or a rollout; the last apply that changed something by default'],
      examples: [
        'rollback',
        'rollback 20260102T030405Z-1a2b',
        "rollback --target '*.shop.example.com' --yes",
      ],
      traced: true,
      run: async (context, [name], options) => {
        context.io.saveMemory?.()
        const { rollback } = await import('../../operations/rollback.ts')
        const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
        const { executeAndFinish } = await import('../finish-executed.ts')
        const { openWorkspace } = await import('../open.ts')
        const workspace = openWorkspace(context, 'available')
        const request = {
          ...buildGuardRequest(options),
          ...pickDefined({ reason: options.reason }),
          target: options.target,
          items: options.item,
          lockTimeout: options.lockTimeout,
          apply: typeof name === 'string' ? name : undefined,
          effects: await readOwnEffects(context, workspace),
        }
        const { executed, code } = await executeAndFinish(
          context,
          workspace,
          context.io,
          (outside) =>
            rollback(workspace, request, { outside, dialogue: createTerminalDialogue(context) }),
          nameRollback,
        )
        await noteManifests(context, executed)
        return code
      },
    },
  )
  addGuardOptions(addSelectionOptions(command)).addHelpText(
    'after',
    `
APPLY defaults to the last apply that changed something. The id of a rollout
stands for all of its waves. Only items that this apply changed are touched;
items that can't be rolled back are listed. The manifests are not changed:
revert them as well.`,
  )
  addLockOptions(command.option('--reason <text>', 'why, for the history'))
}

/** Names the command that finishes an interrupted rollback; a rollout has all of its waves. */
function nameRollback({ rollback: { applies } }: RolledBackApply): string {
  const id = applies[0]?.id ?? ''
  return `edgewise rollback ${applies.length > 1 ? id.replace(/-w\d+$/, '') : id}`
}

/** Notes that the manifests still contain rolled-back changes, and whether apply writes them. */
async function noteManifests(
  context: CommandContext,
  { changedBy, stillDesired, onHold }: RolledBackApply,
): Promise<void> {
  const contain = (items: number) =>
    `The manifests still contain the rolled-back values of ${pluralize(items, 'item')}`
  if (onHold + stillDesired === 0) return
  const named = changedBy === null ? '' : ` ${changedBy.slice(0, 12)}`
  const revert = `git revert${named}${named === '' ? '' : ', with -m 1 if that is a merge'}`
  if (onHold > 0)
    context.note(
      `${contain(onHold)}. They are on hold: apply sends them again only with --retry-held. ` +
        `Revert the manifests as well (${revert}).`,
    )
  if (stillDesired > 0)
    context.note(
      `${contain(stillDesired)}: the next apply writes them again unless the manifests are ` +
        `reverted (${revert}).`,
    )
}
