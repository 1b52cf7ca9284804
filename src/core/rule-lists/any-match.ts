import type { PatternForm } from '../effects/effective.ts'
import { readCase, settle } from '../effects/patterns/languages.ts'
import { castAccepted } from '../catalog/item-spec.ts'
import { parseNetwork } from '../catalog/value/formats.ts'
import { isObject, isSameJson, type Json, type JsonObject, toList } from '../model/json.ts'
import { lowerAscii } from '../model/text/lower-ascii.ts'
import { splitText } from '../trace/secret-text.ts'
import { matchAddress } from '../trace/match/address.ts'
import { matchHost } from '../trace/match/host.ts'
import { parseAddress } from '../trace/request.ts'
import { createRule, type Rule } from '../trace/rule.ts'
import type { Cover, Desk } from './desk.ts'
import { createFinding, nameRule, type Finding } from './finding.ts'
import { createUndecided, findEmpty } from './first-match.ts'
import { findCore, keepEntry, type Entry, type Proof } from '../effects/patterns/pattern.ts'
import type { Items } from '../effects/patterns/ranked-rules.ts'
import { TextIndex } from './text-index.ts'
import { findRests, isEverywhere, type Rests } from './rests.ts'

/** How one of some entries covers another. */
interface Matcher {
  cover(wide: string, narrow: string): Cover | null
  /** Texts of which one lies within a text of each entry that it covers. */
  core(wide: string): string[]
  /** Texts within which each entry that covers it has one, null if not known; else as `core`. */
  within?(narrow: string): (string | null)[]
  /** The URLs that an entry matches, for a list of such patterns. */
  entry?(text: string): Entry
}

/** Entries of which any one must match, with their places. */
interface AnyList extends Matcher {
  texts: Json[]
  rules: Rule[]
}

/** Finds redundant entries and those that never match, of one domain (request semantics, 7). */
export function checkAnyMatch(items: Items, desk: Desk): Finding[] {
  return listAnyMatch(items, desk).flatMap((each) => checkList(each, desk))
}

function checkList(entries: AnyList, desk: Desk): Finding[] {
  const { rules, texts, core, within = core } = entries
  const index = new TextIndex(texts.map((text) => (typeof text === 'string' ? core(text) : [])))
  return rules.flatMap((rule, i) => {
    const text = texts[i] ?? ''
    if (typeof text !== 'string') return [createUndecided(rule, text)]
    if (desk.isSpent) return []
    desk.spend(1 + text.length / 32)
    const entry = entries.entry?.(text)
    const empty = entry === undefined ? null : findEmpty(rule, [entry], desk)
    if (empty !== null) return [empty]
    const best = findBest(entries, i, index.find(within(text)), desk)
    if (best !== null) {
      const { by, ...cover } = best
      const other = [rules[by] ?? rule]
      const detail = `${nameRule(rule)} is covered by ${other.map(nameRule).join()}`
      return [createFinding('entry-redundant', rule, detail, { other, ...cover })]
    }
    return entry?.isDecidable === false ? [createUndecided(rule, text)] : []
  })
}

/** Finds the entry that covers another one and rests on least, the first of equal ones. */
function findBest(
  { texts, cover }: AnyList,
  own: number,
  near: number[],
  desk: Desk,
): (Cover & { by: number }) | null {
  const size = (of: Cover | null) => (of === null ? Infinity : Object.keys(of.rests).length)
  const text = texts[own]
  let best: (Cover & { by: number }) | null = null
  desk.spend(near.length / 8)
  for (const by of near) {
    const wide = texts[by]
    if (by === own || typeof wide !== 'string' || typeof text !== 'string') continue
    desk.spend(1)
    if (desk.isSpent) return null
    const found = cover(wide, text)
    if (found === null || size(found) >= size(best)) continue
    // Of two that cover each other, the one that rests on less is redundant, or the later one.
    const more = size(cover(text, wide)) - size(found)
    if (more > 0 || (more === 0 && by < own)) best = { ...found, by }
    if (size(best) === 0) return best
  }
  return best
}

