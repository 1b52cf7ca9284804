import type { Decided, ListedRollout, ListedState } from '../../model/listed-rollout.ts'
import type { JsonObject } from '../../model/json.ts'
import { findCurrentWave, findNextWave, type Rollout } from '../../model/rollout.ts'
import { formatTime } from '../../model/format-time.ts'
import { pluralize } from '../../model/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'

const states: Record<ListedState, string> = {
  running: 'running',
  interrupted: 'interrupted',
  pausing: 'pausing after a wave',
  ready: 'ready for the next wave',
  'waiting-for-approval': 'waiting for approval',
  approved: 'approved',
  paused: 'paused',
  'rolling-back': 'rollback unfinished',
}

/** Formats the unfinished rollouts: three lines each. */
export function formatRollouts(rollouts: ListedRollout[], paint: Paint): string {
  if (rollouts.length === 0) return 'There is no open rollout.\n'
  return rollouts.map((rollout) => formatRollout(rollout, paint)).join('')
}

function formatRollout(rollout: ListedRollout, paint: Paint): string {
  const { id, apply, commit, author, wave, waves, domains, state, since, command } = rollout
  const about = [
    `since ${formatTime(since)}`,
    ...(apply === null ? [] : [`last apply ${escapeInvisible(apply)}`]),
    ...(author === null ? [] : [`by ${escapeInvisible(author)}`]),
    ...(commit === null ? [] : [escapeInvisible(commit).slice(0, 12)]),
  ]
  const colour = state === 'running' || state === 'approved' ? paint.green : paint.yellow
  return (
    `${escapeInvisible(id)}  ${colour(states[state])}  ` +
    `wave ${wave} of ${waves} (${pluralize(domains, 'domain')})\n` +
    `  ${paint.dim(about.join(' · '))}\n  continue with: ${escapeInvisible(command)}\n`
  )
}

/** Formats what was decided about a rollout, and what to run next. */
export function formatDecided({ verb, rollout, by }: Decided): string {
  const id = escapeInvisible(rollout.id)
  const waveIndex = findCurrentWave(rollout) ?? 0
  const wave = `wave ${waveIndex + 1} of ${rollout.waves.length}`
  const earlier = `by ${escapeInvisible(by.author)} at ${formatTime(by.at)}`
  const domains = pluralize(rollout.waves[waveIndex]?.domains.length ?? 0, 'domain')
  const next = '"edgewise apply" of the same manifests continues it.'
  const resume = `"edgewise rollout approve ${id}" resumes it.`
  switch (verb) {
    case 'approved':
      return `Approved ${wave} of rollout ${id} (${domains}). ${next}`
    case 'approved-and-resumed':
      return `Approved ${wave} of rollout ${id} (${domains}), and resumed it. ${next}`
    case 'already-approved':
      return `Wave ${wave.slice(5)} of rollout ${id} was already approved ${earlier}. ${next}`
    case 'resumed':
      return `Resumed rollout ${id}. ${next}`
    case 'paused':
      return `Paused rollout ${id}: it stops before ${nameNext(rollout)}. ${resume}`
    case 'already-paused':
      return `Rollout ${id} was already paused ${earlier}. ${resume}`
    case 'aborted':
      return `Aborted rollout ${id}. ${describeHeld(Object.keys(rollout.onHold).length)}`
  }
}

function nameNext(rollout: Rollout): string {
  return `wave ${(findNextWave(rollout) ?? 0) + 1} of ${rollout.waves.length}`
}

function describeHeld(held: number): string {
  if (held === 0) return 'All of its domains had been sent.'
  return (
    `Its changes of ${pluralize(held, 'domain')} are on hold until somebody repeats them: ` +
    '"edgewise apply --retry-held".'
  )
}

/** Builds the JSON of a decision, `edgewise.rollout-decision/1`. */
export function buildDecidedJson({ verb, rollout, by }: Decided): JsonObject {
  return {
    format: 'edgewise.rollout-decision/1',
    id: rollout.id,
    decision: verb,
    author: by.author,
    at: by.at,
    wave: (findCurrentWave(rollout) ?? 0) + 1,
    waves: rollout.waves.length,
    held: Object.keys(rollout.onHold).length,
  }
}
