import type {
  ClientRealIp,
  CombinedBan,
  DenyProtocol,
  DenyUrl,
  IpBlackList,
  PostUploadSizeLimit,
  Referer,
  UserAgent,
  VisitAreasLimit,
} from '../../catalog/generated/items.ts'
import { castAccepted } from '../../catalog/item-spec.ts'
import type { ItemKey, Value } from '../../model/item.ts'
import { all, any, map, not, some, Unknown, type Answer } from '../answer.ts'
import type { Evaluation, Questions } from '../evaluation.ts'
import { checkKeys } from '../check-keys.ts'
import { matchAddress } from '../match/address.ts'
import { findRefererHost, matchHost } from '../match/host.ts'
import { byCase, fold } from '../match/case.ts'
import { matchRegex, Regex } from '../match/regex.ts'
import { matchText } from '../match/text.ts'
import { chooseForm, compilePattern, matchUrl, matchUrlRegex, type Subject } from '../match/url.ts'
import { remember } from '../remember.ts'
import { notGiven, parseAddress } from '../request.ts'
import type { Text } from '../../model/secret.ts'
import { readPlain, splitText } from '../secret-text.ts'
import { formatAuthority, isPrintable } from '../url.ts'
import { askAccessHeader } from './headers.ts'
import { askSeen } from './seen.ts'
import { deniesSignature, findSignatureFaults, isProtected } from './signature.ts'

/** A part of a check that matches by itself: an entry of a list, or a field. */
export interface CheckPart {
  pointer: string
  pattern: Text | null
  /** Whether it is an entry of a list, which is shown also where another one decides. */
  isEntry: boolean
  matches: (e: Evaluation, q: Questions) => Answer<boolean>
}

/** A check of access: when it denies, and its parts. */
export interface Check {
  /** Whether the check denies a request, with the value of its item. */
  denies(e: Evaluation, q: Questions, value: Value): Answer<boolean>
  /** Lists its parts. Those of a white list let requests pass. */
  listParts(value: Value): CheckPart[]
  isWhite?(value: Value): boolean
  /** Whether `visit_deny_whitelist` exempts from it whatever R18 says. */
  isAntiLeech?: boolean
}

/** Lists the parts of a value once; those of a text each time. */
function rememberParts(list: (value: Value) => CheckPart[]): (value: Value) => CheckPart[] {
  const listOnce = remember((value: Value & object) => list(value))
  return (value) => (typeof value === 'object' && value !== null ? listOnce(value) : list(value))
}

/** The client's address (R30). */
function readClient(e: Evaluation, q: Questions): Answer<string> {
  const given = e.facts.ip ?? notGiven('ip')
  const item = e.item('client_real_ip')
  if (item === null || e.reading('R30') === 'to-origin') return given
  return map(item, (value) => {
    const { head } = castAccepted<ClientRealIp>(value)
    return map(readPlain(head), (name) =>
      map(
        e.ask(askAccessHeader(q, name.toLowerCase())),
        (text) => parseAddress(text ?? '') ?? new Unknown(['not-specified R30']),
      ),
    )
  })
}

function matchClient(e: Evaluation, q: Questions, entry: Text): Answer<boolean> {
  return map(readPlain(entry), (text) =>
    map(readClient(e, q), (address) => matchAddress(text, address)),
  )
}

const listAddresses = rememberParts((value) => {
  return castAccepted<IpBlackList>(value).list.map((entry, i) => ({
    pointer: `/list/${i}`,
    pattern: entry,
    isEntry: true,
    matches: (e, q) => matchClient(e, q, entry),
  }))
})

/** Tests whether some part matches. */
function matchesSome(e: Evaluation, q: Questions, parts: CheckPart[]): Answer<boolean> {
  return some(parts, (part) => part.matches(e, q))
}

const ipList = (isWhite: boolean): Check => ({
  denies: (e, q, value) => {
    const found = matchesSome(e, q, listAddresses(value))
    return isWhite ? not(found) : found
  },
  listParts: listAddresses,
  isWhite: () => isWhite,
})

const denyProtocol: Check = {
  denies: (e, _, value) => castAccepted<DenyProtocol>(value).protocol === e.facts.url.scheme,
  listParts: (value) => {
    const { protocol } = castAccepted<DenyProtocol>(value)
    const matches = (e: Evaluation) => protocol === e.facts.url.scheme
    return [{ pointer: '/protocol', pattern: null, isEntry: false, matches }]
  },
}

