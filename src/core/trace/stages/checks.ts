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
import { given, notGiven, parseAddress } from '../request.ts'
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
  pattern?: Text
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

function listEntries(
  pointer: string,
  list: readonly Text[],
  compile: (entry: Text, i: number) => Condition,
): CheckPart[] {
  return list.map((entry, i) => ({
    pointer: `${pointer}/${i}`,
    pattern: entry,
    matches: compile(entry, i),
  }))
}

/** The client's address (R30); null for one that is on no list. */
function readClient(run: Run): Answer<string | null> {
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
}

/** Tests an entry against the client's address. */
function matchClient(entry: Text): Condition {
  return (run) =>
    map(readPlain(entry), (text) =>
      map(readClient(run), (ip) => ip !== null && matchAddress(text, ip)),
    )
}

/** What checks of a header have in common (R20). */
function compileHeader(name: string, pointer: string, allowsEmpty: boolean): Partial<Check> {
  const isEmpty: Condition = (run) =>
    map(readAccessHeader(run, name), (text) =>
      text === null ? run.reading('R20') === 'alike' : text === '',
    )
  return { isEmpty, fields: allowsEmpty ? [] : [{ pointer, matches: isEmpty }] }
}

/** Tests something against a header; an absent one matches nothing. */
function matchHeader(
  run: Run,
  name: string,
  test: (text: string) => Answer<boolean>,
): Answer<boolean> {
  return map(readAccessHeader(run, name), (text) => text !== null && test(text))
}

function matchReferer(entry: Text): Condition {
  return (run) =>
    matchHeader(run, 'referer', (text) => {
      const host = findRefererHost(run, text)
      return host !== null && map(readPlain(entry), (wanted) => matchHost(wanted, host))
    })
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
    entries: splitText(item.ua_list, '\n').map((pattern) => {
      const regex = new Regex(pattern, 'user_agent/ua_list')
      return { pointer: '/ua_list', pattern, matches: (run) => matchAgent(run, item, regex) }
    }),
  }
}

/** Tests a line of the list: the whole text, a part of it, or by R26 an expression. */
function matchAgent(run: Run, item: UserAgent, regex: Regex): Answer<boolean> {
  const { always, pattern } = regex
  const isRegex = item.ua_match_type === 'pattern' && run.reading('R26') === 'regex'
  // An absent header that is not an empty one matches no expression.
  if (always instanceof Unknown) return always
  if (always === true && isRegex && run.reading('R20') === 'alike') return always
  return matchHeader(run, 'user-agent', (text) => {
    const folds = agentIgnoresCase(run, item.ua_case_insensitive)
    if (isRegex) return matchRegex(run, regex, text, folds, 'search')
    const [wanted, sent] = [fold(pattern, folds), fold(text, folds)]
    return item.ua_match_type === 'exact' ? sent === wanted : sent.includes(wanted)
  })
}

type Ban = CombinedBan[number]['configs']

/** Whether a condition of a ban ignores case (R24). */
function banIgnoresCase(run: Run, value: 'yes' | 'no' = 'yes'): boolean {
  return (value === 'no') === (run.reading('R24') === 'labels')
}

/** Tests the texts of a ban against a header (R20). */
function matchTexts(name: string, list: readonly Text[], folds: (run: Run) => boolean): Condition {
  return (run) =>
    map(readAccessHeader(run, name), (text) =>
      text === null && run.reading('R20') === 'distinct'
        ? false
        : some(list, (entry) =>
            map(readPlain(entry), (wanted) => matchText(run, wanted, text ?? '', folds(run))),
          ),
    )
}

function compileBan({ method, url, ip, referer, ua }: Ban, i: number): Condition {
  const key = <T extends { is_match?: 'yes' | 'no' }>(
    part: T | undefined,
    compile: (part: T) => Condition,
  ): Condition[] => {
    if (part === undefined) return []
    const holds = compile(part)
    return [part.is_match === 'no' ? (run) => not(holds(run)) : holds]
  }
  const conditions = [
    ...key(
      method,
      ({ method_type: wanted }) =>
        ({ facts }) =>
          map(given(facts.method, 'method'), (is) => is === wanted.toUpperCase()),
    ),
    ...key(url, ({ list, case_insensitive: folds }) => {
      const regexes = list.map(
        (entry, n) => new Regex(entry, `combined_ban/${i}/configs/url/list/${n}`),
      )
      return (run) =>
        some(regexes, (regex) =>
          matchUrlRegex(run, regex, seeUrl(run), banIgnoresCase(run, folds), 'R5', true, 'search'),
        )
    }),
    ...key(ip, ({ list }) => {
      const addresses = list.map(matchClient)
      return (run) => some(addresses, (matches) => matches(run))
    }),
    ...key(referer, ({ list }) => matchTexts('referer', list, () => true)),
    ...key(ua, ({ list, case_insensitive: folds }) =>
      matchTexts('user-agent', list, (run) => banIgnoresCase(run, folds)),
    ),
  ]
  return (run) => {
    const parts = conditions.map((holds) => () => holds(run))
    return parts.length > 1 && run.reading('R23') === 'any' ? any(...parts) : all(...parts)
  }
}

/** Tests an entry that is the URL, or an expression that matches it (R27). */
function compileDenied(entry: Text, i: number): Condition {
  const regex = new Regex(entry, `deny_url/urls/${i}`)
  return (run) =>
    any(
      () => matchUrlRegex(run, regex, seeUrl(run), 'R6', 'W'),
      () =>
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
  const { bodySize, method } = run.facts
  const most = limit * (run.reading('R29') === '1000' ? 1e6 : 1_048_576)
  return all(
    map(given(bodySize, 'bodySize'), (bytes) => bytes > most),
    () => run.reading('R28') === 'any' || map(given(method, 'method'), (is) => is === 'POST'),
  )
}

type CheckKey = (typeof checkKeys)[number]

const compilers: { [Key in CheckKey]: (item: ItemValues[Key]) => Partial<Check> } = {
  deny_protocol: ({ protocol }) => ({
    fields: [{ pointer: '/protocol', matches: ({ facts }) => facts.url.scheme === protocol }],
  }),
  ip_black_list: ({ list }) => ({ entries: listEntries('/list', list, matchClient) }),
  ip_white_list: ({ list }) => ({
    entries: listEntries('/list', list, matchClient),
    isWhite: true,
  }),
  visit_areas_limit: ({ country_list: list, limit_type: type }) => ({
    entries: splitText(list, ',').map((pattern) => ({
      pointer: '/country_list',
      pattern,
      matches: ({ facts }) =>
        map(readPlain(pattern), (name) =>
          map(given(facts.country, 'country'), (country) => country === name),
        ),
    })),
    isWhite: type === 'white',
  }),
  referer: ({ type, list, allow_empty: allows }) => ({
    ...compileHeader('referer', '/allow_empty', allows !== false),
    entries: listEntries('/list', list, matchReferer),
    isWhite: type === 2,
  }),
  user_agent: compileAgent,
  visit_timestamp: (item) => ({
    fields: listFaults(item).map(([pointer, matches]) => ({ pointer, matches })),
    applies: (run) => isProtected(run, item),
  }),
  combined_ban: (bans) => ({
    entries: bans.map(({ configs }, i) => ({
      pointer: `/${i}`,
      matches: compileBan(configs, i),
    })),
  }),
  deny_url: ({ urls }) => ({ entries: listEntries('/urls', urls, compileDenied) }),
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
