import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Decided, ListedRollout, ListedState } from '../../core/model/listed-rollout.ts'
import {
  dropPause,
  findCurrentWave,
  findNextWave,
  isSent,
  selectDomains,
  type Decision,
  type Rollout,
} from '../../core/model/rollout.ts'
import { listLacking } from '../../core/model/people/approvers.ts'
import { hashWave, isApproved, listGiven } from './approvals.ts'
import { updateWave } from './waves.ts'

/** What an approval counts for. */
export interface ApprovalWeight {
  /** Number of approvers that each domain of the wave needs. */
  by: number
  /** Domains that it counts for; null for all of the wave. */
  domains: Domain[] | null
}

/**
 * Approves the wave that a rollout waits for, or records an approval that needs others beside it.
 * A paused rollout stays paused.
 *
 * @param weight absent: one approval is enough
 * @throws EdgewiseError `usage` when it does not wait for approval
 */
export function approve(
  rollout: Rollout,
  by: Decision,
  weight: ApprovalWeight = { by: 1, domains: null },
): Decided {
  const waveIndex = findCurrentWave(rollout) ?? 0
  const approval = rollout.waves[waveIndex]?.approval
  const waitingSince = approval?.waitingSince ?? null
  if (waitingSince !== null && !isApproved(rollout, waveIndex)) {
    const wave = hashWave(rollout, waveIndex)
    const own = weight.domains === null ? {} : { domains: weight.domains }
    const given = [...listGiven(rollout, waveIndex), { ...by, wave, ...own }]
    const { domains = [] } = rollout.waves[waveIndex] ?? {}
    const lacking = listLacking(domains, given, weight.by)
    if (lacking.length > 0) {
      const changed = updateWave(rollout, waveIndex, {
        approval: { waitingSince, given, approved: null },
      })
      return { verb: 'partly-approved', rollout: changed, by, lacking }
    }
    const author = [...new Set(given.map((each) => each.author))].join(', ')
    const changed = updateWave(rollout, waveIndex, {
      approval: { waitingSince, given, approved: { author, at: by.at, wave } },
    })
    return { verb: 'approved', rollout: changed, by }
  }
  const earlier = approval?.approved ?? null
  if (earlier !== null && rollout.waves[waveIndex]?.applied === null)
    return { verb: 'already-approved', rollout, by: earlier }
  throw new EdgewiseError(
    'usage',
    `rollout ${rollout.id} does not wait for approval: ` +
      `it is at wave ${waveIndex + 1} of ${rollout.waves.length}`,
    'A wave is approved once apply has stopped before it. "edgewise rollout list" shows the state.',
  )
}

/**
 * Resumes a paused rollout.
 *
 * @throws EdgewiseError `usage` when it is not paused
 */
export function resume(rollout: Rollout, by: Decision): Decided {
  if (rollout.paused !== undefined) return { verb: 'resumed', rollout: dropPause(rollout), by }
  throw new EdgewiseError(
    'usage',
    `rollout ${rollout.id} is not paused`,
    '"edgewise rollout list" shows what it waits for, and the command that continues it.',
  )
}

/**
 * Pauses a rollout before its next wave.
 *
 * @throws EdgewiseError `usage` when there is no next wave
 */
export function pause(rollout: Rollout, by: Decision): Decided {
  if (rollout.paused !== undefined) return { verb: 'already-paused', rollout, by: rollout.paused }
  const nextIndex = findNextWave(rollout)
  if (nextIndex !== null) return { verb: 'paused', rollout: { ...rollout, paused: by }, by }
  throw new EdgewiseError(
    'usage',
    `rollout ${rollout.id} can't be paused: its last wave has begun`,
    '"edgewise rollout abort" ends it, and "edgewise rollback" rolls it back.',
  )
}

/**
 * Aborts a rollout. Its values that were not sent completely are on hold from then on. What an
 * unfinished rollback put on hold stays so.
 */
export function abort(rollout: Rollout, by: Decision): Decided {
  const reason = `aborted by ${by.author}`
  if (rollout.state === 'rolling-back') {
    const rest = `${rollout.reason ?? ''}; its rollback was ${reason}`
    return { verb: 'aborted', rollout: { ...rollout, state: 'stopped', reason: rest }, by }
  }
  const left = rollout.waves.filter((wave) => !wave.passed && !isSent(wave))
  const unsent = left.flatMap(({ domains }) => domains)
  const released = rollout.applies.length === 0 ? rollout.released : []
  return {
    verb: 'aborted',
    rollout: {
      ...dropPause(rollout),
      state: 'stopped',
      reason,
      endedAt: by.at,
      onHold: selectDomains(rollout.values, [...unsent, ...released]),
    },
    by,
  }
}

/**
 * Describes an unfinished rollout.
 *
 * @param isLocked whether another process holds the lock of the account
 */
export function listRollout(rollout: Rollout, isLocked: boolean): ListedRollout {
  const { id, applies, commit, author, startedAt, waves } = rollout
  const waveIndex = findCurrentWave(rollout) ?? waves.length - 1
  const { state, since } = findState(rollout, waveIndex, isLocked)
  const approvedBy = listApprovers(rollout, waveIndex)
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
    approvedBy: approvedBy.length === 0 ? undefined : approvedBy,
    command: findCommand(id, state),
  }
}

/** Lists who has approved exactly this wave, also if more have to. */
function listApprovers(rollout: Rollout, waveIndex: number): string[] {
  const given: Decision[] = listGiven(rollout, waveIndex)
  const approved = rollout.waves[waveIndex]?.approval?.approved ?? null
  if (given.length === 0 && approved !== null && isApproved(rollout, waveIndex))
    given.push(approved)
  return [...new Set(given.map(({ author }) => author))]
}

/** Returns whether a wave has begun and not ended: a process sends it, or was interrupted. */
export function isBeingSent({ waves }: Rollout): boolean {
  return waves.some(({ applied }) => applied !== null && applied.to === null)
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
  if (applied?.incomplete === true) return { state: 'incomplete', since: applied.from }
  if (applied !== null && applied.to !== null) return { state: 'pausing', since: applied.to }
  if (applied !== null) return { state: isLocked ? 'running' : 'interrupted', since: applied.from }
  const approved = approval?.approved ?? null
  return approved === null
    ? { state: 'ready', since: before }
    : { state: 'approved', since: approved.at }
}

function findCommand(id: string, state: ListedState): string {
  if (state === 'rolling-back') return `edgewise rollback ${id}`
  if (state === 'paused') return `edgewise rollout resume ${id}`
  return state === 'waiting-for-approval' ? `edgewise rollout approve ${id}` : 'edgewise apply'
}
