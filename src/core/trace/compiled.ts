import { catalogue } from '../catalog/catalogue.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { isObject } from '../model/json.ts'
import { map, Unknown, type Answer } from './answer.ts'
import {
  isUnknownValue,
  Questions,
  Variant,
  type Candidate,
  type Candidates,
  type Evaluation,
  type Question,
} from './evaluation.ts'
import type { Settings } from './readings.ts'
import { createSettings } from './settings.ts'
import { askDeciding, askDenied, askResult } from './stages/access.ts'
import { askCache } from './stages/cache.ts'
import { checks } from './stages/checks.ts'
import {
  askHeaderNames,
  askOriginHeader,
  askOtherHeaders,
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
import { askErrorSeconds, askLifetime, askStored } from './stages/stored.ts'

const messages = ['request', 'response'] as const

/** One field of the output: where it stands, and its question. */
export interface Field {
  path: string
  stage: string
  name: string
  question: Question<unknown>
  read: (result: unknown) => Answer<unknown>
}

/** Settings with one reading open. */
export interface Opened {
  variant: Variant
  /** Position of the field that last had another answer under them. */
  last: number
}

/** A configuration that requests can be traced through. */
export interface Compiled {
  domain: Domain
  items: Candidates
  settings: Settings
  questions: Questions
  fields: Field[]
  /** The questions for the names of headers, which are no fields of the output. */
  names: Field[]
  /** Position of a field by its name. */
  positions: ReadonlyMap<string, number>
  mayExtend: boolean
  unmanaged: ItemKey[]
  base: Variant
  /** The settings with unmanaged items taken as absent. */
  absent: Variant
  /** The settings with one reading open, or with unmanaged items unknown, by its bit. */
  opened: (Opened | undefined)[]
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
    names: messages.map((message) => ({
      path: '',
      stage: '',
      name: message,
      question: askHeaderNames(questions, message),
      read: (result) => result,
    })),
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
  const pick = (stage: string, name: string, on: Question<Answer<boolean>>, words: string[]) =>
    field(stage, name, on, (result) => map(result as Answer<boolean>, (is) => words[Number(is)]))
  return [
    field('', 'outcome', askOutcome(q)),
    pick('connection', 'decision', askRefused(q), ['open', 'refused']),
    field('connection', 'settings', askSettings(q)),
    pick('access', 'decision', askDenied(q), ['allowed', 'denied']),
    field('access', 'deciding', askDeciding(q)),
    ...checks.map(([item, check]) =>
      pick('checks', item, askResult(q, item, check), ['pass', 'deny']),
    ),
    pick('redirect', 'decision', askRedirected(q), ['none', 'redirect']),
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

/** Answers what becomes of a header, also of one that no item names. */
export function traceHeader(
  { questions: q, mayExtend }: Compiled,
  e: Evaluation,
  message: 'request' | 'response',
  name: string,
): Answer<unknown> {
  return e.ask(keepHeaderField(q, message, name, mayExtend).question)
}

/** Lists the fields of the headers for which some item may have an operation. */
export function listHeaderFields({ questions: q, mayExtend }: Compiled, e: Evaluation): Field[] {
  return messages.flatMap((message) =>
    e
      .ask(askHeaderNames(q, message))
      .names.map((name) => keepHeaderField(q, message, name, mayExtend)),
  )
}

function keepHeaderField(
  q: Questions,
  message: 'request' | 'response',
  name: string,
  mayExtend: boolean,
): Field {
  return q.keep(message, name, () => createHeaderField(q, message, name, mayExtend))
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

function join(stage: string, name: string): string {
  return stage === '' ? name : `${stage}.${name}`
}

function listUnmanaged(items: Candidates, settings: Settings): ItemKey[] {
  return [...catalogue.keys()]
    .filter((key) => !items.has(key) && !settings.isTakenAsAbsent(key))
    .toSorted()
}
