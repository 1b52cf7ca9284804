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
export type HeaderValue = Answer<readonly string[] | null>

/** A message whose headers items change. */
export type Message = 'request' | 'response'

/** What an item does with a header. */
interface Operation {
  item: string
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
  item: string,
  head: Answer<Text>,
  value: HeaderValue,
  way: Operation['way'],
  regex: Regex | null = null,
): Operation {
  const name = map(head, (text) => map(readPlain(text), (known) => known.toLowerCase()))
  return { item, name, value, way, regex }
}

function readOne(text: Text): HeaderValue {
  return map(readPlain(text), (known) => [known])
}

/** DEL: absent. ALT: the value; if absent, R63. ADD: the value if absent; otherwise R62. */
const ways = { DEL: 'set', ALT: 'replace', ADD: 'R62' } as const

const compileControl = remember(({ list }: HeadControl) =>
  list.map(({ head_direction: direction, head_op: op, head, value = '', order, regex }, i) => ({
    direction,
    order,
    ...operate(
      'head_control',
      head,
      op === 'DEL' ? null : readOne(value),
      ways[op],
      new Regex(regex, `head_control/list/${i}/regex`),
    ),
  })),
)

const compileAdded = remember(({ list }: AddResponseHead) => {
  const entries = list.flatMap((entry) =>
    typeof entry === 'object' && 'name' in entry ? [entry] : [],
  )
  const named = groupBy(entries, ({ name }) =>
    typeof name === 'string' ? name.toLowerCase() : name,
  )
  return [...named].map(([name, same]) =>
    operate('add_response_head', name, readPlain(same.map(({ value }) => value)), 'R65'),
  )
})

/** The operations of an item; one that is not known may do anything to each header. */
function readItem<Key extends keyof ItemValues>(
  run: Run,
  item: Key,
  compile: (value: ItemValues[Key]) => Operation[],
): Operation[] {
  const found = run.read(item, [], compile)
  return found instanceof Unknown ? [operate(item, found, null, 'set')] : found
}

/** The rules of `head_control` for one direction, as they act (R61, R14). */
function control(run: Run, wanted: HeadControl['list'][number]['head_direction']): Operation[] {
  return readItem(run, 'head_control', (item) => {
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
  return readItem(run, 'client_real_ip', ({ head }) => [
    operate('client_real_ip', head, value, 'set'),
  ])
}

function addToRequest(run: Run): Operation[] {
  return readItem(run, 'add_back_source_head', (entries) => {
    const added = entries.map(({ head_name: head, head_value: value, write_when_exists: way }) =>
      operate('add_back_source_head', head, readOne(value), way === 'no' ? 'keep' : 'set'),
    )
    return added.length > 1 && run.reading('R14') === 'first' ? added.toReversed() : added
  })
}

/** All operations on headers of a message, as they act (R64). */
function listOperations(run: Run, message: Message): Operation[] {
  return run.keep(`${message} operations`, () => {
    const named =
      message === 'request'
        ? [control(run, 'CLI_REQ'), setRealIp(run), addToRequest(run), control(run, 'SER_REQ')]
        : [
            control(run, 'SER_REP'),
            readItem(run, 'add_response_head', compileAdded),
            control(run, 'CLI_REP'),
          ]
    const order = run.reading('R64')
    const isLater = ({ item }: Operation) =>
      order === 'head-control-first'
        ? item !== 'head_control'
        : order === 'real-ip-last' && item === 'client_real_ip'
    const all = named.flat()
    return [...all.filter((each) => !isLater(each)), ...all.filter(isLater)]
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

function chooseHeader(condition: Answer<boolean>, yes: () => Header, no: () => Header): Header {
  if (!(condition instanceof Unknown)) return condition ? yes() : no()
  const [a, b] = [yes(), no()]
  return {
    values: choose(condition, a.values, b.values),
    isWritten: choose(condition, a.isWritten, b.isWritten),
  }
}

/** What an operation that acts makes of a header, which is its own or may be. */
function change(run: Run, before: Header, { name, value, way }: Operation): Header {
  const { values, isWritten } = before
  if (name instanceof Unknown)
    return { values: uniteUnknown([name, values]), isWritten: any(isWritten, name) }
  if (way === 'set') return write(value)
  return chooseHeader(
    isSet(values),
    () => {
      const kept = way === 'R62' || way === 'R65' ? run.reading(way) : way
      if (kept === 'keep') return before
      if (kept !== 'append') return write(value)
      return write(mapBoth(values, value, (old, added) => [...(old ?? []), ...(added ?? [])]))
    },
    () => (way === 'replace' && run.reading('R63') === 'nothing' ? before : write(value)),
  )
}

/** Applies operations to a header of the client or the origin. */
function changeAll(run: Run, name: string, fact: HeaderFact, operations: Operation[]): Header {
  const start = map(fact, (text) => (text === null ? null : [text]))
  return operations
    .filter((each) => each.name === name || each.name instanceof Unknown)
    .reduce<Header>(
      (before, each) =>
        chooseHeader(
          isActive(run, each),
          () => change(run, before, each),
          () => before,
        ),
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
export function readAccessHeader(run: Run, name: string): HeaderFact {
  return readEarly(run, 'request', name)
}

/** A header of the origin as caching sees it (R67); null without one. */
export function readCacheHeader(run: Run, name: string): HeaderFact {
  return readEarly(run, 'response', name)
}

const early = {
  request: { direction: 'CLI_REQ', reading: 'R66', changed: 'before-access' },
  response: { direction: 'SER_REP', reading: 'R67', changed: 'before-cache' },
} as const

function readEarly(run: Run, message: Message, name: string): HeaderFact {
  return run.keep(`early ${message} ${name}`, () => {
    const fact = readFact(run, message, name)
    const { direction, reading, changed } = early[message]
    if (run.item('head_control') === null || run.reading(reading) !== changed) return fact
    const { values } = changeAll(run, name, fact, control(run, direction))
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
