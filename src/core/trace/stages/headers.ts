import type {
  AddBackSourceHead,
  AddResponseHead,
  ClientRealIp,
  HeadControl,
} from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import type { Json } from '../../model/json.ts'
import type { Text } from '../../model/secret.ts'
import { canonicalizeJson } from '../../model/text/canonical-json.ts'
import { isSet, orElse, choose, map, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import type { Candidate, Evaluation, Question, Questions } from '../evaluation.ts'
import { isUnknownValue } from '../evaluation.ts'
import { matchUrlRegex } from '../match/url.ts'
import { Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { notGiven, readHeader } from '../request.ts'
import { readPlain } from '../secret-text.ts'
import { askSeen } from './seen.ts'

/** The values of a header; null if it is absent. */
export type HeaderValue = Answer<readonly string[] | null>

type HeadRule = HeadControl['list'][number]
export type Direction = HeadRule['head_direction']

/** Asks whether a rule of `head_control` matches the URL. */
function askMatch(q: Questions, rule: HeadRule, i: number): Question<Answer<boolean>> {
  return q.keep(rule, 'match', () => {
    const regex = new Regex(rule.regex, `head_control/list/${i}/regex`)
    return q.ask((e) => matchUrlRegex(e, regex, e.ask(askSeen(q)), 'R6'))
  })
}

/** Equal rules of several candidates match alike, whatever the order of their keys. */
const formatRule = remember((rule: HeadRule) => canonicalizeJson(rule as unknown as Json))

interface Step {
  rule: HeadRule
  i: number
}

/** Lists the rules of `head_control` for a header, in the order in which they act (R61, R14). */
function listSteps(
  e: Evaluation,
  q: Questions,
  value: HeadControl,
  name: string,
  direction: Direction,
): Step[] {
  const steps = value.list
    .map((rule, i) => ({ rule, i }))
    .filter(({ rule }) => rule.head_direction === direction && mayBe(rule.head, name))
    .filter(({ rule, i }) =>
      e.suppose(`head_control ${formatRule(rule)} ${i}`, e.ask(askMatch(q, rule, i))),
    )
  if (steps.length < 2) return steps
  const isDescending = haveSeveral(steps) && e.reading('R61') === 'descending'
  const isLastFirst = haveEqual(steps) && e.reading('R14') === 'last'
  return steps.toSorted((a, b) => {
    const byOrder = a.rule.order - b.rule.order
    if (byOrder !== 0) return isDescending ? -byOrder : byOrder
    return isLastFirst ? b.i - a.i : a.i - b.i
  })
}

function haveSeveral(steps: Step[]): boolean {
  return steps.some(({ rule }) => rule.order !== steps[0]?.rule.order)
}

function haveEqual(steps: Step[]): boolean {
  return new Set(steps.map(({ rule }) => rule.order)).size < steps.length
}

/** Applies the rules of `head_control` for one direction to a header. */
function control(
  e: Evaluation,
  q: Questions,
  name: string,
  direction: Direction,
  start: HeaderValue,
): HeaderValue {
  const value = e.item('head_control')
  if (value instanceof Unknown) return uniteUnknown([value, start]) ?? value
  if (value === null) return start
  const steps = listSteps(e, q, castAccepted<HeadControl>(value), name, direction)
  return steps.reduce(
    (current, { rule }) => ifNamed(rule.head, current, () => operate(e, rule, current)),
    start,
  )
}

/** Tests whether a name is that of a header, in lower case; a secret may be. */
function mayBe(head: Text, name: string): boolean {
  return typeof head !== 'string' || head.toLowerCase() === name
}

/** What an operation makes of a header; unknown if a secret names what it changes. */
function ifNamed(head: Text, current: HeaderValue, operated: () => HeaderValue): HeaderValue {
  const known = readPlain(head)
  return known instanceof Unknown ? (uniteUnknown([known, current]) ?? known) : operated()
}

/** DEL: absent. ALT: the value; R63 if absent. ADD: the value if absent; otherwise R62. */
function operate(e: Evaluation, rule: HeadRule, current: HeaderValue): HeaderValue {
  if (rule.head_op === 'DEL') return null
  const set = map(readPlain(rule.value ?? ''), (text) => [text])
  const isThere = map(current, (values) => values !== null)
  if (rule.head_op === 'ALT')
    return choose<readonly string[] | null>(
      isThere,
      () => set,
      () => (e.reading('R63') === 'add' ? set : null),
    )
  return choose<readonly string[] | null>(
    isThere,
    () => {
      const way = e.reading('R62')
      if (way === 'replace') return set
      return way === 'keep' ? current : appendTo(current, set)
    },
    () => set,
  )
}

function appendTo(current: HeaderValue, more: Answer<readonly string[]>): HeaderValue {
  return map(current, (values) => map(more, (added) => [...(values ?? []), ...added]))
}

/** A header as checks of access see it (R66); the empty text stands for none. */
export function askAccessHeader(q: Questions, name: string): Question<Answer<string | null>> {
  return q.keep('access header', name, () =>
    q.ask((e) => {
      const fact = readHeader(e.facts.headers, name)
      if (!mayControl(e, name, 'CLI_REQ')) return fact
      if (e.reading('R66') === 'after-access') return fact
      return joinValues(control(e, q, name, 'CLI_REQ', toValues(fact)))
    }),
  )
}

/** A header of the origin as caching sees it (R67). */
export function askCacheHeader(q: Questions, name: string): Question<Answer<string | null>> {
  return q.keep('cache header', name, () =>
    q.ask((e) => {
      const fact = readHeader(e.facts.origin.headers, name, 'origin.')
      if (!mayControl(e, name, 'SER_REP')) return fact
      if (e.reading('R67') === 'after-cache') return fact
      return joinValues(control(e, q, name, 'SER_REP', toValues(fact)))
    }),
  )
}

/** Tests whether `head_control` may have a rule for a header, without asking for its value. */
function mayControl(e: Evaluation, name: string, direction: Direction): boolean {
  const candidates = e.items.get('head_control')
  if (candidates === undefined) return e.item('head_control') !== null
  return candidates.some(
    (value) =>
      isUnknownValue(value) ||
      listRules(value).some((rule) => rule.head_direction === direction && mayBe(rule.head, name)),
  )
}

function listRules(value: Candidate): HeadRule[] {
  return value === null || isUnknownValue(value) ? [] : castAccepted<HeadControl>(value).list
}

function toValues(fact: Answer<string | null>): HeaderValue {
  return map(fact, (text) => (text === null ? null : [text]))
}

function joinValues(values: HeaderValue): Answer<string | null> {
  return map(values, (known) => known?.join(', ') ?? null)
}

/** A header of the request to the origin. */
export function askOriginHeader(q: Questions, name: string): Question<HeaderValue> {
  return q.keep('origin header', name, () =>
    q.ask((e) => changeRequest(e, q, name, toValues(readHeader(e.facts.headers, name)))),
  )
}

/** A header of the request to the origin if an operation has set it; null if none has. */
export function askSetHeader(q: Questions, name: string): Question<HeaderValue> {
  return q.keep('set header', name, () =>
    q.ask((e) => {
      const start = toValues(readHeader(e.facts.headers, name))
      const value = changeRequest(e, q, name, start)
      return value === start ? null : value
    }),
  )
}

function changeRequest(e: Evaluation, q: Questions, name: string, start: HeaderValue): HeaderValue {
  return listChanges(e, 'request').reduce<HeaderValue>(
    (value, change) => applyToRequest(e, q, name, change, value),
    start,
  )
}

type Change = Direction | 'real-ip' | 'add'

/** The order in which items change a header (R64). */
function listChanges(e: Evaluation, message: 'request' | 'response'): readonly Change[] {
  const isSplit =
    e.items.get('head_control')?.every((value) => value === null) !== true ||
    (message === 'request' &&
      e.items.get('client_real_ip')?.every((value) => value === null) !== true)
  const order = isSplit ? e.reading('R64') : 'head-control-last'
  return orders[message][order] ?? []
}

const orders: Record<'request' | 'response', Record<string, readonly Change[]>> = {
  request: {
    'head-control-last': ['CLI_REQ', 'real-ip', 'add', 'SER_REQ'],
    'head-control-first': ['CLI_REQ', 'SER_REQ', 'real-ip', 'add'],
    'real-ip-last': ['CLI_REQ', 'add', 'SER_REQ', 'real-ip'],
  },
  response: {
    'head-control-last': ['SER_REP', 'add', 'CLI_REP'],
    'head-control-first': ['SER_REP', 'CLI_REP', 'add'],
    'real-ip-last': ['SER_REP', 'add', 'CLI_REP'],
  },
}

function applyToRequest(
  e: Evaluation,
  q: Questions,
  name: string,
  change: Change,
  value: HeaderValue,
): HeaderValue {
  if (change === 'real-ip') return setRealIp(e, name, value)
  return change === 'add' ? addToRequest(e, name, value) : control(e, q, name, change, value)
}

function setRealIp(e: Evaluation, name: string, value: HeaderValue): HeaderValue {
  const item = e.item('client_real_ip')
  if (item === null) return value
  const head = map(item, (known) => castAccepted<ClientRealIp>(known).head)
  if (!(head instanceof Unknown) && !mayBe(head, name)) return value
  if (e.reading('R30') === 'from-client') return value
  if (head instanceof Unknown) return uniteUnknown([head, value]) ?? head
  return ifNamed(head, value, () => map(e.facts.ip ?? notGiven('ip'), (ip) => [ip]))
}

function addToRequest(e: Evaluation, name: string, value: HeaderValue): HeaderValue {
  const item = e.item('add_back_source_head')
  if (item instanceof Unknown) return uniteUnknown([item, value]) ?? item
  if (item === null) return value
  const named = castAccepted<AddBackSourceHead>(item).filter((entry) =>
    mayBe(entry.head_name, name),
  )
  const isReversed = named.length > 1 && e.reading('R14') === 'first'
  return (isReversed ? named.toReversed() : named).reduce<HeaderValue>(
    (current, entry) =>
      ifNamed(entry.head_name, current, () => {
        const set = map(readPlain(entry.head_value), (text) => [text])
        if (entry.write_when_exists !== 'no') return set
        return orElse<readonly string[] | null>(current, () => set)
      }),
    value,
  )
}

/** A header of the response to the client. */
export function askResponseHeader(q: Questions, name: string): Question<HeaderValue> {
  return q.keep('response header', name, () =>
    q.ask((e) => {
      let value = toValues(readHeader(e.facts.origin.headers, name, 'origin.'))
      for (const change of listChanges(e, 'response'))
        value =
          change === 'add'
            ? addToResponse(e, name, value)
            : control(e, q, name, change as Direction, value)
      return value
    }),
  )
}

function addToResponse(e: Evaluation, name: string, value: HeaderValue): HeaderValue {
  const item = e.item('add_response_head')
  if (item instanceof Unknown) return uniteUnknown([item, value]) ?? item
  if (item === null) return value
  const entries = castAccepted<AddResponseHead>(item).list.flatMap((entry) =>
    typeof entry === 'object' && 'name' in entry && mayBe(entry.name, name) ? [entry] : [],
  )
  if (entries.length === 0) return value
  const secret = readPlain(entries.map((entry) => entry.name))
  if (secret instanceof Unknown) return uniteUnknown([secret, value]) ?? secret
  const set = readPlain(entries.map((entry) => entry.value))
  return choose<readonly string[] | null>(
    isSet(value),
    () => {
      const way = e.reading('R65')
      if (way === 'overwrite') return set
      return way === 'keep' ? value : appendTo(value, set)
    },
    () => set,
  )
}

/** The headers for which some item may have an operation, sorted. */
export function askHeaderNames(
  q: Questions,
  message: 'request' | 'response',
): Question<{ names: string[] }> {
  return q.keep('header names', message, () =>
    q.askAll((e) => ({ names: listHeaderNames(e, q, message) })),
  )
}

function listHeaderNames(e: Evaluation, q: Questions, message: 'request' | 'response'): string[] {
  const directions = message === 'request' ? ['CLI_REQ', 'SER_REQ'] : ['SER_REP', 'CLI_REP']
  const controlled = listCandidates<HeadControl>(e, 'head_control').flatMap(({ list }) =>
    list.flatMap((rule, i) =>
      directions.includes(rule.head_direction) && e.ask(askMatch(q, rule, i)) !== false
        ? [rule.head]
        : [],
    ),
  )
  const list = (key: ItemKey) =>
    listCandidates<Value>(e, key).flatMap((value) => listHeads(key, value))
  const real = message === 'request' ? list('client_real_ip') : []
  const names = [
    ...controlled,
    ...list(message === 'request' ? 'add_back_source_head' : 'add_response_head'),
    ...(real.length === 0 || e.open('R30') === 'from-client' ? [] : real),
  ].filter((name) => typeof name === 'string')
  return [...new Set(names.map((name) => name.toLowerCase()))].toSorted()
}

/** The names of the headers that an item changes. */
function listHeads(key: ItemKey, value: Value): Text[] {
  if (key === 'client_real_ip') return [castAccepted<ClientRealIp>(value).head]
  if (key === 'add_back_source_head')
    return castAccepted<AddBackSourceHead>(value).map((entry) => entry.head_name)
  const { list } = castAccepted<HeadControl | AddResponseHead>(value)
  return list.map((entry) => {
    if (typeof entry !== 'object' || '$secret' in entry) return entry
    return 'head' in entry ? entry.head : entry.name
  })
}

function listCandidates<Item>(e: Evaluation, key: ItemKey): Item[] {
  return (e.items.get(key) ?? []).flatMap((value) =>
    value === null || isUnknownValue(value) ? [] : [castAccepted<Item>(value as Value)],
  )
}

/** What happens to the headers that no operation names: nothing, as far as the items are known. */
export function askOtherHeaders(
  q: Questions,
  message: 'request' | 'response',
): Question<Answer<'untouched'>> {
  return q.keep('other headers', message, () =>
    q.ask((e) => {
      const realIp: ItemKey[] = e.open('R30') === 'from-client' ? [] : ['client_real_ip']
      const keys: ItemKey[] =
        message === 'request'
          ? ['head_control', ...realIp, 'add_back_source_head']
          : ['head_control', 'add_response_head']
      const items = keys.map((key) =>
        map(e.item(key), (value) => (value === null ? null : readPlain(listHeads(key, value)))),
      )
      return uniteUnknown(items) ?? 'untouched'
    }),
  )
}
