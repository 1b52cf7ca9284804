import type { Command } from 'commander'
import type { Edgewise } from '../../operations/open.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatExamples, type Declare } from './declare.ts'
import { addLockOptions, buildLockRequest, type LockOptions } from './options.ts'

/** Seconds to wait for the lock by default: longer than most waves take to send. */
const lockTimeout = 600

/** `edgewise rollout`: parent of the commands for open rollouts. */
export function declareRollout(program: Command, declare: Declare): void {
  const rollout = program
    .command('rollout')
    .description('list open rollouts, approve, pause or abort them')
    .addHelpText('after', formatExamples(['rollout list', 'rollout approve 20260102T030405Z-1a2b']))
  declareList(rollout, declare)
  declareDecision(
    rollout,
    declare,
    'approve',
    'approve the wave that a rollout waits for, or resume it',
  )
  declareDecision(rollout, declare, 'abort', 'end a rollout, and put its unsent changes on hold')
  declareDecision(rollout, declare, 'pause', 'stop a rollout before its next wave')
}

/** `edgewise rollout list`: lists the unfinished rollouts, first to last. */
function declareList(rollout: Command, declare: Declare): void {
  declare(rollout, 'list', {
    description: 'list the unfinished rollouts, and the commands that continue them',
    examples: ['rollout list', 'rollout list --json'],
    run: async (context) => {
      const { listRollouts } = await import('../../operations/rollouts.ts')
      const { formatRollouts } = await import('../../report/apply/rollouts-text.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, options, paint } = context
      const rollouts = await listRollouts(openWorkspace(context, 'none'), io)
      io.out(
        options.json === true
          ? `${JSON.stringify({ format: 'edgewise.rollouts/1', rollouts })}\n`
          : formatRollouts(rollouts, paint),
      )
      return exitCodes.done
    },
  })
}

/** `edgewise rollout approve|abort|pause`: records a decision about a rollout. */
function declareDecision(
  rollout: Command,
  declare: Declare,
  name: keyof Pick<Edgewise, 'approve' | 'abort' | 'pause'>,
  description: string,
): void {
  const command = declare<LockOptions>(rollout, `${name} <id>`, {
    description,
    args: ['id of the rollout; "edgewise rollout list" shows it'],
    traced: true,
    examples: [`rollout ${name} 20260102T030405Z-1a2b`],
    run: async (context, [id], options) => {
      const operations = await import('../../operations/rollouts.ts')
      const { createTerminalDialogue } = await import('../terminal/dialogue.ts')
      const { formatDecided, buildDecidedJson } =
        await import('../../report/apply/rollouts-text.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io } = context
      const decide = {
        approve: operations.approveRollout,
        abort: operations.abortRollout,
        pause: operations.pauseRollout,
      }[name]
      const decided = await decide(
        openWorkspace(context, 'none'),
        { rollout: String(id), ...buildLockRequest(options) },
        { outside: io, dialogue: createTerminalDialogue(context) },
      )
      io.out(
        context.options.json === true
          ? `${JSON.stringify(buildDecidedJson(decided))}\n`
          : `${formatDecided(decided)}\n`,
      )
      return exitCodes.done
    },
  })
  addLockOptions(
    command,
    'seconds to wait for the lock, for example while a wave is sent',
    lockTimeout,
  )
}
