import type {
  AddBackSourceHead,
  AddResponseHead,
  HeadControl,
} from '../../catalog/generated/items.ts'
import type { Text } from '../../model/secret.ts'
import { choose, isSet, map, orElse, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import { matchUrlRegex } from '../match/url.ts'
import { Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { notGiven, readHeader } from '../request.ts'
import type { Run } from '../run.ts'
import { readPlain } from '../secret-text.ts'
import { seeUrl } from './seen.ts'

/** The values of a header; null if it is absent. */
export type HeaderValue = Answer<readonly string[] | null>

/** A message whose headers items change. */
export type Message = 'request' | 'response'

type HeadRule = HeadControl['list'][number]
type Direction = HeadRule['head_direction']

interface CompiledRule {
  rule: HeadRule
  i: number
  regex: Regex
}

const compileRules = remember((item: HeadControl): CompiledRule[] =>
  item.list.map((rule, i) => ({
    rule,
    i,
    regex: new Regex(rule.regex, `head_control/list/${i}/regex`),
  })),
)

/** Tests whether a rule of `head_control` matches the URL. */
function matchRule(run: Run, { rule, regex }: CompiledRule): Answer<boolean> {
  return run.keep(rule, () => matchUrlRegex(run, regex, seeUrl(run), 'R6'))
}

/** Sorts rules of `head_control` as they act (R61, R14). */
function sortRules(run: Run, rules: CompiledRule[]): CompiledRule[] {
  if (rules.length < 2) return rules
  const [sign, tie] = [
    run.reading('R61') === 'ascending' ? 1 : -1,
    run.reading('R14') === 'first' ? 1 : -1,
  ]
  return rules.toSorted((a, b) => sign * (a.rule.order - b.rule.order) || tie * (a.i - b.i))
}

/** Applies the rules of `head_control` for one direction to a header. */
function control(run: Run, name: string, direction: Direction, start: HeaderValue): HeaderValue {
  const rules = run.read('head_control', [], (item) =>
    compileRules(item).filter(
      (each) =>
        each.rule.head_direction === direction &&
        mayBe(each.rule.head, name) &&
        matchRule(run, each) !== false,
    ),
  )
  if (rules instanceof Unknown) return uniteUnknown([rules, start]) ?? rules
  return sortRules(run, rules).reduce<HeaderValue>(
    (current, each) =>
      choose<readonly string[] | null>(
        matchRule(run, each),
        () => ifNamed(each.rule.head, current, () => operate(run, each.rule, current)),
        () => current,
      ),
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
function operate(run: Run, rule: HeadRule, current: HeaderValue): HeaderValue {
  if (rule.head_op === 'DEL') return null
  const set = map(readPlain(rule.value ?? ''), (text) => [text])
  const isAlt = rule.head_op === 'ALT'
  return choose<readonly string[] | null>(
    isSet(current),
    () => (isAlt ? set : mergeValues(run.reading('R62'), current, set)),
    () => (isAlt && run.reading('R63') === 'nothing' ? null : set),
  )
}

/** Sets the values of a header that is there, adds them to it, or leaves it (R62, R65). */
function mergeValues(
  way: string,
  current: HeaderValue,
  set: Answer<readonly string[]>,
): HeaderValue {
  if (way === 'keep') return current
  if (way !== 'append') return set
  return map(current, (values) => map(set, (added) => [...(values ?? []), ...added]))
}

/** A header of the client as checks of access see it (R66); null without one. */
export function readAccessHeader(run: Run, name: string): Answer<string | null> {
  return readChanged(run, `access ${name}`, readHeader(run.facts.headers, name), name, 'CLI_REQ')
}

/** A header of the origin as caching sees it (R67); null without one. */
export function readCacheHeader(run: Run, name: string): Answer<string | null> {
  const fact = readHeader(run.facts.origin.headers, name, 'origin.')
  return readChanged(run, `cache ${name}`, fact, name, 'SER_REP')
}

function readChanged(
  run: Run,
  key: string,
  fact: Answer<string | null>,
  name: string,
  direction: Direction,
): Answer<string | null> {
  return run.keep(key, () => {
    if (run.item('head_control') === null) return fact
    const isChanged =
      direction === 'CLI_REQ'
        ? run.reading('R66') === 'before-access'
        : run.reading('R67') === 'before-cache'
    if (!isChanged) return fact
    return map(
      control(run, name, direction, toValues(fact)),
      (values) => values?.join(', ') ?? null,
    )
  })
}

function toValues(fact: Answer<string | null>): HeaderValue {
  return map(fact, (text) => (text === null ? null : [text]))
}

type Change = (run: Run, name: string, value: HeaderValue) => HeaderValue

const controlBy =
  (direction: Direction): Change =>
  (run, name, value) =>
    control(run, name, direction, value)
const byServer = {
  request: [controlBy('CLI_REQ'), controlBy('SER_REQ')],
  response: [controlBy('SER_REP'), controlBy('CLI_REP')],
} as const

/** The order in which items change a header (R64). */
const orders: Record<Message, Record<string, readonly Change[]>> = {
  request: {
    'head-control-last': [byServer.request[0], setRealIp, addToRequest, byServer.request[1]],
    'head-control-first': [...byServer.request, setRealIp, addToRequest],
    'real-ip-last': [byServer.request[0], addToRequest, byServer.request[1], setRealIp],
  },
  response: {
    'head-control-last': [byServer.response[0], addToResponse, byServer.response[1]],
    'head-control-first': [...byServer.response, addToResponse],
    'real-ip-last': [byServer.response[0], addToResponse, byServer.response[1]],
  },
}

/** A header of the request to the origin, or of the response to the client. */
export function changeHeader(run: Run, message: Message, name: string): HeaderValue {
  return run.keep(`${message} ${name}`, () => applyChanges(run, message, name)[1])
}

/** A header of the request to the origin if an operation has set it; null if none has. */
export function readSetHeader(run: Run, name: string): HeaderValue {
  const [start, value] = applyChanges(run, 'request', name)
  return value === start || (value instanceof Unknown && isOnlyDeleted(run, name)) ? null : value
}

/** Tests whether operations on a header of the request to the origin only delete it. */
function isOnlyDeleted(run: Run, name: string): boolean {
  const written = run.read('head_control', [], (item) =>
    compileRules(item).filter(({ rule }) => rule.head_op !== 'DEL' && mayBe(rule.head, name)),
  )
  const isUntouched = [setRealIp, addToRequest].every((change) => change(run, name, null) === null)
  return isUntouched && !(written instanceof Unknown) && written.length === 0
}

function applyChanges(run: Run, message: Message, name: string): [HeaderValue, HeaderValue] {
  const { headers, origin } = run.facts
  const fact =
    message === 'request' ? readHeader(headers, name) : readHeader(origin.headers, name, 'origin.')
  const start = toValues(fact)
  const changes = orders[message][run.reading('R64')] ?? []
  return [start, changes.reduce((value, change) => change(run, name, value), start)]
}

function setRealIp(run: Run, name: string, value: HeaderValue): HeaderValue {
  if (run.reading('R30') === 'from-client') return value
  const head = run.read<'client_real_ip', Text | null>('client_real_ip', null, (item) => item.head)
  if (head === null || (!(head instanceof Unknown) && !mayBe(head, name))) return value
  if (head instanceof Unknown) return uniteUnknown([head, value]) ?? head
  const { ip } = run.facts
  return ifNamed(head, value, () => (typeof ip === 'string' ? [ip] : notGiven('ip')))
}

function addToRequest(run: Run, name: string, value: HeaderValue): HeaderValue {
  const named = run.read<'add_back_source_head', AddBackSourceHead>(
    'add_back_source_head',
    [],
    (item) => item.filter((entry) => mayBe(entry.head_name, name)),
  )
  if (named instanceof Unknown) return uniteUnknown([named, value]) ?? named
  const isReversed = named.length > 1 && run.reading('R14') === 'first'
  return (isReversed ? named.toReversed() : named).reduce<HeaderValue>(
    (current, entry) =>
      ifNamed(entry.head_name, current, () => {
        const set = map(readPlain(entry.head_value), (text) => [text])
        return entry.write_when_exists === 'no'
          ? orElse<readonly string[] | null>(current, () => set)
          : set
      }),
    value,
  )
}

function addToResponse(run: Run, name: string, value: HeaderValue): HeaderValue {
  const entries = run.read('add_response_head', [], (item) =>
    listAdded(item).filter((entry) => mayBe(entry.name, name)),
  )
  if (entries instanceof Unknown) return uniteUnknown([entries, value]) ?? entries
  if (entries.length === 0) return value
  const names = readPlain(entries.map((entry) => entry.name))
  if (names instanceof Unknown) return uniteUnknown([names, value]) ?? names
  const set = readPlain(entries.map((entry) => entry.value))
  return choose<readonly string[] | null>(
    isSet(value),
    () => mergeValues(run.reading('R65'), value, set),
    () => set,
  )
}

function listAdded({ list }: AddResponseHead): { name: Text; value: Text }[] {
  return list.flatMap((entry) => (typeof entry === 'object' && 'name' in entry ? [entry] : []))
}

/** The headers for which some item may have an operation, sorted. */
export function listHeaderNames(run: Run, message: Message): string[] {
  return run.keep(`${message} names`, () => {
    const heads = listHeads(run, message).flatMap((each) => (each instanceof Unknown ? [] : each))
    const named = heads.filter((name) => typeof name === 'string')
    return [...new Set(named.map((name) => name.toLowerCase()))].toSorted()
  })
}

/** The names of the headers that each item changes, or why they are not known. */
function listHeads(run: Run, message: Message): Answer<Text[]>[] {
  const directions = message === 'request' ? ['CLI_REQ', 'SER_REQ'] : ['SER_REP', 'CLI_REP']
  const controlled = run.read('head_control', [], (item) =>
    compileRules(item).flatMap((each) =>
      directions.includes(each.rule.head_direction) && matchRule(run, each) !== false
        ? [each.rule.head]
        : [],
    ),
  )
  if (message === 'response')
    return [
      controlled,
      run.read('add_response_head', [], (item) => listAdded(item).map(({ name }) => name)),
    ]
  const real =
    run.reading('R30') === 'to-origin' ? run.read('client_real_ip', [], ({ head }) => [head]) : []
  return [
    controlled,
    real,
    run.read('add_back_source_head', [], (item) => item.map((entry) => entry.head_name)),
  ]
}

/** What happens to the headers that no operation names: nothing, as far as the items are known. */
export function readOtherHeaders(run: Run, message: Message): Answer<'untouched'> {
  const heads = listHeads(run, message).map((names) => map(names, (known) => readPlain(known)))
  return uniteUnknown(heads) ?? 'untouched'
}