/** Lists the lists of a domain of which any entry must match. */
export function listAnyMatch(items: Items, desk: Desk): AnyList[] {
  const find = (key: Rule['item']): JsonObject => {
    const value = items.get(key)
    return isObject(value) ? value : {}
  }
  const agent = find('user_agent')
  const agentCase = `R25:${String(agent['ua_case_insensitive'])}`
  const lines = splitText(castAccepted(agent['ua_list'] ?? ''), '\n')
  const exempt = items.get('visit_deny_whitelist')
  const urls = (Array.isArray(exempt) ? exempt : []).map((each) =>
    isObject(each) ? (each['url'] ?? '') : '',
  )
  const agents = matchTexts((wide, narrow) =>
    coverAgent(wide, narrow, agent['ua_match_type'] === 'exact', agentCase, desk),
  )
  const denied = matchPatterns(desk, { kind: 'regex', folds: 'R6', sees: 'W', extent: 'R27' })
  const bans = listBans(items)
  return [
    listEntries('ip_black_list', '/list', find('ip_black_list')['list'], addresses),
    listEntries('ip_white_list', '/list', find('ip_white_list')['list'], addresses),
    listEntries('referer', '/list', find('referer')['list'], hosts),
    listEntries('user_agent', '/ua_list', lines, agents, false),
    listEntries(
      'visit_deny_whitelist',
      '',
      urls,
      matchTexts((wide, narrow) => coverExempt(wide, narrow, desk)),
    ),
    listEntries('deny_url', '/urls', find('deny_url')['urls'], denied),
    ...bans.flatMap(({ configs, pointer }) =>
      banLists.flatMap((name) => {
        if (!Object.hasOwn(configs, name)) return []
        const config = part(configs, name)
        const at = `${pointer}/${name}/list`
        return listEntries('combined_ban', at, config['list'], matchBan(name, config, desk))
      }),
    ),
    ...listCommaLists(items, desk),
    {
      ...matchBans((text) => bans[Number(text)]?.configs ?? {}, desk),
      texts: bans.map((_, i) => String(i)),
      rules: bans.map(({ rule }) => rule),
    },
  ]
}

function listEntries(
  item: Rule['item'],
  pointer: string,
  of: Json | undefined,
  matcher: Matcher,
  hasEntries = true,
): AnyList {
  const texts = toList(of)
  const at = (i: number) => (hasEntries ? `${pointer}/${i}` : pointer)
  return { ...matcher, texts, rules: texts.map((text, i) => createRule(item, at(i), text)) }
}

/** Creates a matcher of texts that cover others only if these contain them. */
function matchTexts(cover: Matcher['cover']): Matcher {
  return { cover, core: (text) => [text.replace(/^\^|\$$/g, '')] }
}

/** Creates a matcher of patterns for URLs. */
function matchPatterns(desk: Desk, form: Omit<PatternForm, 'text'>): Matcher {
  const entry = (text: string) => keepEntry({ ...form, text })
  return {
    entry,
    cover: (wide, narrow) => desk.findCover([entry(wide)], [entry(narrow)]),
    core: (wide) => [findCore(entry(wide))],
    within: (narrow) => desk.listEvidence(entry(narrow)),
  }
}

/** Keys of a ban that have a list. */
const banLists = ['ip', 'referer', 'ua', 'url']

function matchBan(name: string, config: JsonObject, desk: Desk): Matcher {
  const folds = `R24:${String(config['case_insensitive'] ?? 'yes')}`
  if (name === 'ip') return addresses
  if (name === 'url')
    return matchPatterns(desk, { kind: 'regex', folds, sees: 'R5', extent: 'search' })
  return matchTexts((wide, narrow) =>
    coverText(wide, narrow, name === 'referer' ? true : folds, desk),
  )
}

const kinds = { 1: 'ext', 2: 'dir', 3: 'route' } as const

