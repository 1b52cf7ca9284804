import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { RolloutVerb } from '../../operations/rollouts.ts'
import type { CommandContext } from '../io.ts'
import type { Declare } from './declare.ts'
import { addLockOptions, type LockOptions } from './options.ts'
import { runOnState } from '../run-on-state.ts'

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
export function declareRollout(declare: Declare): void {
  const declareIn = declare.group(
    'rollout',
    'list open rollouts; approve, pause, resume or abort them; stop all writes',
    ['list', 'approve 20260102T030405Z-1a2b'],
  )
  declareList(declareIn)
  for (const [verb, description] of Object.entries(decisions))
    declareDecision(declareIn, verb as RolloutVerb, description)
  declareStop(declareIn)
}

/** `edgewise rollout list`: lists the unfinished rollouts, first to last. */
function declareList(declare: Declare): void {
  declare('list', {
    description: 'list the unfinished rollouts, and the commands that continue them',
    examples: ['rollout list', 'rollout list --json'],
    run: async (context) => {
      const { listRollouts } = await import('../../operations/rollouts.ts')
      const { findStop } = await import('../../operations/stop.ts')
      const { formatRollouts, buildRolloutsJson } =
        await import('../../outlets/report/apply/rollouts-text.ts')
      const { openWorkspace } = await import('../open.ts')
      const { io, paint } = context
      const workspace = openWorkspace(context, 'none')
      const [rollouts, stop] = await Promise.all([
        listRollouts(workspace, io),
        findStop(workspace, io),
      ])
      context.print(
        () => buildRolloutsJson(rollouts, stop),
        () => formatRollouts(rollouts, stop, paint),
      )
    },
  })
}

/** `edgewise rollout approve|pause|resume|abort`: records a decision about a rollout. */
function declareDecision(declare: Declare, verb: RolloutVerb, description: string): void {
  const canBeAll = verb === 'resume'
  const examples = [`rollout ${verb} 20260102T030405Z-1a2b`]
  const command = declare<DecisionOptions>(`${verb} ${canBeAll ? '[id]' : '<id>'}`, {
    description,
    args: ['id of the rollout; "edgewise rollout list" shows it'],
    traced: true,
    examples: [...examples, ...(canBeAll ? ['rollout resume --all'] : [])],
    run: async (context, [id], options) => {
      if (canBeAll && refuseUnlessOne(id, options)) return decideAll(context, 'resume', '')
      const { decideRollout } = await import('../../operations/rollouts.ts')
      const { formatDecided, buildDecidedJson } =
        await import('../../outlets/report/apply/rollouts-text.ts')
      const request = { rollout: String(id), lockTimeout: options.lockTimeout }
      return runOnState(
        context,
        (workspace, ports) => decideRollout(verb, workspace, request, ports),
        {
          json: buildDecidedJson,
          text: formatDecided,
          notify: (notifier, decided) => notifier.notifyOfDecision(decided),
        },
      )
    },
  })
  if (canBeAll) command.option('--all', 'let all runners of the account send again')
  addLockOptions(command, undefined, lockTimeout)
}

interface DecisionOptions extends LockOptions {
  /** Resumes all writes of the account instead of a rollout. */
  all?: boolean
}

/** Returns whether all is selected; throws unless that or an id is. */
function refuseUnlessOne(id: unknown, { all = false }: DecisionOptions): boolean {
  if (all !== (id === undefined))
    throw new EdgewiseError(
      'usage',
      all ? 'an id and --all exclude each other' : 'expected the id of a rollout, or --all',
      '"edgewise rollout list" lists the unfinished rollouts, and whether all writes are stopped.',
    )
  return all
}

/** `edgewise rollout stop`: stops all writes of the account. */
function declareStop(declare: Declare): void {
  declare<{ all: true; reason?: string }>('stop', {
    description: 'stop all writes of the account, from all runners',
    traced: true,
    examples: ['rollout stop --all --reason "5xx on all domains"'],
    run: (context, _args, { reason = '' }) => decideAll(context, 'stop', reason),
  })
    .requiredOption('--all', 'all workspaces of the account that share the store')
    .option('--reason <text>', 'why; shown to everybody who wants to apply')
    .addHelpText(
      'after',
      `
Needs no lock. Runners look before each call: within 2 seconds no call leaves
any more; runners that use the git store look every 5 seconds. Calls under way
end, and what is not sent stays unsent, rollbacks included, until
"edgewise rollout resume --all".`,
    )
}

/** Stops all writes of the account, or resumes them, and notifies the receivers. */
async function decideAll(
  context: CommandContext,
  verb: 'stop' | 'resume',
  reason: string,
): Promise<void> {
  const { stopAll, resumeAll } = await import('../../operations/stop.ts')
  const { formatStopDecision, buildStopJson } =
    await import('../../outlets/report/apply/rollouts-text.ts')
  return runOnState(
    context,
    (workspace, { outside }) =>
      verb === 'stop' ? stopAll(workspace, { reason }, outside) : resumeAll(workspace, {}, outside),
    {
      json: buildStopJson,
      text: formatStopDecision,
      notify: (notifier, decided) => notifier.notifyOfStop(decided),
    },
  )
}
