import type { CombinedBan, ItemValues, UserAgent } from '../../catalog/generated/items.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { getOrAdd } from '../../model/lists.ts'
import type { Text } from '../../model/secret.ts'
import { all, any, map, not, some, Unknown, type Answer } from '../answer.ts'
import type { checkKeys } from '../check-keys.ts'
import { matchAddress } from '../match/address.ts'
import { fold, ignoresCase } from '../match/case.ts'
import { findRefererHost, matchHost } from '../match/host.ts'
import { matchRegex, Regex } from '../match/regex.ts'
import { matchText } from '../match/text.ts'
import { chooseForm, compilePattern, matchUrl, matchUrlRegex } from '../match/url.ts'
import { given, hasMethod, notGiven, parseAddress } from '../request.ts'
import type { Run } from '../run.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { formatAuthority } from '../url.ts'
import { readAccessHeader } from './headers.ts'
import { seeUrl } from './seen.ts'
import { isProtected, listFaults } from './signature.ts'

type Condition = (run: Run) => Answer<boolean>

/** A part of a check that matches by itself: an entry of its list, or a field. */
export interface CheckPart {
  pointer: string
  pattern?: unknown
  matches: Condition
}

/**
 * A check of access with the value of its item. It denies if it applies, and a field matches, or
 * the header it looks at is not empty, and an entry of a black list matches, or none of a white
 * one.
 */
export interface Check {
  fields: CheckPart[]
  /** They are shown also where another one decides. */
  entries: CheckPart[]
  isWhite: boolean
  applies: Condition
  isEmpty: Condition
}

const common: Check = {
  fields: [],
  entries: [],
  isWhite: false,
  applies: () => true,
  isEmpty: () => false,
}

/** @param pointer if it ends in a slash, the index of the entry follows */
function listEntries<T>(
  pointer: string,
  list: readonly T[],
  compile: (entry: T, i: number) => Condition,
): CheckPart[] {
  return list.map((pattern, i) => ({
    pointer: pointer.endsWith('/') ? `${pointer}${i}` : pointer,
    pattern,
    matches: compile(pattern, i),
  }))
}

/** Tests an entry against something of the request; null matches none. */
function matchEntry<T>(
  read: (run: Run) => Answer<T | null>,
  test: (wanted: string, value: T, run: Run) => boolean,
): (entry: Text) => Condition {
  return (entry) => (run) =>
    map(read(run), (value) =>
      value === null ? false : map(readPlain(entry), (wanted) => test(wanted, value, run)),
    )
}

/** Tests whether one of a list matches. */
function matchSome(
  list: readonly Text[] = [],
  compile: (entry: Text, i: number) => Condition,
): Condition {
  const conditions = list.map(compile)
  return (run) => some(conditions, (holds) => holds(run))
}

/** Tests an entry against the client's address (R30). */
const matchClient = matchEntry((run) => {
  const sent = given(run.facts.ip, 'ip')
  if (run.reading('R30') === 'to-origin') return sent
  return run.read('client_real_ip', sent, ({ head }) =>
    map(readPlain(head), (name) =>
      map(
        readAccessHeader(run, name.toLowerCase()),
        (text) => parseAddress(text ?? '') ?? notGiven('ip'),
      ),
    ),
  )
}, matchAddress)

const matchCountry = matchEntry(
  ({ facts }) => given(facts.country, 'country'),
  (wanted, country) => country === wanted,
)

const matchReferer = matchEntry(
  (run) =>
    map(readAccessHeader(run, 'referer'), (text) =>
      text === null ? null : findRefererHost(run, text),
    ),
  matchHost,
)

/** What checks of a header have in common (R20). */
function compileHeader(name: string, pointer: string, allowsEmpty: boolean): Partial<Check> {
  const isEmpty: Condition = (run) =>
    map(readAccessHeader(run, name), (text) =>
      text === null ? run.reading('R20') === 'alike' : text === '',
    )
  return { isEmpty, fields: allowsEmpty ? [] : [{ pointer, matches: isEmpty }] }
}

/** Whether a field of the user agent ignores case (R25). */
function agentIgnoresCase(run: Run, value: 'yes' | 'no'): boolean {
  return (value === 'yes') === (run.reading('R25') === 'name')
}

function compileAgent(item: UserAgent): Partial<Check> {
  const url = compilePattern(item.url_match_type, item.url_pattern, 'user_agent/url_pattern')
  return {
    ...compileHeader('user-agent', '/allow_empty_ua', item.allow_empty_ua !== 'no'),
    isWhite: item.ua_type === 'white',
    applies: (run) =>
      matchUrl(run, url, seeUrl(run), agentIgnoresCase(run, item.url_case_insensitive)),
    entries: listEntries('/ua_list', splitText(item.ua_list, '\n'), (line) => {
      const regex = new Regex(line, 'user_agent/ua_list')
      return (run) => matchAgent(run, item, regex)
    }),
  }
}

/** Tests a line of the list: the whole text, a part of it, or by R26 an expression. */
function matchAgent(run: Run, item: UserAgent, regex: Regex): Answer<boolean> {
  const { always, pattern } = regex
  if (always instanceof Unknown) return always
  const isRegex = item.ua_match_type === 'pattern' && run.reading('R26') === 'regex'
  // An absent header that is not an empty one matches no expression.
  if (isRegex && always === true && run.reading('R20') === 'alike') return true
  return map(readAccessHeader(run, 'user-agent'), (text) => {
    if (text === null) return false
    const folds = agentIgnoresCase(run, item.ua_case_insensitive)
    if (isRegex) return matchRegex(run, regex, text, folds, 'search')
    const [wanted, sent] = [fold(pattern, folds), fold(text, folds)]
    return item.ua_match_type === 'exact' ? sent === wanted : sent.includes(wanted)
  })
}

