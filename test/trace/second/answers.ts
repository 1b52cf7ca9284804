import { sortTexts, unknownOf, type Result } from './result.ts'
import type { Trace, World } from './trace.ts'

/** An answer as the output shows it, without `managed`. */
export type Answer = { value: unknown } | { unknown: string[] }

export function toAnswer(result: Result<unknown>): Answer {
  return result.known ? { value: result.value } : { unknown: sortTexts(result.reasons) }
}

/**
 * Answers a question of the output, with what `extend` does to it: with R50 `origin` it decides
 * some fields of the origin, with `anything` all answers.
 */
export function report<T>(
  trace: Trace,
  key: string,
  question: (world: World) => Result<T>,
  isCovered = false,
): Answer {
  const result = trace.ask(`answer ${key}`, (world) => {
    const answer = (): Result<T> => trace.ask(key, question)
    const item = world.item('extend')
    if (item.known && item.value === null) return answer()
    const reasons = item.known ? new Set(['undecidable extend']) : item.reasons
    if (world.is('R50', 'anything')) return unknownOf<T>(reasons)
    return isCovered && world.is('R50', 'origin') ? unknownOf<T>(reasons) : answer()
  })
  return toAnswer(result)
}