const listCountries = rememberParts((value) => {
  return splitText(castAccepted<VisitAreasLimit>(value).country_list, ',').map((name) => ({
    pointer: '/country_list',
    pattern: name,
    isEntry: true,
    matches: (e) =>
      map(readPlain(name), (text) =>
        map(e.facts.country ?? notGiven('country'), (is) => is === text),
      ),
  }))
})

const isWhiteArea = (value: Value) => castAccepted<VisitAreasLimit>(value).limit_type === 'white'

const visitAreas: Check = {
  denies: (e, q, value) => {
    const found = matchesSome(e, q, listCountries(value))
    return isWhiteArea(value) ? not(found) : found
  },
  listParts: listCountries,
  isWhite: isWhiteArea,
}

/** A header that is checked: its text, and whether it is empty (R20). */
function readChecked(
  e: Evaluation,
  q: Questions,
  name: string,
): { text: Answer<string>; isEmpty: Answer<boolean> } {
  const header = e.ask(askAccessHeader(q, name))
  return {
    text: map(header, (text) => text ?? ''),
    isEmpty: map(header, (text) => (text === null ? e.reading('R20') === 'alike' : text === '')),
  }
}

/** Tests a part against a header; an absent one matches nothing. */
function matchHeader(
  e: Evaluation,
  q: Questions,
  name: string,
  test: (text: string) => Answer<boolean>,
): Answer<boolean> {
  return map(e.ask(askAccessHeader(q, name)), (text) =>
    text === null || text === '' ? false : test(text),
  )
}

const listReferers = rememberParts((value) => {
  return castAccepted<Referer>(value).list.map((entry, i) => ({
    pointer: `/list/${i}`,
    pattern: entry,
    isEntry: true,
    matches: (e, q) =>
      matchHeader(e, q, 'referer', (text) => {
        const host = findRefererHost(e, text)
        return host !== null && map(readPlain(entry), (wanted) => matchHost(wanted, host))
      }),
  }))
})

const isWhiteReferer = (value: Value) => castAccepted<Referer>(value).type === 2

/** Denies an empty header by a field, and another one by the list. */
function deniesHeader(
  e: Evaluation,
  q: Questions,
  name: string,
  allowsEmpty: boolean,
  parts: CheckPart[],
  isWhite: boolean,
): Answer<boolean> {
  const { isEmpty } = readChecked(e, q, name)
  return any(
    () =>
      all(
        () => !allowsEmpty,
        () => isEmpty,
      ),
    () =>
      all(
        () => not(isEmpty),
        () => {
          const found = matchesSome(e, q, parts)
          return isWhite ? not(found) : found
        },
      ),
  )
}

const referer: Check = {
  denies: (e, q, value) =>
    deniesHeader(
      e,
      q,
      'referer',
      castAccepted<Referer>(value).allow_empty !== false,
      listReferers(value),
      isWhiteReferer(value),
    ),
  listParts: (value) => {
    const isRefused = castAccepted<Referer>(value).allow_empty === false
    const matches = (e: Evaluation, q: Questions) => readChecked(e, q, 'referer').isEmpty
    const empty = { pointer: '/allow_empty', pattern: null, isEntry: false, matches }
    return isRefused ? [empty, ...listReferers(value)] : listReferers(value)
  },
  isWhite: isWhiteReferer,
  isAntiLeech: true,
}

const compileAgent = remember((value: UserAgent) => ({
  pattern: compilePattern(value.url_match_type, value.url_pattern, 'user_agent/url_pattern'),
  lines: splitText(value.ua_list, '\n').map((line) => ({
    line,
    regex: new Regex(line, 'user_agent/ua_list'),
  })),
}))

/** Whether a field of the user agent ignores case (R25). */
function ignoresCase(e: Evaluation, value: 'yes' | 'no'): boolean {
  return (value === 'yes') === (e.reading('R25') === 'name')
}

function coversUrl(e: Evaluation, q: Questions, item: UserAgent): Answer<boolean> {
  const { pattern } = compileAgent(item)
  if (pattern.kind === 'all') return true
  const rule = ignoresCase(e, item.url_case_insensitive)
  return matchUrl(e, pattern, e.ask(askSeen(q)), rule)
}

const listAgents = rememberParts((value) => {
  const item = castAccepted<UserAgent>(value)
  return compileAgent(item).lines.map(({ line, regex }) => ({
    pointer: '/ua_list',
    pattern: line,
    isEntry: true,
    matches: (e, q) =>
      matchesUnknown(e, q, item, regex) ||
      matchHeader(e, q, 'user-agent', (text) => {
        if (regex.always instanceof Unknown) return regex.always
        const isFolded = ignoresCase(e, item.ua_case_insensitive)
        const [wanted, given] = [fold(regex.pattern, isFolded), fold(text, isFolded)]
        if (item.ua_match_type === 'exact') return given === wanted
        const contained = given.includes(wanted)
        if (isPlainText(regex.pattern, text) || e.reading('R26') === 'text') return contained
        return matchRegex(e, regex, text, isFolded, 'search')
      }),
  }))
})

