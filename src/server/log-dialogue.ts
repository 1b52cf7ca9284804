import { EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Verified } from '../core/model/drift.ts'
import type { ApplyEvent } from '../core/model/events.ts'
import type { JsonObject } from '../core/model/json.ts'
import type { Dialogue } from '../operations/runtime/ports.ts'
import { createReleaseRefusal } from '../operations/submission/foreign-release.ts'
import { listSome } from '../core/model/text/words.ts'
import type { Level, Logger } from './logger.ts'

const olderHint =
  'Push a commit that contains these changes. If going back is meant, run "edgewise apply ' +
  '--allow-older" once with this commit, and with the same database.'

/**
 * Creates a dialogue that logs what was read back, and the events of applies that send something or
 * are in waves. Consent is the branch, so it confirms all but a release by a foreign workspace, and
 * changes back to older values: the branch was set back, or the repository is a clone that lags
 * behind.
 */
export function createLogDialogue(logger: Logger): Dialogue {
  return {
    note: (text) => logger.info('note', { text }),
    warn: (text) => logger.warn('warning', { text }),
    show: (subject) => {
      if (subject.kind === 'verified') logger.info('writes verified', describe(subject.verified))
    },
    confirm: (question) => {
      if (question.kind === 'release') return Promise.reject(createReleaseRefusal(question))
      if (question.kind !== 'older') return Promise.resolve(true)
      const { code, message } = question.refusal
      return Promise.reject(new EdgewiseError(code, message, olderHint))
    },
    startProgress: ({ writes, inWaves }) =>
      Promise.resolve({
        report: (event, callsLeft) => {
          const level = findLevel(event)
          if (level !== null && (writes > 0 || inWaves))
            logger[level](event.type, { ...describe(event), callsLeft })
        },
        end: () => undefined,
      }),
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

/**
 * Picks the numbers and words of an event, or of what was read back; of its lists some names, or
 * only their lengths.
 */
function describe(event: ApplyEvent | Verified): JsonObject {
  const fields = Object.entries(event).flatMap(([key, value]): [string, JsonObject[string]][] => {
    if (key === 'type' || key === 'time') return []
    const isNamed = key === 'domains' || key === 'items'
    if (Array.isArray(value)) return [[key, isNamed ? listSome(value.map(String)) : value.length]]
    if (typeof value === 'object' && value !== null) return []
    return [[key, value ?? null]]
  })
  return Object.fromEntries(fields)
}
