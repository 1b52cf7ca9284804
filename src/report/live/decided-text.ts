import type { Decided } from '../../model/listed-rollout.ts'
import { findCurrentWave, findNextWave } from '../../model/rollout.ts'
import { formatTime } from '../../model/format-time.ts'
import { pluralize } from '../../model/words.ts'

/** Formats what was decided about a rollout, and what happens next. */
export function formatDecidedText({ verb, rollout, by }: Decided): string {
  const { id, waves, onHold } = rollout
  const held = Object.keys(onHold).length
  const waveIndex = findCurrentWave(rollout) ?? 0
  const wave = `wave ${waveIndex + 1} of ${waves.length}`
  const size = pluralize(waves[waveIndex]?.domains.length ?? 0, 'domain')
  const earlier = `by ${by.author} at ${formatTime(by.at)}`
  switch (verb) {
    case 'approved':
      return `Approved ${wave} of rollout ${id} (${size}). The leader sends it now.`
    case 'approved-and-resumed':
      return `Approved ${wave} of rollout ${id} (${size}), and resumed it.`
    case 'already-approved':
      return `Wave ${waveIndex + 1} of rollout ${id} was already approved ${earlier}.`
    case 'resumed':
      return `Resumed rollout ${id}.`
    case 'paused':
      return `Paused rollout ${id}: it stops before wave ${(findNextWave(rollout) ?? 0) + 1}.`
    case 'already-paused':
      return `Rollout ${id} was already paused ${earlier}.`
    case 'aborted':
      return held === 0
        ? `Aborted rollout ${id}. All of its domains had been sent.`
        : `Aborted rollout ${id}. ${pluralize(held, 'domain')} on hold.`
  }
}