/** Whether a condition of a ban ignores case (R24). */
function banIgnoresCase(run: Run, value: 'yes' | 'no' = 'yes'): boolean {
  return (value === 'no') === (run.reading('R24') === 'labels')
}

/** Tests a text of a ban against a header (R20). */
function matchBanned(name: string, folds: (run: Run) => boolean): (entry: Text) => Condition {
  return matchEntry(
    (run) =>
      map(readAccessHeader(run, name), (text) =>
        text === null && run.reading('R20') === 'alike' ? '' : text,
      ),
    (wanted, text, run) => matchText(run, wanted, text, folds(run)),
  )
}

/** Tests whether all conditions of a ban hold (R23). */
function compileBan({ configs }: CombinedBan[number], at: number): Condition {
  const { method, ip, referer, ua, url } = configs
  const matchRegexes = (entry: Text, i: number): Condition => {
    const regex = new Regex(entry, `combined_ban/${at}/configs/url/list/${i}`)
    return (run) => {
      const folds = banIgnoresCase(run, url?.case_insensitive)
      return matchUrlRegex(run, regex, seeUrl(run), folds, 'R5', true, 'search')
    }
  }
  const matchAgents = matchBanned('user-agent', (run) => banIgnoresCase(run, ua?.case_insensitive))
  const parts: [part: { is_match?: 'yes' | 'no' } | undefined, matches: Condition][] = [
    [method, ({ facts }) => hasMethod(facts, method?.method_type.toUpperCase())],
    [ip, matchSome(ip?.list, matchClient)],
    [
      referer,
      matchSome(
        referer?.list,
        matchBanned('referer', () => true),
      ),
    ],
    [ua, matchSome(ua?.list, matchAgents)],
    [url, matchSome(url?.list, matchRegexes)],
  ]
  return (run) => {
    const conditions = parts.flatMap(([part, matches]) => {
      if (part === undefined) return []
      return () => (part.is_match === 'no' ? not(matches(run)) : matches(run))
    })
    const isAny = conditions.length > 1 && run.reading('R23') === 'any'
    return isAny ? any(...conditions) : all(...conditions)
  }
}

/** Tests an entry that is the URL, or an expression that matches it (R27). */
function compileDenied(entry: Text, i: number): Condition {
  const regex = new Regex(entry, `deny_url/urls/${i}`)
  return (run) =>
    any(matchUrlRegex(run, regex, seeUrl(run), 'R6', 'W'), () =>
      map(seeUrl(run), ({ url, forms }) => {
        const { full } = chooseForm(run, forms)
        if (regex.always !== null || full === null) return false
        const folds = ignoresCase(run, 'R6')
        const isSame = fold(regex.pattern, folds) === fold(formatAuthority(url) + full, folds)
        return isSame && run.reading('R27') === 'either'
      }),
    )
}

/** Tests whether an upload is larger than a limit in MB (R28, R29). */
function isTooLarge(run: Run, limit: number): Answer<boolean> {
  const { facts } = run
  const most = limit * (run.reading('R29') === '1000' ? 1e6 : 1_048_576)
  return all(
    map(given(facts.bodySize, 'bodySize'), (bytes) => bytes > most),
    () => run.reading('R28') === 'any' || hasMethod(facts, 'POST'),
  )
}

type CheckKey = (typeof checkKeys)[number]

const compilers: { [Key in CheckKey]: (item: ItemValues[Key]) => Partial<Check> } = {
  deny_protocol: ({ protocol }) => ({
    fields: [{ pointer: '/protocol', matches: ({ facts }) => facts.url.scheme === protocol }],
  }),
  ip_black_list: ({ list }) => ({ entries: listEntries('/list/', list, matchClient) }),
  ip_white_list: ({ list }) => ({
    entries: listEntries('/list/', list, matchClient),
    isWhite: true,
  }),
  visit_areas_limit: ({ country_list: list, limit_type: type }) => ({
    entries: listEntries('/country_list', splitText(list, ','), matchCountry),
    isWhite: type === 'white',
  }),
  referer: ({ type, list, allow_empty: allows }) => ({
    ...compileHeader('referer', '/allow_empty', allows !== false),
    entries: listEntries('/list/', list, matchReferer),
    isWhite: type === 2,
  }),
  user_agent: compileAgent,
  visit_timestamp: (item) => ({
    fields: listFaults(item),
    applies: (run) => isProtected(run, item),
  }),
  combined_ban: (bans) => ({ entries: listEntries('/', bans, compileBan) }),
  deny_url: ({ urls }) => ({ entries: listEntries('/urls/', urls, compileDenied) }),
  post_upload_size_limit: ({ limit_value: limit }) => ({
    fields: [{ pointer: '/limit_value', matches: (run) => isTooLarge(run, limit) }],
  }),
}

const compiled = new WeakMap<object, Check>()

/** Compiles the check of an item, once for each value; null for one that is not set. */
export function compileCheck(item: ItemKey, value: Value): Check | null {
  if (typeof value !== 'object' || value === null) return null
  const compile = compilers[item as CheckKey] as (value: Value) => Partial<Check>
  return getOrAdd(compiled, value, () => ({ ...common, ...compile(value) }))
}
