import { EdgewiseError } from '../core/model/edgewise-error.ts'
import {
  describeStop,
  nameStop,
  type FoundStop,
  type Stop,
  type StopDecision,
} from '../core/model/listed-rollout.ts'
import { type AccountStop, maxStopAgeMs } from '../state/store/account-stop.ts'
import { refuseCommand } from './people/command-line.ts'
import { openState, refuseLocalState } from './runtime/open-state.ts'
import type { Outside, StateOutside } from './runtime/outside.ts'
import type { Configured, Settings } from './runtime/workspace-parts.ts'
import { maxReason, refuseLongReason } from './submission/reasons.ts'
import { findAuthor } from './submission/find-author.ts'

/** A stop of all writes of an account. */
export interface StopRequest {
  /** Why; at most 500 characters. */
  reason?: string
  /** Present if somebody with the token of `edgewise serve` decides. */
  knownBy?: 'serve'
  /** Who decides; absent: the user of this process. */
  by?: string
}

/**
 * Stops all writes of the account, from all runners that share the store, until `resumeAll`. Takes
 * no lock: runners look at it before each call.
 *
 * @throws EdgewiseError `not-allowed`, `usage` when the reason is too long, `local-state`
 */
export async function stopAll(
  workspace: Settings,
  { reason = '', knownBy, by }: StopRequest,
  outside: StateOutside & Pick<Outside, 'user'>,
): Promise<StopDecision> {
  refuseLongReason(reason)
  const state = await openState(workspace, outside)
  refuseLocalState(workspace.config, state, outside.env)
  const isCommand = knownBy === undefined
  const user = isCommand ? await refuseCommand('stop-all', workspace, outside) : null
  const author = by ?? user?.name ?? findAuthor(outside)
  const wanted: Stop = {
    author: author.slice(0, 300),
    knownBy: knownBy ?? (author === outside.user ? 'user' : 'ci'),
    at: new Date(outside.clock.now()).toISOString(),
    ...(reason === '' ? {} : { reason: workspace.scrub(reason).slice(0, maxReason) }),
  }
  const stop = await state.accountStop.record(wanted)
  return decide(stop === wanted ? 'stopped' : 'already-stopped', stop, workspace, state.accountStop)
}

/**
 * Lets the runners of the account send again.
 *
 * @param seen name of the stop that somebody saw before; absent: any stop
 * @throws EdgewiseError `not-allowed`, `usage` for another stop than the one that was seen
 */
export async function resumeAll(
  workspace: Settings,
  { seen, knownBy }: { seen?: string } & Pick<StopRequest, 'knownBy'>,
  outside: StateOutside & Pick<Outside, 'user'>,
): Promise<StopDecision> {
  if (knownBy === undefined) await refuseCommand('resume-all', workspace, outside)
  const { accountStop } = await openState(workspace, outside)
  const stop = await accountStop.load()
  if (seen !== undefined && stop !== null && nameStop(stop) !== seen)
    throw new EdgewiseError(
      'usage',
      `there is another stop than the one that was shown: ${describeStop(stop)}`,
      'Nothing was resumed. Look at it again.',
    )
  await accountStop.remove()
  return decide(stop === null ? 'not-stopped' : 'resumed', stop, workspace, accountStop)
}

function decide(
  decision: StopDecision['decision'],
  stop: FoundStop | null,
  { config }: Configured,
  { store }: AccountStop,
): StopDecision {
  const lookSeconds = maxStopAgeMs[store] / 1000
  return { account: config.service.account, decision, stop, store, lookSeconds }
}

/** Loads the stop of the account; null if nothing is stopped. */
export async function findStop(
  workspace: Settings,
  outside: StateOutside,
): Promise<FoundStop | null> {
  return (await openState(workspace, outside)).accountStop.load()
}
