import type { ListedRollout, ListedState } from '../model/listed-rollout.ts'
import { findCurrentWave, findNextWave, type Rollout } from '../model/rollout.ts'
import { isApproved } from './approvals.ts'

/**
 * Describes an unfinished rollout.
 *
 * @param isLocked whether another process holds the lock of the account
 */
export function listRollout(rollout: Rollout, isLocked: boolean): ListedRollout {
  const { id, applies, commit, author, startedAt, waves } = rollout
  const waveIndex = findCurrentWave(rollout) ?? waves.length - 1
  const { state, since } = findState(rollout, waveIndex, isLocked)
  return {
    id,
    apply: applies.at(-1) ?? null,
    commit,
    author,
    startedAt,
    wave: waveIndex + 1,
    domains: waves[waveIndex]?.domains.length ?? 0,
    waves: waves.length,
    state,
    since,
    command: findCommand(id, state),
  }
}

function findState(
  rollout: Rollout,
  waveIndex: number,
  isLocked: boolean,
): Pick<ListedRollout, 'state' | 'since'> {
  const { startedAt, paused, waves } = rollout
  const { applied = null, approval } = waves[waveIndex] ?? {}
  const before = waves[waveIndex - 1]?.applied?.to ?? startedAt
  if (rollout.state !== 'open') return { state: 'rolling-back', since: before }
  if (paused !== undefined && findNextWave(rollout) !== null)
    return { state: 'paused', since: paused.at }
  const waitingSince = approval?.waitingSince ?? null
  if (waitingSince !== null && !isApproved(rollout, waveIndex))
    return { state: 'waiting-for-approval', since: waitingSince }
  if (applied !== null && applied.to !== null) return { state: 'pausing', since: applied.to }
  if (applied !== null) return { state: isLocked ? 'running' : 'interrupted', since: applied.from }
  const approved = approval?.approved ?? null
  return approved === null
    ? { state: 'ready', since: before }
    : { state: 'approved', since: approved.at }
}

function findCommand(id: string, state: ListedState): string {
  if (state === 'rolling-back') return `edgewise rollback ${id}`
  return state === 'paused' || state === 'waiting-for-approval'
    ? `edgewise rollout approve ${id}`
    : 'edgewise apply'
}