/** Tests whether a line that matches all texts is an expression and the header is not known. */
function matchesUnknown(e: Evaluation, q: Questions, item: UserAgent, regex: Regex): boolean {
  if (!regex.matchesAll || item.ua_match_type !== 'pattern') return false
  if (!(e.ask(askAccessHeader(q, 'user-agent')) instanceof Unknown)) return false
  return e.reading('R26') === 'regex' && e.reading('R20') === 'alike'
}

/** Tests whether a line means the same as a text and as a regular expression. */
function isPlainText(line: string, text: string): boolean {
  return /^[\w /-]*$/.test(line) && isPrintable(text)
}

const isWhiteAgent = (value: Value) => castAccepted<UserAgent>(value).ua_type === 'white'

const userAgent: Check = {
  denies: (e, q, value) => {
    const item = castAccepted<UserAgent>(value)
    return all(
      () => coversUrl(e, q, item),
      () =>
        deniesHeader(
          e,
          q,
          'user-agent',
          item.allow_empty_ua !== 'no',
          listAgents(value),
          isWhiteAgent(value),
        ),
    )
  },
  listParts: (value) => {
    const item = castAccepted<UserAgent>(value)
    const covered = (part: CheckPart): CheckPart => ({
      ...part,
      matches: (e, q) =>
        all(
          () => coversUrl(e, q, item),
          () => not(part.isEntry && readChecked(e, q, 'user-agent').isEmpty),
          () => part.matches(e, q),
        ),
    })
    const matches = (e: Evaluation, q: Questions) => readChecked(e, q, 'user-agent').isEmpty
    const empty = { pointer: '/allow_empty_ua', pattern: null, isEntry: false, matches }
    const parts = item.allow_empty_ua === 'no' ? [empty, ...listAgents(value)] : listAgents(value)
    return parts.map(covered)
  },
  isWhite: isWhiteAgent,
}

const visitTimestamp: Check = {
  denies: (e, _, value) => deniesSignature(e, value),
  listParts: (value) =>
    [0, 1, 2, 3].map((i) => ({
      pointer: ['/req_uri_type', '/deadtime', '/deadtime', '/key'][i] ?? '',
      pattern: null,
      isEntry: false,
      matches: (e) =>
        all(
          () => isProtected(e, value),
          () => findSignatureFaults(e, value)[i]?.holds ?? false,
        ),
    })),
  isAntiLeech: true,
}

type Ban = CombinedBan[number]['configs']

const compileBanUrls = remember((bans: CombinedBan) =>
  bans.map(({ configs: { url } }, i) =>
    (url?.list ?? []).map(
      (entry, n) => new Regex(entry, `combined_ban/${i}/configs/url/list/${n}`),
    ),
  ),
)

/** Whether a condition of a ban ignores case (R24). */
function banIgnoresCase(e: Evaluation, value: 'yes' | 'no' | undefined): boolean {
  return ((value ?? 'yes') === 'no') === (e.reading('R24') === 'labels')
}

function listConditions(
  e: Evaluation,
  q: Questions,
  { method, ip, referer: from, ua, url }: Ban,
  regexes: Regex[],
): (() => Answer<boolean>)[] {
  const by = (isMatch: 'yes' | 'no' | undefined, found: Answer<boolean>) =>
    isMatch === 'no' ? not(found) : found
  const header = (name: string, list: Text[], isFolded: () => boolean) =>
    map(e.ask(askAccessHeader(q, name)), (text) =>
      text === null && e.reading('R20') === 'distinct'
        ? false
        : some(list, (entry) =>
            map(readPlain(entry), (wanted) => matchText(e, wanted, text ?? '', isFolded())),
          ),
    )
  const conditions: (() => Answer<boolean>)[] = []
  if (method !== undefined)
    conditions.push(() => {
      const given = e.facts.method
      const wanted = method.method_type.toUpperCase()
      return by(method.is_match, given === undefined ? notGiven('method') : given === wanted)
    })
  if (url !== undefined)
    conditions.push(() => {
      const isFolded = banIgnoresCase(e, url.case_insensitive)
      const found = some(regexes, (regex) => matchSearch(e, q, regex, isFolded))
      return by(url.is_match, found)
    })
  if (ip !== undefined)
    conditions.push(() =>
      by(
        ip.is_match,
        some(ip.list, (entry) => matchClient(e, q, entry)),
      ),
    )
  if (from !== undefined)
    conditions.push(() =>
      by(
        from.is_match,
        header('referer', from.list, () => true),
      ),
    )
  if (ua !== undefined)
    conditions.push(() =>
      by(
        ua.is_match,
        header('user-agent', ua.list, () => banIgnoresCase(e, ua.case_insensitive)),
      ),
    )
  return conditions
}

