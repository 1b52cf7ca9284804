import { compareRequest, type EffectClass } from '../../../core/effects/compare.ts'
import type { Sides } from '../../../core/effects/sides.ts'
import type { JsonObject } from '../../../core/model/json.ts'
import type { PageAnswer, PageSides } from '../../../core/model/page/page-effects.ts'
import { pluralize } from '../../../core/model/text/words.ts'
import { parseHeaderLines } from '../../../core/trace/header-lines.ts'
import { buildOutput } from '../../../core/trace/output.ts'
import { readRule } from '../../../core/trace/candidates.ts'
import { trace, type Compiled } from '../../../core/trace/trace.ts'
import { BadRequest, parseUrl } from '../../../core/trace/url.ts'
import { createSidesFinder } from '../../report/effects/pack-sides.ts'
import { buildAnswer } from '../../report/page/build-effects.ts'
import { escapeInvisible } from '../../report/text/escape-invisible.ts'
import { describeTrace } from '../../report/trace/sentence.ts'

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
  | { said: Record<'before' | 'after', string>; answers: (PageAnswer & { class: EffectClass })[] }

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
  const outcome = deltas.find(({ field }) => field === 'outcome') ?? null
  return {
    said: { before: describe(sides.before, request), after: describe(sides.after, request) },
    answers: deltas
      .filter((delta) => delta !== outcome)
      .map((delta) => {
        const answer = buildAnswer(delta, outcome)
        return { class: delta.class, ...answer, field: escapeInvisible(answer.field) }
      }),
  }
}

function describe(side: Compiled, request: JsonObject): string {
  const traced = trace(side, request, { visitor: 'usual', asks: false })
  const output = buildOutput(side.domain, 'plan', traced, () => ({}))
  return describeTrace({ output, readRule: (rule) => readRule(side.candidates, rule) })
}

function describeForeign(host: string, { domains, left }: PageSides): string {
  const named = escapeInvisible(host.slice(0, 100))
  return left === 0
    ? `The plan does not change ${named}.`
    : `This page has the first ${pluralize(domains.length, 'changed domain')} of ` +
        `${domains.length + left}, and ${named} is not one of them.`
}
