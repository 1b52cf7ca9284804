import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Decided } from '../model/listed-rollout.ts'
import {
  dropPause,
  findCurrentWave,
  findNextWave,
  isSent,
  selectDomains,
  type Decision,
  type Rollout,
} from '../model/rollout.ts'
import { hashWave, isApproved } from './approvals.ts'
import { updateWave } from './wave-times.ts'

/**
 * Approves the wave that a rollout waits for, and resumes a paused rollout.
 *
 * @throws EdgewiseError `usage` when it waits for neither
 */
export function approve(rollout: Rollout, by: Decision): Decided {
  const waveIndex = findCurrentWave(rollout) ?? 0
  const { paused } = rollout
  const resumed = dropPause(rollout)
  const approval = rollout.waves[waveIndex]?.approval
  const waits = !isApproved(rollout, waveIndex) && approval?.waitingSince !== null
  if (waits) {
    const approved = { ...by, wave: hashWave(rollout, waveIndex) }
    const waitingSince = approval?.waitingSince ?? by.at
    return {
      verb: paused === undefined ? 'approved' : 'approved-and-resumed',
      rollout: updateWave(resumed, waveIndex, { approval: { waitingSince, approved } }),
      by,
    }
  }
  if (paused !== undefined) return { verb: 'resumed', rollout: resumed, by }
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

/** Aborts a rollout. Its values that were not sent completely are on hold from then on. */
export function abort(rollout: Rollout, by: Decision): Decided {
  const left = rollout.waves.filter((wave) => !wave.passed && !isSent(wave))
  const unsent = left.flatMap(({ domains }) => domains)
  const released = rollout.applies.length === 0 ? rollout.released : []
  return {
    verb: 'aborted',
    rollout: {
      ...dropPause(rollout),
      state: 'stopped',
      reason: `aborted by ${by.author}`,
      endedAt: by.at,
      onHold: selectDomains(rollout.values, [...unsent, ...released]),
    },
    by,
  }
}