/** The comma lists inside rules. */
function listCommaLists(items: Items, desk: Desk): AnyList[] {
  return (['cache_rule', 'cache_rule_list', 'speed_limit'] as const).flatMap((item) => {
    const value = items.get(item)
    return toList(value).flatMap((rule, i) => {
      const {
        type,
        match_method: method = type,
        pattern,
        case_ignore: ignores,
      } = isObject(rule) ? rule : {}
      const kind = kinds[Number(method) as 1] ?? method
      const texts = typeof pattern === 'string' ? splitText(pattern, ',') : []
      if ((kind !== 'ext' && kind !== 'dir' && kind !== 'route') || texts.length < 2) return []
      const folds = item === 'cache_rule_list' ? ignores !== 'no' : 'R6'
      const form = { kind, folds, sees: 'W', extent: 'R4' } as const
      return [listEntries(item, `/${i}/pattern`, texts, matchPatterns(desk, form), false)]
    })
  })
}

/** The bans of a domain with the pointers of their keys. */
export function listBans(items: Items): { configs: JsonObject; pointer: string; rule: Rule }[] {
  const bans = items.get('combined_ban')
  return toList(bans).flatMap((ban, i) => {
    const configs = isObject(ban) && isObject(ban['configs']) ? ban['configs'] : {}
    const rule = createRule('combined_ban', `/${i}`)
    return [{ configs, pointer: `/${i}/configs`, rule }]
  })
}

function part(configs: JsonObject, name: string): JsonObject {
  const found = configs[name]
  return isObject(found) ? found : {}
}

const everywhere = (proof: Proof): Cover => ({ rests: {}, proof })

/** A network covers what lies in it; parsed as the trace does. */
export function coverAddress(wide: string, narrow: string): Cover | null {
  const [address = '', prefix] = narrow.split('/')
  const [, own] = wide.split('/')
  const isWider = prefix === undefined ? true : own !== undefined && Number(own) <= Number(prefix)
  return isWider && matchAddress(wide, address) ? everywhere('cidr') : null
}

function coverHost(wide: string, narrow: string): Cover | null {
  const isWild = narrow.startsWith('*.')
  if (isWild && !wide.startsWith('*.')) return null
  return matchHost(wide, isWild ? narrow.slice(2) : narrow) ? everywhere('suffix') : null
}

const addresses: Matcher = {
  cover: coverAddress,
  core: (text) => {
    const prefix = parseNetwork(text)?.prefix
    if (prefix === undefined) return [`^${parseAddress(text) ?? text}$`]
    return [`^${text.split('.', prefix / 8).join('.')}.`]
  },
}

const hosts: Matcher = { cover: coverHost, core: (text) => [`.${text.replace(/^\*\./, '')}$`] }

/** Covers among lines of user agents: equal, or a contained text (R25, R26). */
function coverAgent(
  wide: string,
  narrow: string,
  isExact: boolean,
  folds: string,
  desk: Desk,
): Cover | null {
  const isPlain = /^[\w /-]*$/.test(wide) && /^[\w /-]*$/.test(narrow)
  const rests = findRests(desk.settings, [25, ...(isExact || isPlain ? [] : [26])], (settings) => {
    const [a, b] = foldBoth(wide, narrow, readCase(folds, settings))
    if (isExact || a === b) return a === b
    return (isPlain || settle(settings, 26) === 'text') && b.includes(a)
  })
  return rests && { rests, proof: wide === narrow ? 'text' : 'substring' }
}

function foldBoth(a: string, b: string, folds: boolean): [string, string] {
  return folds ? [lowerAscii(a), lowerAscii(b)] : [a, b]
}

/** Covers among texts of a ban, with `^` and `$` (R22, R24). */
function coverText(
  wide: string,
  narrow: string,
  folds: boolean | string,
  desk: Desk,
): Cover | null {
  const isBound = [wide, narrow].some((text) => text.startsWith('^') !== text.endsWith('$'))
  const rests = findRests(
    desk.settings,
    [...(folds === true ? [] : [24]), ...(isBound ? [22] : [])],
    (settings) => {
      const isLiteral = isBound && settle(settings, 22) === 'literal'
      const [a, b] = foldBoth(wide, narrow, readCase(folds, settings)).map((text) =>
        bind(text, isLiteral),
      )
      if (a === undefined || b === undefined) return false
      if (a.starts && a.ends) return b.starts && b.ends && a.text === b.text
      if (a.starts) return b.starts && b.text.startsWith(a.text)
      if (a.ends) return b.ends && b.text.endsWith(a.text)
      return b.text.includes(a.text)
    },
  )
  return rests && { rests, proof: 'substring' }
}

