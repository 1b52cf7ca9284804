import { EdgewiseError, throwDefect } from '../core/model/edgewise-error.ts'
import {
  describeStop,
  nameStop,
  type FoundStop,
  type Stop,
  type StopDecision,
} from '../core/model/listed-rollout.ts'
import type { Identity } from '../core/model/people/identity.ts'
import { stores } from '../core/model/stores.ts'
import type { AccountStop } from '../state/store/account-stop.ts'
import type { OpenState } from '../state/store/store-opener.ts'
import { describeAct } from './history/describe-act.ts'
import { findActor, refuseCommand, toActor } from './people/command-line.ts'
import { openState, refuseLocalState } from './runtime/open-state.ts'
import type { Outside, StateOutside, Configured, Settings } from './runtime/parts.ts'
import { maxReason, refuseLongReason } from './submission/reasons.ts'
import { findAuthor } from './submission/find-author.ts'

/** A stop of all writes of an account. */
export interface StopRequest {
  /** Why; at most 500 characters. */
  reason?: string
  /** Who decides at `edgewise serve`; absent: who runs this command. */
  identity?: Identity
}

/**
 * Stops all writes of the account, from all runners that share the store, until `resumeAll`. Takes
 * no lock: runners look at it before each call.
 *
 * @throws EdgewiseError `not-allowed`, `usage` when the reason is too long, `local-state`
 */
export async function stopAll(
  workspace: Settings,
  { reason = '', identity }: StopRequest,
  outside: Outside,
): Promise<StopDecision> {
  refuseLongReason(reason)
  const state = await openState(workspace, outside)
  refuseLocalState(workspace.config, state, outside.env)
  const known = identity ?? (await refuseCommand('stop-all', workspace, outside))
  const author = known === null || known.knownBy === 'token' ? findAuthor(outside) : known.name
  const ofCommand = author === outside.user ? 'user' : 'ci'
  const why = reason === '' ? null : workspace.redact(reason).slice(0, maxReason)
  const wanted: Stop = {
    author: author.slice(0, 300),
    knownBy: identity === undefined ? ofCommand : 'serve',
    at: new Date(outside.clock.now()).toISOString(),
    ...(known === null ? {} : { by: toActor(known, outside) }),
    ...(why === null ? {} : { reason: why }),
  }
  const stop = await state.accountStop.record(wanted)
  const act = { identity: known, reason: why }
  if (stop === wanted) await note({ ...act, outcome: 'stopped' }, workspace, state, outside)
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
  { seen, identity }: { seen?: string } & Pick<StopRequest, 'identity'>,
  outside: Outside,
): Promise<StopDecision> {
  const known = identity ?? (await refuseCommand('resume-all', workspace, outside))
  const state = await openState(workspace, outside)
  const { accountStop } = state
  const stop = await accountStop.load()
  if (seen !== undefined && stop !== null && nameStop(stop) !== seen)
    throw new EdgewiseError(
      'usage',
      `there is another stop than the one that was shown: ${describeStop(stop)}`,
      'Nothing was resumed. Look at it again.',
    )
  await accountStop.remove()
  const act = { identity: known, reason: null, outcome: 'resumed' } as const
  if (stop !== null) await note(act, workspace, state, outside)
  return decide(stop === null ? 'not-stopped' : 'resumed', stop, workspace, accountStop)
}

/** Who stopped or resumed all writes, and why. */
interface Act {
  identity: Identity | null
  reason: string | null
  outcome: 'stopped' | 'resumed'
}

/** Adds it to the history. A stop counts without an entry too: nothing may keep one back. */
async function note(
  { identity, reason, outcome }: Act,
  workspace: Settings,
  state: OpenState,
  outside: Outside,
): Promise<void> {
  const about = `all writes of the account ${workspace.config.service.account}`
  try {
    const by =
      identity === null
        ? await findActor(workspace, state, outside, about)
        : toActor(identity, outside)
    await state.store.chain.addLater(
      describeAct(outside, 'decision', about, { by, reason, outcome }),
    )
  } catch (error) {
    throwDefect(error)
    outside.note?.(`the history has no entry of it: ${error.message}`)
  }
}

function decide(
  decision: StopDecision['decision'],
  stop: FoundStop | null,
  { config }: Configured,
  { store }: AccountStop,
): StopDecision {
  const lookSeconds = stores[store].maxStopAgeMs / 1000
  return { account: config.service.account, decision, stop, store, lookSeconds }
}

/** Loads the stop of the account; null if nothing is stopped. */
export async function findStop(
  workspace: Settings,
  outside: StateOutside,
): Promise<FoundStop | null> {
  return (await openState(workspace, outside)).accountStop.load()
}
