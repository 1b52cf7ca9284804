import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { ApplyEvent } from '../core/model/events.ts'
import type { JsonObject } from '../core/model/json.ts'
import type { Dialogue, Subject } from '../operations/runtime/ports.ts'
import { createReleaseRefusal } from '../operations/submission/foreign-release.ts'
import { listSome } from '../core/model/text/words.ts'
import type { Level, Logger } from './logger.ts'

const olderHint =
  'Push a commit that contains these changes. If going back is meant, run "edgewise apply ' +
  '--allow-older" once with this commit, and with the same database.'

/**
 * Creates a dialogue that logs: summaries and events. Consent is the branch, so it confirms all
 * but a release by a foreign workspace, and changes back to older values: the branch was set back,
 * or the repository is a clone that lags behind.
 */
export function createLogDialogue(logger: Logger): Dialogue {
  return {
    note: (text) => logger.info(text),
    warn: (text) => logger.warn(text),
    show: (subject) => logger.info(subject.kind, summarize(subject)),
    confirm: (question) => {
      if (question.kind === 'release') return Promise.reject(createReleaseRefusal(question))
      if (question.kind !== 'older') return Promise.resolve(true)
      const { code, message } = question.refusal
      return Promise.reject(new EdgewiseError(code, message, olderHint))
    },
    startProgress: () =>
      Promise.resolve({
        report: (event, callsLeft) => {
          const level = findLevel(event)
          if (level !== null) logger[level](event.type, { ...describe(event), callsLeft })
        },
        end: () => undefined,
      }),
  }
}

/** Counts what a subject contains; a large plan is one line as well. */
function summarize(subject: Subject): JsonObject {
  switch (subject.kind) {
    case 'plan':
      return { ...subject.plan.summary }
    case 'compared': {
      const { plan, differing, same } = subject
      return { ...plan.summary, differing: differing.length, same: same.length }
    }
    case 'state':
      return { domains: subject.recorded.size, unfinished: subject.cutOff.length }
    case 'rollback': {
      const { applies, plan, irreversible } = subject.rollback
      return { ...plan.summary, applies: applies.length, irreversible: irreversible.length }
    }
    case 'drift': {
      const { pending, live, inDoubt } = subject.found.drift
      return { pending: pending.length, live: live.length, inDoubt: inDoubt.length }
    }
    case 'effects': {
      const { total, skipped, same, groups } = subject.effects
      return { requests: total, skipped, same, groups: groups.length }
    }
    case 'witnesses':
      return { changes: subject.witnesses.changes.length }
    case 'lock':
      return { who: subject.holder.who, reason: subject.holder.reason, since: subject.holder.since }
    case 'verified': {
      const { same, notVerifiable, differs, unknown, failure } = subject.verified
      const partly = notVerifiable.reduce((sum, { domains }) => sum + domains, 0)
      return { same, notVerifiable: partly, differs: differs.length, unknown, failure }
    }
    case 'prune':
      return { applies: subject.applies.length }
  }
}

/** Returns the level of an event; null if it is not logged. */
function findLevel(event: ApplyEvent): Level | null {
  const { type } = event
  const isWorse = type === 'wave.judged' && event.verdict === 'worse'
  if (isWorse || type === 'rollout.taking-back') return 'warn'
  if (type === 'write.confirmed') return 'debug'
  if (/refused|in-doubt/.test(type)) return 'warn'
  return /^(apply|wave|rollout)\./.test(type) ? 'info' : null
}

/** Picks the numbers and words of an event; of its lists some names, or only their lengths. */
function describe(event: ApplyEvent): JsonObject {
  const fields = Object.entries(event).flatMap(([key, value]): [string, JsonObject[string]][] => {
    if (key === 'type' || key === 'time') return []
    const isNamed = key === 'domains' || key === 'items'
    if (Array.isArray(value)) return [[key, isNamed ? listSome(value.map(String)) : value.length]]
    if (typeof value === 'object' && value !== null) return []
    return [[key, value ?? null]]
  })
  return Object.fromEntries(fields)
}
