import type { ItemKey } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { map, Unknown, type Answer } from './answer.ts'
import { findAssumed } from './assumed.ts'
import { listHeaderFields, traceHeader, type Compiled, type Field } from './compiled.ts'
import { Evaluation, isUnknownValue, unmanagedBit } from './evaluation.ts'
import { parseRequest, type Facts } from './request.ts'
import type { Rule } from './rule.ts'
import { reportCheck, type CheckReport } from './stages/access.ts'
import { listOtherRules, type OtherRules } from './stages/cache.ts'
import { checks } from './stages/checks.ts'

/** An answer in the output: a value; or why it is unknown, and what it is without such items. */
export type Reply = { value: Json } | { unknown: string[]; managed?: Json }

/** What the configuration of a domain does to a request (request semantics, 5). */
export interface Trace {
  facts: Facts
  assumed: JsonObject
  /** Answers, as in `replies`, that rest on a preset or a setting; empty unless asked for. */
  resting: ReadonlySet<string>
  unmanaged: ItemKey[]
  notes: string[]
  /** Answers by stage and name; `outcome` has no stage. */
  replies: Map<string, Reply>
  checks: { report: CheckReport; reply: Reply }[]
  cacheRules: OtherRules
  originHeaders: Map<string, Reply>
  responseHeaders: Map<string, Reply>
}

/**
 * Traces a request through a configuration. Deterministic; asks nothing but its arguments.
 *
 * @param isMarked whether to find the answers that rest on a preset or a setting
 * @throws BadRequest for a bad fact
 */
export function trace(compiled: Compiled, request: Json, isMarked = false): Trace {
  const resting = new Set<string>()
  const facts = parseRequest(request, compiled.domain)
  const e = new Evaluation(facts, compiled.base, compiled.items)
  const headers = listHeaderFields(compiled, e)
  const fields = [...compiled.fields, ...headers]
  const answers = fields.map(({ question, read }) => read(e.ask(question)))
  const replies = replyAll(compiled, e, fields, answers)
  const find = (path: string) => answers[compiled.positions.get(path) ?? -1]
  const of = (stage: string) =>
    new Map(
      headers
        .filter((field) => field.stage === stage)
        .map(({ name, path }) => [name, replies.get(path) ?? { unknown: [] }] as const),
    )
  return {
    facts,
    assumed: findAssumed(compiled, e, fields, answers, isMarked ? resting : null),
    resting,
    unmanaged: compiled.unmanaged,
    notes: hasExtension(compiled) ? ['extend-set'] : [],
    replies,
    checks: checks.map(([item, check]) => ({
      report: reportCheck(
        e,
        compiled.questions,
        [item, check],
        map(find(`checks.${item}`), (word) => word === 'deny'),
      ),
      reply: replies.get(`checks.${item}`) ?? { unknown: [] },
    })),
    cacheRules: listOtherRules(e, compiled.questions, find('cache.rule') as Answer<Rule | null>),
    originHeaders: of('origin.headers'),
    responseHeaders: of('response.headers'),
  }
}

/** Builds the replies of all fields; the managed ones where an unmanaged item is in the way. */
function replyAll(
  compiled: Compiled,
  e: Evaluation,
  fields: Field[],
  answers: Answer<unknown>[],
): Map<string, Reply> {
  const absent = new Evaluation(e.facts, compiled.absent, compiled.items, {
    on: e,
    bit: unmanagedBit,
  })
  const named = () => new Set(listHeaderFields(compiled, absent).map(({ question }) => question))
  return new Map(
    fields.map(({ path, question, read }, i) => [
      path,
      reply(answers[i], () =>
        i < compiled.fields.length || named().has(question)
          ? read(absent.ask(question))
          : Unknown.of('unmanaged head_control'),
      ),
    ]),
  )
}

/**
 * Answers some fields of a trace only, in much less time. Equal to what `trace` replies.
 *
 * @param fields names of answers, as in `replies`, or headers, which need no operation
 * @throws BadRequest for a bad fact
 */
export function askReplies(compiled: Compiled, request: Json, fields: Asked[]): Reply[] {
  const facts = parseRequest(request, compiled.domain)
  const e = new Evaluation(facts, compiled.base, compiled.items)
  const absent = () =>
    new Evaluation(facts, compiled.absent, compiled.items, { on: e, bit: unmanagedBit })
  return fields.map(({ path, header }) => {
    const field = compiled.fields[compiled.positions.get(path) ?? -1]
    const ask = (evaluation: Evaluation): Answer<unknown> => {
      if (header !== null) return traceHeader(compiled, evaluation, header.message, header.name)
      if (field === undefined) throw new RangeError(`expected an answer of a trace, got ${path}`)
      return field.read(evaluation.ask(field.question))
    }
    return reply(ask(e), () => ask(absent()))
  })
}

/** An answer to ask for: its name, or a header of a message. */
export interface Asked {
  path: string
  header: { message: 'request' | 'response'; name: string } | null
}

function reply(answer: Answer<unknown>, readManaged: () => Answer<unknown>): Reply {
  if (!(answer instanceof Unknown)) return { value: toJson(answer) }
  const { reasons } = answer
  const managed = answer.isUnmanaged ? readManaged() : answer
  return managed instanceof Unknown
    ? { unknown: [...reasons] }
    : { unknown: [...reasons], managed: toJson(managed) }
}

function toJson(value: unknown): Json {
  return value as Json
}

function hasExtension({ items }: Compiled): boolean {
  const candidates = items.get('extend') ?? []
  const [value = null] = candidates
  return candidates.length === 1 && value !== null && !isUnknownValue(value)
}
