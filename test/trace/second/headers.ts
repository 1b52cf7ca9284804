import type { Headers } from './facts.ts'
import { writeAddress } from './ip.ts'
import { findSecret, isRecord, isUnknownCandidate, type Items } from './items.ts'
import { isInsensitive, matchPattern, readText } from './matching.ts'
import {
  choose,
  collect,
  isNo,
  known,
  map,
  no,
  reasonsOf,
  some,
  sortTexts,
  unknown,
  unknownOf,
  yes,
  type Cond,
  type Result,
} from './result.ts'
import { seen } from './seen.ts'
import type { Trace, World } from './trace.ts'

type Rule = Items['head_control']['list'][number]
export type Direction = Rule['head_direction']

/** The values of a header; null: absent. */
export type Values = Result<string[] | null>

/** A header while operations change it. */
interface State {
  values: Values
  /** Whether an operation wrote the values. */
  isSet: Cond
}

/** Reads a text that a header gets. */
type Read = (world: World, text: unknown) => Result<string>

/** Reads a text that the output shows: a secret never is. */
export const readShown: Read = (world, text) => {
  const secret = findSecret(text)
  return secret === null ? readText(world, text) : unknown(`not-given secret:${secret}`)
}

type Step = (world: World, name: string, state: State, read: Read) => State

/** A header of the request or the answer as given. */
export function readFact(headers: Headers, name: string, fact: string): Result<string | null> {
  const text = headers.named.get(name)
  if (text !== undefined) return known(text)
  return headers.noOthers && headers.except !== name
    ? known(null)
    : unknown(`not-given ${fact}.${name}`)
}

export function readClientHeader(world: World, name: string): Result<string | null> {
  return readFact(world.facts.headers, name, 'headers')
}

export function readOriginHeader(world: World, name: string): Result<string | null> {
  return readFact(world.facts.originHeaders, name, 'origin.headers')
}

function start(text: Result<string | null>): State {
  return { values: map(text, (value) => (value === null ? null : [value])), isSet: no }
}

/** Whether a rule of `head_control` matches. */
function matchHeadRule(world: World, rule: Rule, i: number): Cond {
  return matchPattern(world, {
    kind: 'regex',
    pattern: rule.regex,
    ci: isInsensitive(world),
    where: `head_control/list/${i}/regex`,
    source: seen,
  })
}

/** An item that may do anything to the header. */
function disturb(state: State, item: Result<unknown>): State {
  const reasons = reasonsOf(item)
  return {
    values: unknownOf(new Set([...reasonsOf(state.values), ...reasons])),
    isSet: some(state.isSet, () => unknownOf(reasons)),
  }
}

/** The rules of one direction of `head_control`. */
function control(direction: Direction): Step {
  return (world, name, state, read) => {
    const item = world.item('head_control')
    if (!item.known) return disturb(state, item)
    const rules = (item.value?.list ?? [])
      .map((rule, i) => ({ rule, i }))
      .filter(({ rule }) => rule.head_direction === direction && rule.head.toLowerCase() === name)
      .map(({ rule, i }) => ({ rule, i, match: matchHeadRule(world, rule, i) }))
      .filter(({ match }) => !isNo(match))
    return sortByOrder(world, rules).reduce(
      (before, { rule, match }) => chooseState(match, operate(world, rule, before, read), before),
      state,
    )
  }
}

function sortByOrder<T extends { rule: Rule; i: number }>(world: World, rules: T[]): T[] {
  if (rules.length < 2) return rules
  const sign = world.is('R61', 'ascending') ? 1 : -1
  const hasEqual = new Set(rules.map(({ rule }) => rule.order)).size < rules.length
  const place = hasEqual && world.is('R14', 'last') ? -1 : 1
  return rules.toSorted((a, b) => sign * (a.rule.order - b.rule.order) || place * (a.i - b.i))
}

function chooseState(cond: Cond, a: State, b: State): State {
  return {
    values: choose(cond, a.values, b.values),
    isSet: choose(cond, a.isSet, b.isSet),
  }
}

const absent: State = { values: known(null), isSet: no }

function isAbsent({ values }: State): Cond {
  return map(values, (list) => list === null)
}

/** A header as an operation writes it. */
function writeText(world: World, text: unknown, read: Read): State {
  return { values: map(read(world, text), (value) => [value]), isSet: yes }
}

function operate(world: World, rule: Rule, before: State, read: Read): State {
  if (rule.head_op === 'DEL') return absent
  const written = writeText(world, rule.value ?? '', read)
  if (rule.head_op === 'ALT')
    return chooseState(isAbsent(before), world.is('R63', 'add') ? written : absent, written)
  const way = world.reading('R62')
  const joined = { values: join(way, before.values, written.values), isSet: yes }
  return chooseState(isAbsent(before), written, way === 'keep' ? before : joined)
}

/** The values of a header that is there and gets more: `append`, `replace` or `keep`. */
function join(way: string, values: Values, written: Values): Values {
  if (way === 'keep') return values
  if (way !== 'append') return written
  return map(collect([values, written]), (lists) => lists.flatMap((list) => list ?? []))
}

const realIp: Step = (world, name, state) => {
  const item = world.item('client_real_ip')
  if (item.known && item.value?.head.toLowerCase() !== name) return state
  if (world.is('R30', 'from-client')) return state
  if (!item.known) return disturb(state, item)
  const { ip } = world.facts
  return {
    values:
      ip === undefined || ip === 'unlisted' ? unknown('not-given ip') : known([writeAddress(ip)]),
    isSet: yes,
  }
}

