import { describeLacking } from '../../../core/model/people/approvers.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import {
  describeStop,
  type Decided,
  type FoundStop,
  type ListedRollout,
  type ListedState,
  type StopDecision,
} from '../../../core/model/listed-rollout.ts'
import { findCurrentWave, findNextWave } from '../../../core/model/rollout.ts'
import { formatTime, pluralize } from '../../../core/model/text/words.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'
import type { Paint } from '../text/paint.ts'

/** An open rollout runs, or it waits for something. */
const states: Record<ListedState, string> = {
  running: 'running',
  interrupted: 'waiting for an apply (the last one was interrupted)',
  incomplete: 'waiting for an apply (the wave is incomplete)',
  pausing: 'waiting for the pause or the health check after a wave',
  ready: 'waiting for an apply',
  'waiting-for-approval': 'waiting for approval',
  approved: 'waiting for an apply (approved)',
  paused: 'waiting to be resumed (paused)',
  'rolling-back': 'waiting for the rest of its rollback',
}

/** Formats the stop of the account, and the unfinished rollouts: three lines each. */
export function formatRollouts(
  rollouts: ListedRollout[],
  stop: FoundStop | null,
  paint: Paint,
): string {
  const stopped =
    stop === null
      ? ''
      : `${paint.red('stopped')}  ${escapeInvisible(describeStop(stop))}\n` +
        '  continue with: edgewise rollout resume --all\n'
  if (rollouts.length === 0) return `${stopped}There is no open rollout.\n`
  return stopped + rollouts.map((rollout) => formatRollout(rollout, paint)).join('')
}

/** Builds the JSON of the unfinished rollouts, `edgewise.rollouts/1`. */
export function buildRolloutsJson(rollouts: ListedRollout[], stop: FoundStop | null): JsonObject {
  const listed = rollouts.map((rollout) => ({ ...rollout }))
  const json: JsonObject = { format: 'edgewise.rollouts/1', rollouts: listed }
  return stop === null ? json : { ...json, stop: { ...stop } }
}

function formatRollout(rollout: ListedRollout, paint: Paint): string {
  const { id, apply, commit, author, wave, waves, domains, state, since, command } = rollout
  const { approvedBy = [] } = rollout
  const about = [
    `since ${formatTime(since)}`,
    ...(apply === null ? [] : [`last apply ${escapeInvisible(apply)}`]),
    ...(author === null ? [] : [`by ${escapeInvisible(author)}`]),
    ...(commit === null ? [] : [escapeInvisible(commit).slice(0, 12)]),
    ...(approvedBy.length === 0 ? [] : [`approved by ${escapeInvisible(approvedBy.join(', '))}`]),
  ]
  const colour = state === 'running' || state === 'approved' ? paint.green : paint.yellow
  return (
    `${escapeInvisible(id)}  ${colour(states[state])}  ` +
    `wave ${wave} of ${waves} (${pluralize(domains, 'domain')})\n` +
    `  ${paint.dim(about.join(' · '))}\n  continue with: ${escapeInvisible(command)}\n`
  )
}

/** Describes what was decided about a rollout. */
export function describeDecided({ verb, rollout, by, lacking = [] }: Decided): string {
  const name = `rollout ${escapeInvisible(rollout.id)}`
  const earlier = `by ${escapeInvisible(by.author)} at ${formatTime(by.at)}`
  const waveIndex = findCurrentWave(rollout) ?? 0
  const wave = `${waveIndex + 1} of ${rollout.waves.length}`
  const held = Object.keys(rollout.onHold).length
  switch (verb) {
    case 'approved': {
      const domains = pluralize(rollout.waves[waveIndex]?.domains.length ?? 0, 'domain')
      return `Approved wave ${wave} of ${name} (${domains}).`
    }
    case 'partly-approved': {
      const domains = rollout.waves[waveIndex]?.domains ?? []
      const still = describeLacking(domains, lacking)
      return `Recorded the approval of wave ${wave} of ${name}. ${escapeInvisible(still)}.`
    }
    case 'already-approved':
      return `Wave ${wave} of ${name} was already approved ${earlier}.`
    case 'resumed':
      return `Resumed ${name}.`
    case 'paused': {
      const next = `${(findNextWave(rollout) ?? 0) + 1} of ${rollout.waves.length}`
      return `Paused ${name}: it stops before wave ${next}.`
    }
    case 'already-paused':
      return `Rollout ${escapeInvisible(rollout.id)} was already paused ${earlier}.`
    case 'aborted':
      return held === 0
        ? `Aborted ${name}. All of its domains had been sent.`
        : `Aborted ${name}. Its changes of ${pluralize(held, 'domain')} are on hold.`
  }
}

/** Formats what was decided about a rollout, and what to run next. */
export function formatDecided(decided: Decided): string {
  return `${describeDecided(decided)} ${findNextStep(decided)}`.trimEnd()
}

function findNextStep({ verb, rollout: { id, paused, onHold } }: Decided): string {
  const resume = `"edgewise rollout resume ${escapeInvisible(id)}" resumes it.`
  if (verb === 'aborted')
    return Object.keys(onHold).length === 0 ? '' : '"edgewise apply --retry-held" sends them.'
  if (verb === 'partly-approved') return ''
  if (verb === 'paused' || verb === 'already-paused') return resume
  if (paused !== undefined) return `It is paused: ${resume}`
  return '"edgewise apply" of the same manifests continues it.'
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

/** Describes what was decided about all writes of the account. */
export function describeStopped({
  account,
  decision,
  stop,
  store,
  lookSeconds,
}: StopDecision): string {
  const name = `of the account "${escapeInvisible(account)}"`
  const what = stop === null ? '' : escapeInvisible(describeStop(stop))
  switch (decision) {
    case 'stopped':
      return (
        `Stopped all writes ${name}. ` +
        (store === 'git'
          ? `Runners that use the git store look every ${lookSeconds} s.`
          : 'No call leaves later than 2 s from now.') +
        ' Calls under way end.'
      )
    case 'already-stopped':
      return `Nothing has changed: ${what}.`
    case 'resumed':
      return `Resumed the writes ${name}.`
    case 'not-stopped':
      return `The writes ${name} are not stopped.`
  }
}

/** Formats what was decided about all writes of the account, and what to run next. */
export function formatStopDecision(decided: StopDecision): string {
  const isStopped = decided.decision === 'stopped' || decided.decision === 'already-stopped'
  const next = isStopped
    ? '"edgewise rollout resume --all" lets its runners send again.'
    : '"edgewise apply" continues what was left.'
  return `${describeStopped(decided)} ${next}`
}

/** Builds the JSON of that decision, `edgewise.stop-decision/1`. */
export function buildStopJson({ account, decision, stop, lookSeconds }: StopDecision): JsonObject {
  const about = { format: 'edgewise.stop-decision/1', account, decision, lookSeconds }
  return stop === null ? about : { ...about, stop: { ...stop } }
}
