import type { AddResponseHead, HeadControl, ItemValues } from '../../catalog/generated/items.ts'
import { groupBy } from '../../model/lists.ts'
import type { Text } from '../../model/secret.ts'
import { any, choose, isSet, map, mapBoth, uniteUnknown, Unknown, type Answer } from '../answer.ts'
import { matchUrlRegex } from '../match/url.ts'
import { Regex } from '../match/regex.ts'
import { remember } from '../remember.ts'
import { notGiven, readHeader } from '../request.ts'
import type { Run } from '../run.ts'
import { readPlain } from '../secret-text.ts'
import { seeUrl } from './seen.ts'

/** The values of a header; null if it is absent. */
type HeaderValue = Answer<readonly string[] | null>

/** A message whose headers items change. */
export type Message = 'request' | 'response'

/** What an item does with a header. */
interface Operation {
  /** In lower case; unknown for an item that is not known, and for a secret: it may be any. */
  name: Answer<string>
  /** Null deletes the header. */
  value: HeaderValue
  /** What becomes of a header that is there; `set`: the value, as of one that is not. */
  way: 'set' | 'replace' | 'keep' | 'R62' | 'R65'
  /** The URLs for which it acts; null for all. */
  regex: Regex | null
}

function operate(
  head: Text,
  value: HeaderValue,
  way: Operation['way'],
  regex: Regex | null = null,
): Operation {
  return { name: map(readPlain(head), (known) => known.toLowerCase()), value, way, regex }
}

/** DEL: absent. ALT: the value; if absent, R63. ADD: the value if absent; otherwise R62. */
const ways = { DEL: 'set', ALT: 'replace', ADD: 'R62' } as const

const compileControl = remember(({ list }: HeadControl) =>
  list.map(({ head_direction: direction, head_op: op, head, value = '', order, regex }, i) => ({
    direction,
    order,
    ...operate(
      head,
      op === 'DEL' ? null : readPlain([value]),
      ways[op],
      new Regex(regex, `head_control/list/${i}/regex`),
    ),
  })),
)

const compileAdded = remember(({ list }: AddResponseHead) => {
  const entries = list.flatMap((each) => (typeof each === 'object' && 'name' in each ? each : []))
  const named = groupBy(entries, ({ name }) =>
    typeof name === 'string' ? name.toLowerCase() : name,
  )
  return [...named].map(([name, same]) =>
    operate(name, readPlain(same.map(({ value }) => value)), 'R65'),
  )
})

/** The operations of an item; one that is not known may do anything to each header. */
function readItem<Key extends keyof ItemValues>(
  run: Run,
  item: Key,
  compile: (value: ItemValues[Key]) => Operation[],
): Operation[] {
  const found = run.read(item, [], compile)
  return found instanceof Unknown ? [{ name: found, value: null, way: 'set', regex: null }] : found
}

/** The directions of `head_control`: of the server that gets a message, and of the next one. */
const directions = { request: ['CLI_REQ', 'SER_REQ'], response: ['SER_REP', 'CLI_REP'] } as const

/** The rules of `head_control` for one direction, as they act (R61, R14). */
function control(run: Run, message: Message, at: 0 | 1): Operation[] {
  return readItem(run, 'head_control', (item) => {
    const wanted = directions[message][at]
    const rules = compileControl(item).filter(({ direction }) => direction === wanted)
    if (rules.length < 2) return rules
    const sign = run.reading('R61') === 'ascending' ? 1 : -1
    const equal = run.reading('R14') === 'first' ? rules : rules.toReversed()
    return equal.toSorted((a, b) => sign * (a.order - b.order))
  })
}

function setRealIp(run: Run): Operation[] {
  if (run.reading('R30') === 'from-client') return []
  const { ip } = run.facts
  const value = typeof ip === 'string' ? [ip] : notGiven('ip')
  return readItem(run, 'client_real_ip', ({ head }) => [operate(head, value, 'set')])
}

function addToRequest(run: Run): Operation[] {
  return readItem(run, 'add_back_source_head', (entries) => {
    const added = entries.map(({ head_name: head, head_value: value, write_when_exists: way }) =>
      operate(head, readPlain([value]), way === 'no' ? 'keep' : 'set'),
    )
    return added.length > 1 && run.reading('R14') === 'first' ? added.toReversed() : added
  })
}

