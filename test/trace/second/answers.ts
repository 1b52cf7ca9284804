import { sortTexts, unknownOf, type Result } from './result.ts'
import type { Trace, World } from './trace.ts'

/** An answer as the output shows it. */
export type Answer = { value: unknown } | { unknown: string[] }

/**
 * Answers a question of the output, with what `extend` does to it: with R50 `origin` it decides
 * some fields of the origin, with `anything` all answers.
 */
export function report(
  trace: Trace,
  question: (world: World) => Result<unknown>,
  isCovered = false,
): Answer {
  const result = trace.ask((world) => {
    const item = world.item('extend')
    if (item.known && item.value === null) return question(world)
    const reasons = item.known ? new Set(['undecidable extend']) : item.reasons
    const hides = world.is('R50', 'anything') || (isCovered && world.is('R50', 'origin'))
    return hides ? unknownOf(reasons) : question(world)
  })
  return result.known ? { value: result.value } : { unknown: sortTexts(result.reasons) }
}
