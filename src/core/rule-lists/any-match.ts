import type { PatternForm } from '../effects/effective.ts'
import { readCase, settle } from '../effects/witness/languages.ts'
import { castAccepted } from '../catalog/item-spec.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../model/json.ts'
import { lowerAscii } from '../model/text/lower-ascii.ts'
import { splitText } from '../trace/secret-text.ts'
import { matchAddress } from '../trace/match/address.ts'
import { matchHost } from '../trace/match/host.ts'
import { createRule, type Rule } from '../trace/rule.ts'
import type { Desk } from './desk.ts'
import { createFinding, nameRule, type Finding } from './finding.ts'
import { createUndecided, findEmpty } from './first-match.ts'
import { keepEntry, listOpenReadings, type Entry, type Proof } from './pattern.ts'
import type { Items } from './ranked-rules.ts'
import { findUnder, isEverywhere, listOpen, type Under } from './worlds.ts'

/** Entries of which any one must match, and how one covers another. */
interface AnyList {
  item: Rule['item']
  /** Pointer of the list; of its entries, with `hasEntries`. */
  pointer: string
  hasEntries: boolean
  texts: Json[]
  cover(wide: string, narrow: string): Cover | null
  /** The URLs that an entry matches, for a list of such patterns. */
  entry?(text: string): Entry
}

interface Cover {
  under: Under
  proof: Proof
}

/** Finds redundant entries and those that never match, of one domain (request semantics, 7). */
export function checkAnyMatch(items: Items, desk: Desk): Finding[] {
  return [
    ...listAll(items, desk).flatMap((list) => checkList(list, desk)),
    ...checkBans(items, desk),
  ]
}

function checkList(list: AnyList, desk: Desk): Finding[] {
  const { item, pointer, hasEntries, texts } = list
  const rules = texts.map((text, i) =>
    createRule(item, hasEntries ? `${pointer}/${i}` : pointer, text),
  )
  return rules.flatMap((rule, i) => {
    const text = texts[i] ?? ''
    if (typeof text !== 'string') return [createUndecided(rule, text)]
    const entry = list.entry?.(text)
    const empty = entry === undefined ? null : findEmpty(rule, [entry], desk)
    if (empty !== null && isEverywhere(empty.under)) return [empty]
    const size = ({ under }: Cover) => Object.keys(under).length
    const covers = rules.flatMap((other, n) => {
      const wide = texts[n]
      const found = n === i || typeof wide !== 'string' ? null : list.cover(wide, text)
      if (found === null || typeof wide !== 'string') return []
      // Of two that cover each other, the later one is redundant.
      const back = n > i ? list.cover(text, wide) : null
      return back !== null && size(back) <= size(found) ? [] : [{ other, ...found }]
    })
    const [best] = covers.toSorted((a, b) => size(a) - size(b))
    if (best !== undefined && (empty === null || isEverywhere(best.under)))
      return [createRedundant(rule, best.other, best)]
    if (empty !== null) return [empty]
    return entry?.isDecidable === false ? [createUndecided(rule, text)] : []
  })
}

function createRedundant(rule: Rule, other: Rule, { under, proof }: Cover): Finding {
  const detail = `${nameRule(rule)} is covered by ${nameRule(other)}`
  return createFinding('entry-redundant', rule, detail, { other: [other], under, proof })
}