/** Tests whether an expression matches somewhere in the URL, or in what R5 says of it. */
function matchSearch(
  e: Evaluation,
  q: Questions,
  regex: Regex,
  isFolded: boolean,
): Answer<boolean> {
  if (regex.always !== null) return regex.always
  return map(e.ask(askSeen(q)), ({ url, forms }) => {
    const { path, full } = chooseForm(e, forms)
    const seen = e.reading('R5')
    const whole = full === null ? null : formatAuthority(url) + full
    const text = seen === 'path' ? path : seen === 'path-and-query' ? full : whole
    return matchRegex(e, regex, text, isFolded, 'search')
  })
}

const listBans = rememberParts((value) => {
  const bans = castAccepted<CombinedBan>(value)
  return bans.map(({ configs }, i) => ({
    pointer: `/${i}`,
    pattern: null,
    isEntry: true,
    matches: (e, q) => {
      const conditions = listConditions(e, q, configs, compileBanUrls(bans)[i] ?? [])
      if (conditions.length < 2) return all(...conditions)
      const [every, one] = [all(...conditions), any(...conditions)]
      if (every === one) return every
      return e.reading('R23') === 'all' ? every : one
    },
  }))
})

const combinedBan: Check = {
  denies: (e, q, value) => matchesSome(e, q, listBans(value)),
  listParts: listBans,
}

const compileDenied = remember((value: DenyUrl) =>
  value.urls.map((entry, i) => ({ entry, regex: new Regex(entry, `deny_url/urls/${i}`) })),
)

const listDenied = rememberParts((value) => {
  return compileDenied(castAccepted<DenyUrl>(value)).map(({ entry, regex }, i) => ({
    pointer: `/urls/${i}`,
    pattern: entry,
    isEntry: true,
    matches: (e, q) =>
      regex.always ??
      map(e.ask(askSeen(q)), (subject) => {
        const found = matchUrlRegex(e, regex, subject, 'R6', 'W')
        if (found === true || !isSameUrl(e, regex.pattern, subject)) return found
        return e.reading('R27') === 'either' ? true : found
      }),
  }))
})

function isSameUrl(e: Evaluation, entry: string, { url, forms }: Subject): boolean {
  const { full } = chooseForm(e, forms)
  if (full === null) return false
  const whole = formatAuthority(url) + full
  return byCase(e, 'R6', (isFolded) => fold(entry, isFolded) === fold(whole, isFolded)) === true
}

const denyUrl: Check = {
  denies: (e, q, value) => matchesSome(e, q, listDenied(value)),
  listParts: listDenied,
}

const uploadSize: Check = {
  denies: (e, _, value) => {
    const { limit_value: limit } = castAccepted<PostUploadSizeLimit>(value)
    const { bodySize, method } = e.facts
    return all(
      () => (bodySize === undefined ? notGiven('bodySize') : isBeyond(e, bodySize, limit)),
      () => {
        if (method === 'POST' || e.reading('R28') === 'any') return true
        return method === undefined ? notGiven('method') : false
      },
    )
  },
  listParts: (value) => [
    {
      pointer: '/limit_value',
      pattern: null,
      isEntry: false,
      matches: (e, q) => uploadSize.denies(e, q, value),
    },
  ],
}

/** Tests whether bytes are more than a limit in MB (R29). */
function isBeyond(e: Evaluation, bytes: number, limit: number): boolean {
  const [small, large] = [bytes > limit * 1e6, bytes > limit * 1_048_576]
  if (small === large) return small
  return e.reading('R29') === '1000' ? small : large
}

const checksByKey: Record<(typeof checkKeys)[number], Check> = {
  deny_protocol: denyProtocol,
  ip_black_list: ipList(false),
  ip_white_list: ipList(true),
  visit_areas_limit: visitAreas,
  referer,
  user_agent: userAgent,
  visit_timestamp: visitTimestamp,
  combined_ban: combinedBan,
  deny_url: denyUrl,
  post_upload_size_limit: uploadSize,
}

/** The ten checks of access, in the order in which they are shown. */
export const checks: [ItemKey, Check][] = checkKeys.map((key) => [key, checksByKey[key]])