const backSource: Step = (world, name, state, read) => {
  const item = world.item('add_back_source_head')
  if (!item.known) return disturb(state, item)
  const entries = (item.value ?? []).filter(({ head_name }) => head_name.toLowerCase() === name)
  const ordered = entries.length > 1 && world.is('R14', 'first') ? entries.toReversed() : entries
  return ordered.reduce((before, { head_value, write_when_exists = 'yes' }) => {
    const written = writeText(world, head_value, read)
    return write_when_exists === 'yes' ? written : chooseState(isAbsent(before), written, before)
  }, state)
}

const addResponse: Step = (world, name, state, read) => {
  const item = world.item('add_response_head')
  if (!item.known) return disturb(state, item)
  const texts = (item.value?.list ?? []).flatMap((entry) =>
    typeof entry !== 'string' && entry.name.toLowerCase() === name ? [entry.value] : [],
  )
  if (texts.length === 0) return state
  const written: Values = collect(texts.map((text) => read(world, text)))
  const values = choose(isAbsent(state), written, () =>
    join(world.reading('R65'), state.values, written),
  )
  return { values, isSet: yes }
}

function run(world: World, name: string, first: State, steps: Step[], read: Read): State {
  return steps.reduce((state, step) => step(world, name, state, read), first)
}

/** A header of the request to the origin. */
export function readOriginRequest(world: World, name: string): State {
  const orders: Record<string, Step[]> = {
    'head-control-last': [control('CLI_REQ'), realIp, backSource, control('SER_REQ')],
    'head-control-first': [control('CLI_REQ'), control('SER_REQ'), realIp, backSource],
    'real-ip-last': [control('CLI_REQ'), backSource, control('SER_REQ'), realIp],
  }
  const steps = orders[world.reading('R64')] ?? []
  return run(world, name, start(readClientHeader(world, name)), steps, readShown)
}

/** A header of the response. */
export function readResponse(world: World, name: string): Values {
  const isFirst = world.is('R64', 'head-control-first')
  const rest = isFirst ? [control('CLI_REP'), addResponse] : [addResponse, control('CLI_REP')]
  const first = start(readOriginHeader(world, name))
  return run(world, name, first, [control('SER_REP'), ...rest], readShown).values
}

function toText(values: Values): Result<string | null> {
  return map(values, (list) => (list === null ? null : list.join(', ')))
}

function isUnset(world: World, name: keyof Items): boolean {
  const item = world.item(name)
  return item.known && item.value === null
}

/** A header of the client as access sees it. */
export function readAccessHeader(world: World, name: string): Result<string | null> {
  return world.once(`access header ${name}`, (inner) => {
    const fact = readClientHeader(inner, name)
    if (isUnset(inner, 'head_control') || inner.is('R66', 'after-access')) return fact
    return toText(run(inner, name, start(fact), [control('CLI_REQ')], readText).values)
  })
}

/** A header of the origin as the cache sees it. */
export function readCacheHeader(world: World, name: string): Result<string | null> {
  return world.once(`cache header ${name}`, (inner) => {
    const fact = readOriginHeader(inner, name)
    if (isUnset(inner, 'head_control') || inner.is('R67', 'after-cache')) return fact
    return toText(run(inner, name, start(fact), [control('SER_REP')], readText).values)
  })
}

/** The candidates of an item that are values. */
function listValues<K extends keyof Items>(trace: Trace, item: K): Items[K][] {
  const { items } = trace.config
  const candidates = Object.hasOwn(items, item) ? (items[item] ?? []) : []
  return candidates
    .filter((candidate) => candidate !== null && !isUnknownCandidate(candidate))
    .map((candidate) => candidate as Items[K])
}

function listControlled(trace: Trace, directions: Direction[]): string[] {
  return listValues(trace, 'head_control').flatMap(({ list }) =>
    list.flatMap((rule, i) =>
      directions.includes(rule.head_direction) &&
      !isNo(trace.ask((world) => matchHeadRule(world, rule, i)))
        ? [rule.head]
        : [],
    ),
  )
}

function toNames(heads: string[]): string[] {
  return sortTexts(new Set(heads.map((head) => head.toLowerCase())))
}

/** Names of the headers of origin requests that have an operation. */
export function listOriginNames(trace: Trace): string[] {
  const heads = listValues(trace, 'client_real_ip').map(({ head }) => head)
  const isIdle = trace.settings.settled.get('R30') === 'from-client'
  if (heads.length > 0) trace.touched.add('R30')
  const added = listValues(trace, 'add_back_source_head').flatMap((entries) =>
    entries.map(({ head_name }) => head_name),
  )
  return toNames([
    ...listControlled(trace, ['CLI_REQ', 'SER_REQ']),
    ...(isIdle ? [] : heads),
    ...added,
  ])
}

/** Names of the headers of responses that have an operation. */
export function listResponseNames(trace: Trace): string[] {
  const added = listValues(trace, 'add_response_head').flatMap(({ list }) =>
    list.flatMap((entry) => (isRecord(entry) && typeof entry !== 'string' ? [entry.name] : [])),
  )
  return toNames([...listControlled(trace, ['SER_REP', 'CLI_REP']), ...added])
}