function listAll(items: Items, desk: Desk): AnyList[] {
  const find = (key: Rule['item']): JsonObject => {
    const value = items.get(key)
    return isObject(value) ? value : {}
  }
  const agent = find('user_agent')
  const agentCase = `R25:${String(agent['ua_case_insensitive'])}`
  const lines = splitText(castAccepted(agent['ua_list'] ?? ''), '\n')
  const list = (
    item: Rule['item'],
    pointer: string,
    texts: Json | undefined,
    cover: AnyList['cover'],
  ): AnyList => ({ item, pointer, hasEntries: true, texts: toTexts(texts), cover })
  const exempt = items.get('visit_deny_whitelist')
  const urls = Array.isArray(exempt)
    ? exempt.map((each) => (isObject(each) ? (each['url'] ?? '') : ''))
    : []
  return [
    list('ip_black_list', '/list', find('ip_black_list')['list'], coverAddress),
    list('ip_white_list', '/list', find('ip_white_list')['list'], coverAddress),
    list('referer', '/list', find('referer')['list'], coverHost),
    {
      ...list('user_agent', '/ua_list', lines, (wide, narrow) =>
        coverAgent(wide, narrow, agent['ua_match_type'] === 'exact', agentCase, desk),
      ),
      hasEntries: false,
    },
    list('visit_deny_whitelist', '', urls, (wide, narrow) => coverExempt(wide, narrow, desk)),
    listPatterns('deny_url', '/urls', find('deny_url')['urls'], desk, {
      kind: 'regex',
      folds: 'R6',
      sees: 'W',
      extent: 'R27',
    }),
    ...listBans(items).flatMap(({ configs, pointer }) => {
      const folds = (name: string) =>
        `R24:${String(part(configs, name)['case_insensitive'] ?? 'yes')}`
      const at = (name: string) => `${pointer}/${name}/list`
      return [
        list('combined_ban', at('ip'), part(configs, 'ip')['list'], coverAddress),
        list('combined_ban', at('referer'), part(configs, 'referer')['list'], (wide, narrow) =>
          coverText(wide, narrow, true, desk),
        ),
        list('combined_ban', at('ua'), part(configs, 'ua')['list'], (wide, narrow) =>
          coverText(wide, narrow, folds('ua'), desk),
        ),
        listPatterns('combined_ban', at('url'), part(configs, 'url')['list'], desk, {
          kind: 'regex',
          folds: folds('url'),
          sees: 'R5',
          extent: 'search',
        }),
      ]
    }),
    ...listCommaLists(items, desk),
  ]
}

/** A list of patterns for URLs. */
function listPatterns(
  item: Rule['item'],
  pointer: string,
  texts: Json | undefined,
  desk: Desk,
  form: Omit<PatternForm, 'text'>,
): AnyList {
  const entry = (text: string) => keepEntry({ ...form, text })
  const cover = (wide: string, narrow: string) => coverPattern(entry(wide), entry(narrow), desk)
  return { item, pointer, hasEntries: true, texts: toTexts(texts), cover, entry }
}

const kinds = { 1: 'ext', 2: 'dir', 3: 'route' } as const

/** The comma lists inside rules. */
function listCommaLists(items: Items, desk: Desk): AnyList[] {
  return (['cache_rule', 'cache_rule_list', 'speed_limit'] as const).flatMap((item) => {
    const value = items.get(item)
    return (Array.isArray(value) ? value : []).flatMap((rule, i) => {
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
      return [{ ...listPatterns(item, `/${i}/pattern`, texts, desk, form), hasEntries: false }]
    })
  })
}

function toTexts(list: Json | undefined): Json[] {
  return Array.isArray(list) ? list : []
}

/** The bans of a domain with the pointers of their keys. */
export function listBans(items: Items): { configs: JsonObject; pointer: string; rule: Rule }[] {
  const bans = items.get('combined_ban')
  return (Array.isArray(bans) ? bans : []).flatMap((ban, i) => {
    const configs = isObject(ban) && isObject(ban['configs']) ? ban['configs'] : {}
    const rule = createRule('combined_ban', `/${i}`)
    return [{ configs, pointer: `/${i}/configs`, rule }]
  })
}

function part(configs: JsonObject, name: string): JsonObject {
  const found = configs[name]
  return isObject(found) ? found : {}
}

const everywhere = (proof: Proof): Cover => ({ under: {}, proof })

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

/** Covers among lines of user agents: equal, or a contained text (R25, R26). */
function coverAgent(
  wide: string,
  narrow: string,
  isExact: boolean,
  folds: string,
  desk: Desk,
): Cover | null {
  const isPlain = /^[\w /-]*$/.test(wide) && /^[\w /-]*$/.test(narrow)
  const under = findUnder(
    desk.settings,
    listOpen(desk.settings, [25, ...(isExact || isPlain ? [] : [26])]),
    (world) => {
      const [a, b] = foldBoth(wide, narrow, readCase(folds, world))
      if (isExact || a === b) return a === b
      return (isPlain || settle(world, 26) === 'text') && b.includes(a)
    },
  )
  return under && { under, proof: wide === narrow ? 'text' : 'substring' }
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
  const under = findUnder(
    desk.settings,
    listOpen(desk.settings, [...(folds === true ? [] : [24]), ...(isBound ? [22] : [])]),
    (world) => {
      const isLiteral = isBound && settle(world, 22) === 'literal'
      const [a, b] = foldBoth(wide, narrow, readCase(folds, world)).map((text) =>
        bind(text, isLiteral),
      )
      if (a === undefined || b === undefined) return false
      if (a.starts && a.ends) return b.starts && b.ends && a.text === b.text
      if (a.starts) return b.starts && b.text.startsWith(a.text)
      if (a.ends) return b.ends && b.text.endsWith(a.text)
      return b.text.includes(a.text)
    },
  )
  return under && { under, proof: 'substring' }
}