/** All operations on headers of a message, as they act (R64). */
function listOperations(run: Run, message: Message): Operation[] {
  return run.keep(`${message} operations`, () => {
    const [first, last] = [control(run, message, 0), control(run, message, 1)]
    const [realIp, added] =
      message === 'request'
        ? [setRealIp(run), addToRequest(run)]
        : [[], readItem(run, 'add_response_head', compileAdded)]
    const order = run.reading('R64')
    if (order === 'head-control-first') return [...first, ...last, ...realIp, ...added]
    if (order === 'real-ip-last') return [...first, ...added, ...last, ...realIp]
    return [...first, ...realIp, ...added, ...last]
  })
}

/** Tests whether an operation acts for the URL. */
function isActive(run: Run, { regex }: Operation): Answer<boolean> {
  return regex === null || run.keep(regex, () => matchUrlRegex(run, regex, seeUrl(run), 'R6'))
}

/** A header while operations change it. */
interface Header {
  values: HeaderValue
  /** Whether an operation has written them. */
  isWritten: Answer<boolean>
}

function write(values: HeaderValue): Header {
  return { values, isWritten: values !== null }
}

function chooseHeader(condition: Answer<boolean>, yes: Header, no: Header): Header {
  return {
    values: choose(condition, yes.values, no.values),
    isWritten: choose(condition, yes.isWritten, no.isWritten),
  }
}

/** What an operation that acts makes of a header, which is its own or may be. */
function change(run: Run, before: Header, { name, value, way }: Operation): Header {
  const { values, isWritten } = before
  if (name instanceof Unknown)
    return { values: uniteUnknown([name, values]), isWritten: any(isWritten, name) }
  if (way === 'set') return write(value)
  const kept = way === 'R62' || way === 'R65' ? run.reading(way) : way
  const both = () => mapBoth(values, value, (old, added) => [...(old ?? []), ...(added ?? [])])
  return chooseHeader(
    isSet(values),
    kept === 'keep' ? before : write(kept === 'append' ? both() : value),
    way === 'replace' && run.reading('R63') === 'nothing' ? before : write(value),
  )
}

/** Applies operations to a header of the client or the origin. */
function changeAll(run: Run, name: string, fact: HeaderFact, operations: Operation[]): Header {
  const start = map(fact, (text) => (text === null ? null : [text]))
  return operations
    .filter((each) => each.name === name || each.name instanceof Unknown)
    .reduce<Header>(
      (before, each) => chooseHeader(isActive(run, each), change(run, before, each), before),
      { values: start, isWritten: false },
    )
}

type HeaderFact = Answer<string | null>

function readFact({ facts }: Run, message: Message, name: string): HeaderFact {
  return message === 'request'
    ? readHeader(facts.headers, name)
    : readHeader(facts.origin.headers, name, 'origin.')
}

/** A header of the client as checks of access see it (R66); null without one. */
export const readAccessHeader = readEarly('request', 'R66', 'before-access')

/** A header of the origin as caching sees it (R67); null without one. */
export const readCacheHeader = readEarly('response', 'R67', 'before-cache')

function readEarly(message: Message, reading: 'R66' | 'R67', changed: string) {
  return (run: Run, name: string): HeaderFact =>
    run.keep(`early ${message} ${name}`, () => {
      const fact = readFact(run, message, name)
      if (run.item('head_control') === null || run.reading(reading) !== changed) return fact
      const { values } = changeAll(run, name, fact, control(run, message, 0))
      return map(values, (known) => known?.join(', ') ?? null)
    })
}

function readLate(run: Run, message: Message, name: string): Header {
  return run.keep(`${message} ${name}`, () =>
    changeAll(run, name, readFact(run, message, name), listOperations(run, message)),
  )
}

/** A header of the request to the origin, or of the response to the client. */
export function changeHeader(run: Run, message: Message, name: string): HeaderValue {
  return readLate(run, message, name).values
}

/** A header of the request to the origin if an operation has set it; null if none has. */
export function readSetHeader(run: Run, name: string): HeaderValue {
  const { values, isWritten } = readLate(run, 'request', name)
  return choose(isWritten, values, null)
}

/** Names of the headers that operations may change, or why they are not known. */
function listNames(run: Run, message: Message): Answer<string>[] {
  return listOperations(run, message)
    .filter((each) => isActive(run, each) !== false)
    .map(({ name }) => name)
}

/** The headers for which some item may have an operation, sorted. */
export function listHeaderNames(run: Run, message: Message): string[] {
  return run.keep(`${message} names`, () => {
    const names = listNames(run, message).filter((name) => typeof name === 'string')
    return [...new Set(names)].toSorted()
  })
}

/** What happens to the headers that no operation names: nothing, as far as the items are known. */
export function readOtherHeaders(run: Run, message: Message): Answer<'untouched'> {
  return uniteUnknown(listNames(run, message)) ?? 'untouched'
}
