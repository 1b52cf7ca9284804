import { compareRequest, type EffectClass } from '../../../core/effects/compare.ts'
import type { Sides } from '../../../core/effects/sides.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import type { PageAnswer, PageSides } from '../../../core/model/page/page-effects.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { parseHeaderLines } from '../../../core/trace/header-lines.ts'
import { askReplies } from '../../../core/trace/trace.ts'
import { BadRequest, parseUrl } from '../../../core/trace/url.ts'
import { createSidesFinder } from '../../report/effects/pack-sides.ts'
import { describeSide } from '../../report/effects/describe-effects.ts'
import { buildAnswer } from '../../report/page/build-effects.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'

/** What somebody has typed; empty for what is not given. */
export interface TypedRequest {
  url: string
  method: string
  ip: string
  /** `Name: value` on each line; a name alone is absent, `*` alone are all others. */
  headers: string
}

/** What a plan does to a request, or a sentence that says why that is not known. */
export type Tried =
  | { fault: string }
  | { outcome: PageAnswer; answers: (PageAnswer & { class: EffectClass })[] }

/** Creates a function that traces a request before and after a plan. */
export function createTrial(packed: PageSides): (typed: TypedRequest) => Tried {
  const findSides = createSidesFinder(packed)
  return (typed) => {
    try {
      const request = readRequest(typed)
      const { host } = parseUrl(typed.url.trim(), null)
      const sides = findSides(host)
      return sides === null ? { fault: describeForeign(host, packed) } : compare(sides, request)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      const why = escapeInvisible(error.message)
      return { fault: `This is no request: ${why}${why.endsWith('?') ? '' : '.'}` }
    }
  }
}

/** Reads a request as files of requests have it. */
function readRequest({ url, method, ip, headers }: TypedRequest): JsonObject {
  const given = parseHeaderLines(headers.split('\n').filter((line) => line.trim() !== ''))
  return {
    url: url.trim(),
    ...(method.trim() === '' ? {} : { method: method.trim() }),
    ...(ip.trim() === '' ? {} : { ip: ip.trim() }),
    ...(Object.keys(given).length === 0 ? {} : { headers: given }),
  }
}

function compare(sides: Sides, request: JsonObject): Tried {
  const { deltas } = compareRequest(sides, request, 'usual')
  const ask = (side: Sides['before']) =>
    askReplies(side, request, [{ path: 'outcome', header: null }], 'usual')[0] ?? { unknown: [] }
  const outcome = { before: ask(sides.before), after: ask(sides.after) }
  return {
    outcome: {
      field: 'outcome',
      before: describeSide('outcome', outcome.before),
      after: describeSide('outcome', outcome.after),
    },
    answers: deltas
      .filter(({ field }) => field !== 'outcome')
      .map((delta) => {
        const answer = buildAnswer(delta, outcome)
        return { class: delta.class, ...answer, field: escapeInvisible(answer.field) }
      }),
  }
}

function describeForeign(host: string, { domains, left }: PageSides): string {
  const named = escapeInvisible(host.slice(0, 100))
  return left === 0
    ? `The plan does not change ${named}.`
    : `This page has the first ${pluralize(domains.length, 'changed domain')} of ` +
        `${domains.length + left}, and ${named} is not one of them.`
}
