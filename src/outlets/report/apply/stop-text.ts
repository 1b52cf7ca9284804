import type { JsonObject } from '../../../core/model/json.ts'
import { describeStop, type StopDecision } from '../../../core/model/listed-rollout.ts'
import { escapeInvisible } from '../text/escape-invisible.ts'

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
