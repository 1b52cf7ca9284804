import type { Plan } from '../../core/model/plan.ts'
import { getOwn } from '../../core/model/json.ts'
import {
  findCurrentWave,
  type Given,
  type Rollout,
  type RolloutWave,
} from '../../core/model/rollout.ts'
import { hashJson } from '../../core/plan/basis.ts'
import { continueRollout, updateWave } from './waves.ts'

/** Reason why a wave may not begin: it needs an approval, or the rollout is paused. */
export type Stop = 'approval' | 'paused'

/** Finds the reason why a wave may not begin; null if it may. */
export function findStop(rollout: Rollout, waveIndex: number): Stop | null {
  if (!isApproved(rollout, waveIndex)) return 'approval'
  return rollout.paused === undefined ? null : 'paused'
}

/** Returns whether a wave needs no approval, or has one that holds for exactly this wave. */
export function isApproved(rollout: Rollout, waveIndex: number): boolean {
  const approval = rollout.waves[waveIndex]?.approval
  return approval === undefined || approval.approved?.wave === hashWave(rollout, waveIndex)
}

/** Lists the approvals of a wave that hold for exactly this wave. */
export function listGiven(rollout: Rollout, waveIndex: number): Given[] {
  const { given = [] } = rollout.waves[waveIndex]?.approval ?? {}
  const hash = given.length === 0 ? '' : hashWave(rollout, waveIndex)
  return given.filter(({ wave }) => wave === hash)
}

/** Returns whether a wave of a rollout has been approved. */
export function hasApproval({ waves }: Rollout): boolean {
  return waves.some(({ approval }) => (approval?.approved ?? null) !== null)
}

/** Hashes a wave: its rollout, number, items, and domains with their desired configuration. */
export function hashWave({ id, items, desiredHashes, waves }: Rollout, waveIndex: number): string {
  const domains = waves[waveIndex]?.domains ?? []
  const desired = Object.fromEntries(
    domains.map((name) => [name, getOwn(desiredHashes, name) ?? null]),
  )
  return hashJson({ id, wave: waveIndex + 1, items, desired })
}

/**
 * Identifies what a decision about a rollout is about: its current wave, whether it was sent, and
 * whether the rollout is paused.
 */
export function identifyStep(rollout: Rollout): string {
  const waveIndex = findCurrentWave(rollout) ?? 0
  const { applied = null, approval } = rollout.waves[waveIndex] ?? {}
  const given = listGiven(rollout, waveIndex)
  return hashJson({
    wave: hashWave(rollout, waveIndex),
    begun: applied?.from ?? null,
    approved: approval?.approved?.wave ?? null,
    // Absent without any, so that steps that were shown before stay the same.
    ...(given.length === 0 ? {} : { given: given.length }),
    paused: rollout.paused?.at ?? null,
  })
}

/**
 * Marks a wave as waiting for approval. An approval of an earlier form of the wave is dropped.
 *
 * @param now ISO 8601
 */
export function markWaiting(rollout: Rollout, waveIndex: number, now: string): Rollout {
  const { approval } = rollout.waves[waveIndex] ?? {}
  if (approval === undefined || isApproved(rollout, waveIndex)) return rollout
  const isKnown = approval.waitingSince !== null && approval.approved === null
  const waitingSince = isKnown ? approval.waitingSince : now
  const given = listGiven(rollout, waveIndex)
  return updateWave(rollout, waveIndex, {
    approval: { waitingSince, ...(given.length === 0 ? {} : { given }), approved: null },
  })
}

/** Returns whether the first wave that a plan would send may not begin yet. */
export function isStopped(plan: Plan, continued: Rollout | null): boolean {
  const first = plan.writes.reduce((least, { wave }) => Math.min(least, wave), Infinity)
  if (first === Infinity) return false
  if (continued === null) return plan.approvals?.includes(first) === true
  return findStop(continueRollout(continued, plan), first - 1) !== null
}

/** Lists the numbers of the waves with these writes that still need approval. */
export function listUnapproved(rollout: Rollout, writes: Plan['writes']): number[] {
  const waves = new Set(writes.map(({ wave }) => wave))
  return [...waves].filter((wave) => !isApproved(rollout, wave - 1)).toSorted((a, b) => a - b)
}

/** Finds the index of the first wave left that may not be sent without a decision, or null. */
export function findUnapproved(rollout: Rollout): number | null {
  const isOpen = ({ passed }: RolloutWave, waveIndex: number) =>
    !passed && !isApproved(rollout, waveIndex)
  const waveIndex = rollout.waves.findIndex(isOpen)
  return waveIndex === -1 ? null : waveIndex
}
