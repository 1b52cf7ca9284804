import type { CombinedBan, ItemValues, UserAgent } from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import type { Text } from '../../model/secret.ts'
import { all, any, map, not, some, Unknown, type Answer } from '../answer.ts'
import { checkKeys } from '../check-keys.ts'
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
import { isProtected, signatureFaults } from './signature.ts'

/** A part of a check that matches by itself: an entry of a list, or a field. */
export interface CheckPart {
  pointer: string
  pattern: Text | null
  /** Whether it is an entry of a list, which is shown also where another one decides. */
  isEntry: boolean
  matches: (run: Run) => Answer<boolean>
}

/**
 * A check of access with the value of its item. It denies if it applies, and a field matches, or
 * the header it looks at is not empty, and an entry of a black list matches, or none of a white
 * one.
 */
export interface Check {
  parts: CheckPart[]
  isWhite?: boolean
  applies?: (run: Run) => Answer<boolean>
  isEmpty?: (run: Run) => Answer<boolean>
}

function createField(pointer: string, matches: CheckPart['matches']): CheckPart {
  return { pointer, pattern: null, isEntry: false, matches }
}

function createEntry(
  pointer: string,
  pattern: Text | null,
  matches: CheckPart['matches'],
): CheckPart {
  return { pointer, pattern, isEntry: true, matches }
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
function matchClient(run: Run, entry: Text): Answer<boolean> {
  return map(readPlain(entry), (text) =>
    map(readClient(run), (ip) => ip !== null && matchAddress(text, ip)),
  )
}

function compileAddresses({ list }: { list: Text[] }, isWhite: boolean): Check {
  const parts = list.map((entry, i) =>
    createEntry(`/list/${i}`, entry, (run) => matchClient(run, entry)),
  )
  return { parts, isWhite }
}

/** Tests whether a header of the client is empty (R20). */
const isEmptyHeader =
  (name: string) =>
  (run: Run): Answer<boolean> =>
    map(readAccessHeader(run, name), (text) =>
      text === null ? run.reading('R20') === 'alike' : text === '',
    )

/** Tests something against a header; an absent one matches nothing. */
function matchHeader(
  run: Run,
  name: string,
  test: (text: string) => Answer<boolean>,
): Answer<boolean> {
  return map(readAccessHeader(run, name), (text) => (text === null ? false : test(text)))
}

function compileReferer({ type, list, allow_empty: allows }: ItemValues['referer']): Check {
  const isEmpty = isEmptyHeader('referer')
  const entries = list.map((entry, i) =>
    createEntry(`/list/${i}`, entry, (run) =>
      matchHeader(run, 'referer', (text) => {
        const host = findRefererHost(run, text)
        return host !== null && map(readPlain(entry), (wanted) => matchHost(wanted, host))
      }),
    ),
  )
  const fields = allows === false ? [createField('/allow_empty', isEmpty)] : []
  return { parts: [...fields, ...entries], isWhite: type === 2, isEmpty }
}

/** Whether a field of the user agent ignores case (R25). */
function agentIgnoresCase(run: Run, value: 'yes' | 'no'): boolean {
  return (value === 'yes') === (run.reading('R25') === 'name')
}

function compileAgent(item: UserAgent): Check {
  const url = compilePattern(item.url_match_type, item.url_pattern, 'user_agent/url_pattern')
  const isEmpty = isEmptyHeader('user-agent')
  const entries = splitText(item.ua_list, '\n').map((line) => {
    const regex = new Regex(line, 'user_agent/ua_list')
    return createEntry('/ua_list', line, (run) => matchAgent(run, item, regex))
  })
  const fields = item.allow_empty_ua === 'no' ? [createField('/allow_empty_ua', isEmpty)] : []
  return {
    parts: [...fields, ...entries],
    isWhite: item.ua_type === 'white',
    isEmpty,
    applies: (run) =>
      matchUrl(run, url, seeUrl(run), agentIgnoresCase(run, item.url_case_insensitive)),
  }
}

/** Tests a line of the list: the whole text, a part of it, or by R26 an expression. */
function matchAgent(run: Run, item: UserAgent, regex: Regex): Answer<boolean> {
  const isRegex = item.ua_match_type === 'pattern' && run.reading('R26') === 'regex'
  if (regex.always instanceof Unknown) return regex.always
  // An absent header that is not an empty one matches no expression.
  if (isRegex && regex.matchesAll && run.reading('R20') === 'alike') return true
  return matchHeader(run, 'user-agent', (text) => {
    const folds = agentIgnoresCase(run, item.ua_case_insensitive)
    if (isRegex) return matchRegex(run, regex, text, folds, 'search')
    const [wanted, sent] = [fold(regex.pattern, folds), fold(text, folds)]
    return item.ua_match_type === 'exact' ? sent === wanted : sent.includes(wanted)
  })
}

type Ban = CombinedBan[number]['configs']
type Condition = (run: Run) => Answer<boolean>

/** Whether a condition of a ban ignores case (R24). */
function banIgnoresCase(run: Run, value: 'yes' | 'no' = 'yes'): boolean {
  return (value === 'no') === (run.reading('R24') === 'labels')
}

function compileBan({ method, ip, referer, ua, url }: Ban, i: number): CheckPart {
  const by = (isMatch: 'yes' | 'no' | undefined, found: Condition): Condition =>
    isMatch === 'no' ? (run) => not(found(run)) : found
  const header =
    (name: string, list: Text[], folds: (run: Run) => boolean): Condition =>
    (run) =>
      map(readAccessHeader(run, name), (text) =>
        text === null && run.reading('R20') === 'distinct'
          ? false
          : some(list, (entry) =>
              map(readPlain(entry), (wanted) => matchText(run, wanted, text ?? '', folds(run))),
            ),
      )
  const regexes = (url?.list ?? []).map(
    (entry, n) => new Regex(entry, `combined_ban/${i}/configs/url/list/${n}`),
  )
  const conditions = [
    method &&
      by(method.is_match, ({ facts }) =>
        map(given(facts.method, 'method'), (is) => is === method.method_type.toUpperCase()),
      ),
    url &&
      by(url.is_match, (run) =>
        some(regexes, (regex) => {
          const folds = banIgnoresCase(run, url.case_insensitive)
          return matchUrlRegex(run, regex, seeUrl(run), folds, 'R5', true, 'search')
        }),
      ),
    ip && by(ip.is_match, (run) => some(ip.list, (entry) => matchClient(run, entry))),
    referer &&
      by(
        referer.is_match,
        header('referer', referer.list, () => true),
      ),
    ua &&
      by(
        ua.is_match,
        header('user-agent', ua.list, (run) => banIgnoresCase(run, ua.case_insensitive)),
      ),
  ].filter((condition) => condition !== undefined)
  return createEntry(`/${i}`, null, (run) => {
    const parts = conditions.map((condition) => () => condition(run))
    return parts.length > 1 && run.reading('R23') === 'any' ? any(...parts) : all(...parts)
  })
}

function compileDenied(entry: Text, i: number): CheckPart {
  const regex = new Regex(entry, `deny_url/urls/${i}`)
  return createEntry(`/urls/${i}`, entry, (run) =>
    any(
      () => matchUrlRegex(run, regex, seeUrl(run), 'R6', 'W'),
      () => isSameUrl(run, regex),
    ),
  )
}

/** Tests whether an entry is the URL (R27). */
function isSameUrl(run: Run, { pattern, always }: Regex): Answer<boolean> {
  return map(seeUrl(run), ({ url, forms }) => {
    const { full } = chooseForm(run, forms)
    if (always !== null || full === null) return false
    const folds = ignoresCase(run, 'R6')
    const isSame = fold(pattern, folds) === fold(formatAuthority(url) + full, folds)
    return isSame && run.reading('R27') === 'either'
  })
}

/** Tests whether an upload is larger than a limit in MB (R28, R29). */
function isTooLarge(run: Run, limit: number): Answer<boolean> {
  const { bodySize, method } = run.facts
  return all(
    () =>
      map(
        given(bodySize, 'bodySize'),
        (bytes) => bytes > limit * (run.reading('R29') === '1000' ? 1e6 : 1_048_576),
      ),
    () => run.reading('R28') === 'any' || map(given(method, 'method'), (is) => is === 'POST'),
  )
}

type CheckKey = (typeof checkKeys)[number]

const compilers: { [Key in CheckKey]: (item: ItemValues[Key]) => Check } = {
  deny_protocol: ({ protocol }) => ({
    parts: [createField('/protocol', ({ facts }) => facts.url.scheme === protocol)],
  }),
  ip_black_list: (item) => compileAddresses(item, false),
  ip_white_list: (item) => compileAddresses(item, true),
  visit_areas_limit: ({ country_list: list, limit_type: type }) => ({
    parts: splitText(list, ',').map((name) =>
      createEntry('/country_list', name, ({ facts }) =>
        map(readPlain(name), (text) =>
          map(given(facts.country, 'country'), (country) => country === text),
        ),
      ),
    ),
    isWhite: type === 'white',
  }),
  referer: compileReferer,
  user_agent: compileAgent,
  visit_timestamp: (item) => ({
    parts: signatureFaults.map(([pointer, holds]) =>
      createField(pointer, (run) => holds(run, item)),
    ),
    applies: (run) => isProtected(run, item),
  }),
  combined_ban: (bans) => ({ parts: bans.map(({ configs }, i) => compileBan(configs, i)) }),
  deny_url: ({ urls }) => ({ parts: urls.map(compileDenied) }),
  post_upload_size_limit: ({ limit_value: limit }) => ({
    parts: [createField('/limit_value', (run) => isTooLarge(run, limit))],
  }),
}

const compiled = new WeakMap<object, Check>()

/** Compiles the check of an item, once for each value. */
export function compileCheck(item: ItemKey, value: Value & object): Check {
  const known = compiled.get(value)
  if (known !== undefined) return known
  const check = (compilers[item as CheckKey] as (value: Value) => Check)(castAccepted(value))
  compiled.set(value, check)
  return check
}