function bind(text: string, isLiteral: boolean): { text: string; starts: boolean; ends: boolean } {
  const [starts, ends] = [text.startsWith('^'), text.endsWith('$')]
  if (text.length > 1 && starts && ends) return { text: text.slice(1, -1), starts, ends }
  if (isLiteral) return { text, starts: false, ends: false }
  return { text: text.slice(Number(starts), ends ? -1 : undefined), starts, ends }
}

/** Covers among exempt URLs: a path has each query of it, by R19. */
function coverExempt(wide: string, narrow: string, desk: Desk): Cover | null {
  const rests = findRests(desk.settings, [6, 19], (settings) => {
    const [a, b] = foldBoth(wide, narrow, settle(settings, 6) === 'insensitive')
    return a === b || (settle(settings, 19) === 'path' && b.startsWith(`${a}?`) && !a.includes('?'))
  })
  return rests && { rests, proof: 'text' }
}

/** Creates a matcher of bans: each key of one is there in those that it covers (R23). */
function matchBans(find: (text: string) => JsonObject, desk: Desk): Matcher {
  const list = (configs: JsonObject, name: string) => toList(part(configs, name)['list'])
  return {
    cover: (wide, narrow) => {
      const [a, b] = [find(wide), find(narrow)]
      const isSame = Object.keys(a).length === Object.keys(b).length
      const keys = findRests(
        desk.settings,
        [23],
        (settings) => isSame || settle(settings, 23) === 'all',
      )
      const lists = keys && coverBan(a, b, desk)
      return lists && { rests: { ...keys, ...lists }, proof: 'keys' }
    },
    core: (wide) => {
      const configs = find(wide)
      const name = banLists.find(
        (each) => Object.hasOwn(configs, each) && part(configs, each)['is_match'] !== 'no',
      )
      if (name === undefined) return ['']
      const { core } = matchBan(name, part(configs, name), desk)
      return list(configs, name).flatMap((text) => (typeof text === 'string' ? core(text) : ''))
    },
    within: (narrow) =>
      banLists.flatMap((name) => {
        const [text] = list(find(narrow), name)
        const { core, within = core } = matchBan(name, part(find(narrow), name), desk)
        return ['', ...(typeof text === 'string' ? within(text) : [])]
      }),
  }
}

/** On what it rests that each key of a ban is in another one, and covers it there. */
function coverBan(wide: JsonObject, narrow: JsonObject, desk: Desk): Rests | null {
  const rests: Rests = {}
  for (const name of Object.keys(wide)) {
    const [a, b] = [part(wide, name), part(narrow, name)]
    const isSame = Object.entries(usualFields).every(
      ([field, usual]) => (a[field] ?? usual) === (b[field] ?? usual),
    )
    if (!isSame || !Object.hasOwn(narrow, name)) return null
    const [big, small] = a['is_match'] === 'no' ? [b, a] : [a, b]
    const matcher = matchBan(name, a, desk)
    for (const text of toList(small['list'])) {
      const found = findCover(text, toList(big['list']), matcher, desk)
      if (found === null) return null
      Object.assign(rests, found)
    }
  }
  return rests
}

/** What two keys of bans must have in common, with what they are if nothing is said. */
const usualFields = { is_match: 'yes', method_type: 'get', case_insensitive: 'yes' }

/** On what it rests that a text covers another one. */
function findCover(narrow: Json, wide: Json[], { cover }: Matcher, desk: Desk): Rests | null {
  let best: Rests | null = null
  for (const each of wide) {
    desk.spend(1)
    if (desk.isSpent) return null
    const isText = typeof each === 'string' && typeof narrow === 'string'
    const found = isText ? cover(each, narrow)?.rests : isSameJson(each, narrow) ? {} : null
    if (found && isEverywhere(found)) return found
    best ??= found ?? null
  }
  return best
}
