import { createHash } from 'node:crypto'
import { canonicalizeJson } from '../model/canonical-json.ts'
import { findCurrentWave, type Rollout } from '../model/rollout.ts'
import { hashWave } from './approvals.ts'

/**
 * Identifies what a decision about a rollout is about: its current wave, whether it was sent, and
 * whether the rollout is paused.
 */
export function identifyStep(rollout: Rollout): string {
  const waveIndex = findCurrentWave(rollout) ?? 0
  const { applied = null, approval } = rollout.waves[waveIndex] ?? {}
  const step = canonicalizeJson({
    wave: hashWave(rollout, waveIndex),
    begun: applied?.from ?? null,
    approved: approval?.approved?.wave ?? null,
    paused: rollout.paused?.at ?? null,
  })
  return createHash('sha256').update(step).digest('hex')
}