function bind(text: string, isLiteral: boolean): { text: string; starts: boolean; ends: boolean } {
  const [starts, ends] = [text.startsWith('^'), text.endsWith('$')]
  if (text.length > 1 && starts && ends) return { text: text.slice(1, -1), starts, ends }
  if (isLiteral) return { text, starts: false, ends: false }
  return { text: text.slice(Number(starts), ends ? -1 : undefined), starts, ends }
}

/** Covers among exempt URLs: a path has each query of it, by R19. */
function coverExempt(wide: string, narrow: string, desk: Desk): Cover | null {
  const under = findUnder(desk.settings, listOpen(desk.settings, [6, 19]), (world) => {
    const [a, b] = foldBoth(wide, narrow, settle(world, 6) === 'insensitive')
    return a === b || (settle(world, 19) === 'path' && b.startsWith(`${a}?`) && !a.includes('?'))
  })
  return under && { under, proof: 'text' }
}

function coverPattern(wide: Entry, narrow: Entry, desk: Desk): Cover | null {
  const isOutside = desk
    .listSamples([narrow])
    .some((seen) => desk.answer([narrow], seen) === true && desk.answer([wide], seen) === false)
  if (isOutside) return null
  let proof: Proof = 'text'
  const under = findUnder(
    desk.settings,
    listOpenReadings(desk.settings, [wide, narrow]),
    (world, space) => {
      const found = desk.cover([wide], [narrow], world, space)
      if (found !== undefined && found !== false) proof = found
      return found === undefined ? undefined : found !== false
    },
    'all',
  )
  return under && { under, proof }
}

/** Finds bans that another one covers: each of its keys is there, and covered there (R23). */
function checkBans(items: Items, desk: Desk): Finding[] {
  const bans = listBans(items)
  return bans.flatMap(({ configs, rule }, i) => {
    const other = bans.find(
      (each, n) =>
        n !== i &&
        coversBan(each.configs, configs, desk) &&
        (n < i || !coversBan(configs, each.configs, desk)),
    )
    if (other === undefined) return []
    const under = findUnder(
      desk.settings,
      listOpen(desk.settings, [23]),
      (world) => settle(world, 23) === 'all' || Object.keys(configs).length === 1,
    )
    return under === null ? [] : [createRedundant(rule, other.rule, { under, proof: 'keys' })]
  })
}

function coversBan(wide: JsonObject, narrow: JsonObject, desk: Desk): boolean {
  return Object.keys(wide).every((name) => {
    if (!Object.hasOwn(narrow, name)) return false
    const [a, b] = [part(wide, name), part(narrow, name)]
    const [isMatch, other] = [a, b].map((each) => each['is_match'] !== 'no')
    if (isMatch !== other) return false
    if (name === 'method') return (a['method_type'] ?? 'get') === (b['method_type'] ?? 'get')
    if ((a['case_insensitive'] ?? 'yes') !== (b['case_insensitive'] ?? 'yes')) return false
    const [big, small] = isMatch === true ? [a, b] : [b, a]
    const folds = `R24:${String(a['case_insensitive'] ?? 'yes')}`
    const form = { kind: 'regex', folds, sees: 'R5', extent: 'search' } as const
    const covers = (x: Json, y: Json): Cover | null => {
      if (typeof x !== 'string' || typeof y !== 'string')
        return isSameJson(x, y) ? everywhere('text') : null
      if (name === 'ip') return coverAddress(x, y)
      if (name === 'url')
        return coverPattern(keepEntry({ ...form, text: x }), keepEntry({ ...form, text: y }), desk)
      return coverText(x, y, name === 'referer' ? true : folds, desk)
    }
    return toTexts(small['list']).every((text) =>
      toTexts(big['list']).some((each) => {
        const found = covers(each, text)
        return found !== null && isEverywhere(found.under)
      }),
    )
  })
}
