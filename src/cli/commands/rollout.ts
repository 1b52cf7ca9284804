import type { Command } from 'commander'
import type { RolloutVerb } from '../../operations/rollouts.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatExamples, type Declare } from './declare.ts'
import { addLockOptions, type LockOptions } from './options.ts'
import { runOnState } from './run-on-state.ts'

/** Seconds to wait for the lock by default: longer than most waves take to send. */
const lockTimeout = 600

/** Effects of the decisions about a rollout. */
const decisions: Record<RolloutVerb, string> = {
  approve: 'approve the wave that a rollout waits for',
  pause: 'stop a rollout before its next wave',
  resume: 'continue a paused rollout with the next apply',
  abort: 'end a rollout, and put its unsent changes on hold',
}

/** `edgewise rollout`: parent of the commands for open rollouts. */
export function declareRollout(program: Command, declare: Declare): void {
  const rollout = program
    .command('rollout')
    .description('list open rollouts; approve, pause, resume or abort them')
    .addHelpText('after', formatExamples(['rollout list', 'rollout approve 20260102T030405Z-1a2b']))
  declareList(rollout, declare)
  for (const [verb, description] of Object.entries(decisions))
    declareDecision(rollout, declare, verb as RolloutVerb, description)
}

/** `edgewise rollout list`: lists the unfinished rollouts, first to last. */
function declareList(rollout: Command, declare: Declare): void {
  declare(rollout, 'list', {
    description: 'list the unfinished rollouts, and the commands that continue them',
    examples: ['rollout list', 'rollout list --json'],
    run: async (context) => {
      const { listRollouts } = await import('../../operations/rollouts.ts')
      const { formatRollouts } = await import('../../outlets/report/apply/rollouts-text.ts')
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

/** `edgewise rollout approve|pause|resume|abort`: records a decision about a rollout. */
function declareDecision(
  rollout: Command,
  declare: Declare,
  verb: RolloutVerb,
  description: string,
): void {
  const command = declare<LockOptions>(rollout, `${verb} <id>`, {
    description,
    args: ['id of the rollout; "edgewise rollout list" shows it'],
    traced: true,
    examples: [`rollout ${verb} 20260102T030405Z-1a2b`],
    run: async (context, [id], options) => {
      const { decideRollout } = await import('../../operations/rollouts.ts')
      const { formatDecided, buildDecidedJson } =
        await import('../../outlets/report/apply/rollouts-text.ts')
      const request = { rollout: String(id), lockTimeout: options.lockTimeout }
      return runOnState(
        context,
        (workspace, ports) => decideRollout(verb, workspace, request, ports),
        { json: buildDecidedJson, text: formatDecided },
      )
    },
  })
  addLockOptions(
    command,
    'seconds to wait for the lock, for example while a wave is sent',
    lockTimeout,
  )
}
