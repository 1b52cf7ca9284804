import { catalogue } from '../catalog/catalogue.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { isObject, pickDefined, type Json, type JsonObject } from '../model/json.ts'
import { isSameAnswer, map, Unknown, type Answer } from './answer.ts'
import {
  Evaluation,
  isUnknownValue,
  Questions,
  unmanagedBit,
  type Candidate,
  type Candidates,
  Variant,
  type Question,
} from './evaluation.ts'
import { readings, type Settings } from './readings.ts'
import { parseRequest, type Facts } from './request.ts'
import { createSettings, openReading } from './settings.ts'
import {
  askDeciding,
  askDenied,
  askResult,
  reportCheck,
  type CheckReport,
} from './stages/access.ts'
import { askCache, listOtherRules, type OtherRules } from './stages/cache.ts'
import { checks } from './stages/checks.ts'
import {
  askOriginHeader,
  askOtherHeaders,
  askHeaderNames,
  askResponseHeader,
} from './stages/headers.ts'
import { askAuth, askFollow, askOriginUrl, askRange, askTimeout } from './stages/origin-request.ts'
import { askHost, askOrigin } from './stages/origin.ts'
import {
  askCompression,
  askDrag,
  askOutcome,
  askRateLimit,
  askRedirect,
  askRedirected,
  askRedirectTarget,
  askRefused,
  askSettings,
  askSpeedLimit,
  askStatus,
} from './stages/response.ts'
import { askRewritten } from './stages/seen.ts'
import type { Rule } from './rule.ts'
import { formatAuthority, formatFull, type RequestUrl } from './url.ts'
import { askErrorSeconds, askLifetime, askStored } from './stages/stored.ts'

/** An answer in the output: a value; or why it is unknown, and what it is without such items. */
export type Reply = { value: Json } | { unknown: string[]; managed?: Json }

/** One field of the output: where it stands, and its question. */
interface Field {
  path: string
  stage: string
  name: string
  question: Question<unknown>
  read: (result: unknown) => Answer<unknown>
}

/** A configuration that requests can be traced through. */
export interface Compiled {
  domain: Domain
  items: Candidates
  settings: Settings
  questions: Questions
  fields: Field[]
  /** Position of a field by its name. */
  positions: ReadonlyMap<string, number>
  mayExtend: boolean
  unmanaged: ItemKey[]
  base: Variant
  /** The settings with unmanaged items taken as absent. */
  absent: Variant
  /** The settings with one reading open, or with unmanaged items unknown, by its bit. */
  opened: (Variant | undefined)[]
}

