import { isObject, type Json, type JsonObject } from '../../../core/model/json.ts'
import { formatSecondsInWords } from './duration.ts'
import { part, readValue } from './merge-answers.ts'
import { describeReasons } from './describe-values.ts'
import { describeTargets } from './text.ts'

/**
 * Formats in sentences what happens to a request: its outcome and what decides it, then, if it may
 * be served, how long it is cached and where it comes from.
 *
 * @param trace `edgewise.trace/1`
 */
export function formatTraceSentence(trace: JsonObject): string {
  const [outcome, cache] = [trace['outcome'], part(trace, 'cache')]
  const known = readValue(outcome)
  const [policy, main] = [part(cache, 'policy'), part(trace, 'origin', 'main')]
  const isShort = known !== undefined && known !== 'served'
  const rests = (isShort ? [outcome] : [outcome, policy, main]).some(
    (answer) => part(answer, 'managed') !== undefined,
  )
  return [
    describeOutcome(trace),
    ...(isShort ? [] : [describePolicy(cache), describeOrigin(readValue(main))]),
    ...(rests ? ['This holds if what is not managed here is not set.'] : []),
  ].join(' ')
}

function describeOutcome(trace: JsonObject): string {
  const status = readValue(part(trace, 'response', 'status'))
  const code = typeof status === 'number' ? ` with ${status}` : ''
  const deciding = readValue(part(trace, 'access', 'deciding'))
  const location = readValue(part(trace, 'redirect', 'location'))
  switch (readValue(trace['outcome'])) {
    case 'served':
      return 'It is served.'
    case 'denied':
      return `It is denied${code}${typeof deciding === 'string' ? ` by ${deciding}` : ''}.`
    case 'redirect':
      return `It is redirected${code}${typeof location === 'string' ? ` to ${location}` : ''}.`
    case 'refused':
      return 'It is refused: https without a certificate.'
    default: {
      const reasons = part(trace, 'outcome', 'unknown')
      const why = describeReasons(Array.isArray(reasons) ? reasons.map(String) : [], false)
      return `Whether it is served is not known (${why}).`
    }
  }
}

function describePolicy(cache: Json | undefined): string {
  const rule = readValue(part(cache, 'rule'))
  const pattern = isObject(rule) ? String(rule['pattern'] ?? '') : ''
  const by = rule === null ? ', since no rule matches' : pattern && ` by the rule ${pattern}`
  const seconds = readValue(part(cache, 'seconds'))
  switch (readValue(part(cache, 'policy'))) {
    case 'cache': {
      const time = typeof seconds === 'number' ? ` for ${formatSecondsInWords(seconds)}` : ''
      return `It is cached${time}${by}.`
    }
    case 'bypass':
      return `It is not cached${by}.`
    case 'origin':
      return `The answer of the origin decides how long it is cached${by}.`
    default:
      return 'Whether it is cached is not known.'
  }
}

function describeOrigin(main: Json | undefined): string {
  return main === undefined
    ? 'Its origin is not known.'
    : `The edge fetches it from ${describeTargets(main)}.`
}