/** What the configuration of a domain does to a request (request semantics, 5). */
export interface Trace {
  request: JsonObject
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
 * Compiles the configuration of a domain.
 *
 * @param items candidates by item, in canonical form; an item without a key is unmanaged
 */
export function compile(
  domain: Domain,
  items: ReadonlyMap<ItemKey, readonly Candidate[]>,
  settings: Settings,
): Compiled {
  const questions = new Questions()
  const prepared = new Map([...items].map(([key, candidates]) => [key, candidates.map(simplify)]))
  const mayExtend = prepared.get('extend')?.every((value) => value === null) !== true
  const fields = listFields(questions, mayExtend)
  return {
    domain,
    items: prepared,
    settings,
    questions,
    fields,
    positions: new Map(fields.map(({ path }, i) => [path, i])),
    mayExtend,
    unmanaged: listUnmanaged(prepared, settings),
    base: new Variant(settings),
    absent: new Variant(createSettings(settings.answers, 'absent', settings.timezone)),
    opened: [],
  }
}

/** An empty list is no value, nor is an empty list of addresses or an empty extension. */
function simplify(value: Candidate): Candidate {
  if (Array.isArray(value)) return value.length === 0 ? null : value
  if (!isObject(value) || isUnknownValue(value)) return value
  const keys = Object.keys(value)
  const { list } = value
  const isAddresses = keys.every((key) => key === 'list' || key === 'mode')
  if (Array.isArray(list) && list.length === 0 && isAddresses) return null
  return value['squid'] === '' ? null : value
}

function listFields(q: Questions, mayExtend: boolean): Field[] {
  const field = (
    stage: string,
    name: string,
    question: Question<unknown>,
    read: Field['read'] = (result) => result,
  ): Field => {
    const path = join(stage, name)
    if (!mayExtend || isOfOrigin(stage, name)) return { path, stage, name, question, read }
    const wrapped = q.keep(question, `extended ${name}`, () => wrapExtended(q, question, read))
    return { path, stage, name, question: wrapped, read: (result) => result }
  }
  const part = (stage: string, name: string, question: Question<unknown>, key = name) =>
    field(stage, name, question, (result) => (isObject(result) ? (result as never)[key] : result))
  const say = (stage: string, name: string, question: Question<Answer<boolean>>, words: string[]) =>
    field(stage, name, question, (result) =>
      map(result as Answer<boolean>, (is) => words[Number(is)]),
    )
  return [
    field('', 'outcome', askOutcome(q)),
    say('connection', 'decision', askRefused(q), ['open', 'refused']),
    field('connection', 'settings', askSettings(q)),
    say('access', 'decision', askDenied(q), ['allowed', 'denied']),
    field('access', 'deciding', askDeciding(q)),
    ...checks.map(([item, check]) =>
      say('checks', item, askResult(q, item, check), ['pass', 'deny']),
    ),
    say('redirect', 'decision', askRedirected(q), ['none', 'redirect']),
    field('redirect', 'status', askRedirect(q)),
    field('redirect', 'location', askRedirectTarget(q)),
    ...['rule', 'policy', 'seconds', 'followsOrigin', 'obeysNoCache', 'key'].map((name) =>
      part('cache', name, askCache(q)),
    ),
    field('cache', 'errorSeconds', askErrorSeconds(q)),
    field('cache', 'lifetime', askLifetime(q)),
    field('cache', 'stored', askStored(q)),
    ...['item', 'main', 'backups', 'protocol', 'port'].map((name) =>
      part('origin', name, askOrigin(q)),
    ),
    field('origin', 'host', askHost(q)),
    field('origin', 'url', askOriginUrl(q)),
    part('origin', 'rewrite', askRewritten(q), 'rule'),
    field('origin', 'otherHeaders', askOtherHeaders(q, 'request')),
    field('origin', 'auth', askAuth(q)),
    field('origin', 'range', askRange(q)),
    field('origin', 'follow', askFollow(q)),
    field('origin', 'timeout', askTimeout(q)),
    part('origin', 'connectTimeout', askOrigin(q)),
    part('response', 'status', askStatus(q)),
    part('response', 'location', askStatus(q)),
    field('response', 'otherHeaders', askOtherHeaders(q, 'response')),
    field('response', 'compression', askCompression(q)),
    field('response', 'speedLimit', askSpeedLimit(q)),
    field('response', 'rateLimit', askRateLimit(q)),
    field('response', 'drag', askDrag(q)),
  ]
}

/** Answers that `extend` always makes undecidable, or never. */
function isOfOrigin(stage: string, name: string): boolean {
  return (
    stage === 'origin' &&
    ['item', 'main', 'backups', 'protocol', 'port', 'host', 'connectTimeout'].includes(name)
  )
}

/** An answer that `extend` makes undecidable if it may change anything (R50). */
function wrapExtended(
  q: Questions,
  question: Question<unknown>,
  read: Field['read'],
): Question<unknown> {
  return q.ask<unknown>((e) => {
    const extension = e.item('extend')
    if (extension === null || e.reading('R50') !== 'anything') return read(e.ask(question))
    return extension instanceof Unknown ? extension : new Unknown(['undecidable extend'])
  })
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
    request: describeRequest(facts),
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

function join(stage: string, name: string): string {
  return stage === '' ? name : `${stage}.${name}`
}

const messages = ['request', 'response'] as const

function listHeaderFields({ questions: q, mayExtend }: Compiled, e: Evaluation): Field[] {
  return messages.flatMap((message) =>
    e
      .ask(askHeaderNames(q, message))
      .names.map((name) => q.keep(message, name, () => createHeaderField(q, message, name, mayExtend))),
  )
}

function createHeaderField(
  q: Questions,
  message: 'request' | 'response',
  name: string,
  mayExtend: boolean,
): Field {
  const read: Field['read'] = (result) => result
  const base = message === 'request' ? askOriginHeader(q, name) : askResponseHeader(q, name)
  const question = mayExtend ? wrapExtended(q, base, read) : base
  const stage = message === 'request' ? 'origin.headers' : 'response.headers'
  return { path: join(stage, name), stage, name, question, read }
}

function reply(answer: Answer<unknown>, readManaged: () => Answer<unknown>): Reply {
  if (!(answer instanceof Unknown)) return { value: toJson(answer) }
  const found: Reply = { unknown: [...answer.reasons] }
  if (!answer.reasons.some((reason) => reason.startsWith('unmanaged '))) return found
  const managed = readManaged()
  return managed instanceof Unknown ? found : { ...found, managed: toJson(managed) }
}

function toJson(value: unknown): Json {
  return value as Json
}

/**
 * Finds the settled readings whose opening would change an answer.
 *
 * @param marks gets the answers that rest on a reading that the specification does not favour
 */
function findAssumed(
  compiled: Compiled,
  e: Evaluation,
  fields: Field[],
  answers: Answer<unknown>[],
  marks: Set<string> | null,
): JsonObject {
  const { settings, items } = compiled
  const assumed: JsonObject = {}
  const changes = (bit: number, open: () => Settings): boolean => {
    const opened = (compiled.opened[bit] ??= new Variant(open()))
    const other = new Evaluation(e.facts, opened, items, { on: e, bit })
    const isChanged = ({ question, read }: Field, i: number) =>
      e.dependsOn(question, bit) && !isSameAnswer(read(other.ask(question)), answers[i])
    const namesChange = () =>
      messages
        .map((message) => askHeaderNames(compiled.questions, message))
        .some(
          (names) => e.dependsOn(names, bit) && !isSameAnswer(other.ask(names), e.ask(names)),
        )
    if (readings[bit - 1]?.favoured !== null || marks === null)
      return fields.some(isChanged) || namesChange()
    const changed = fields.filter(isChanged)
    for (const { path } of changed) marks.add(path)
    return changed.length > 0 || namesChange()
  }
  for (const bit of e.listAsked()) {
    if (bit === unmanagedBit) continue
    const answer = settings.answers[bit]
    const { name } = readings[bit - 1] ?? {}
    if (answer === undefined || name === undefined) continue
    if (changes(bit, () => openReading(settings, bit))) assumed[name] = answer
  }
  const { answers: settled, unmanaged, timezone } = settings
  if (
    unmanaged !== 'unknown' &&
    changes(unmanagedBit, () => createSettings(settled, 'unknown', timezone))
  )
    assumed['unmanaged'] = typeof unmanaged === 'string' ? unmanaged : [...unmanaged]
  return assumed
}

function listUnmanaged(items: Candidates, settings: Settings): ItemKey[] {
  return [...catalogue.keys()]
    .filter((key) => !items.has(key) && !settings.isTakenAsAbsent(key))
    .toSorted()
}

function hasExtension({ items }: Compiled): boolean {
  const candidates = items.get('extend') ?? []
  const [value = null] = candidates
  return candidates.length === 1 && value !== null && !isUnknownValue(value)
}

/** The facts of a request as they were taken, in one order; without secrets. */
function describeRequest(facts: Facts): JsonObject {
  const { url, headers, time, origin, secrets: _, forms: __, ...others } = facts
  const answer = { status: origin.status, size: origin.size, headers: listHeaders(origin.headers) }
  const isGiven = Object.values(answer).some((each) => each !== undefined)
  const clock = time === undefined ? undefined : formatMinutes(time)
  const given = { ...others, time: clock, headers: listHeaders(headers) }
  return {
    url: formatUrl(url),
    ...pickDefined(given),
    ...(isGiven ? { origin: pickDefined(answer) } : {}),
  }
}

function listHeaders({ given, isComplete }: Facts['headers']): JsonObject | undefined {
  if (given.size === 0 && !isComplete) return undefined
  const sorted = [...given].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(isComplete ? [...sorted, ['*', null]] : sorted)
}

function formatMinutes(minutes: number): string {
  const two = (count: number) => String(count).padStart(2, '0')
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}

function formatUrl(url: RequestUrl): string {
  return formatAuthority(url) + formatFull(url)
}
