import { catalogue } from '../../catalog/catalogue.ts'
import type { ItemKey } from '../../model/item.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { groupBy } from '../../model/lists.ts'
import { compareStrength, type Delta, type EffectClass } from '../compare.ts'
import type { Sides } from '../sides.ts'
import { buildPlainRequest, listFacts, nameFacts } from './facts.ts'
import { listDoubts, read } from './matching.ts'
import type { Proof } from './proof.ts'
import { proveEqual } from './prove.ts'
import { Search } from './search.ts'
import { listPatternUrls, listSampleUrls, listSimpleUrls, varyUrl } from './urls.ts'

/**
 * A request that two configurations treat differently, or why there is none. Only deltas `differs`
 * count; a request has all facts, `"*": null` in its headers among them.
 */
export type Witness =
  | { kind: 'request'; request: JsonObject; class: EffectClass; deltas: Delta[] }
  | { kind: 'equal'; proof: Proof }
  /** `reasons`: open readings, patterns and unknown items in the way, sorted. */
  | { kind: 'not-found'; tried: number; reasons: string[] }

/** Items that no visitor notices, and those of which at most the content changes. */
const ceilings: Record<ItemKey, EffectClass | undefined> = Object.fromEntries([
  ...[
    'timeout',
    'connect_timeout',
    'range_back_source',
    'vendor_origin_auth',
    'forward_status',
  ].map((key) => [key, 'internal']),
  ...[
    'cache_rule',
    'cache_rule_list',
    'cache_share',
    'cache_error_code',
    'error_bcache',
    'origin',
    'origin_host',
    'new_origin',
    'tos_origin',
    'source_url_rewrite',
    'add_back_source_head',
  ].map((key) => [key, 'content']),
])

/** Greatest number of URLs whose form is changed at first. */
const maxOpened = 12
/** Greatest numbers of URLs that are tried alone, with one fact more, and with two. */
const [maxUrls, maxUrlsWithOne, maxUrlsWithTwo] = [250, 14, 5]

/**
 * Finds a request of the strongest class that tells the two sides apart, or proves that there is
 * none, where the items that differ have one known candidate or are absent. Without chance, and in
 * a bounded number of steps.
 */
export function findWitness(sides: Sides): Witness {
  const uncertain = sides.changed.flatMap((key) =>
    [sides.before, sides.after].flatMap((side) => listDoubts(side, key)),
  )
  if (uncertain.length > 0)
    return { kind: 'not-found', tried: 0, reasons: [...new Set(uncertain)].toSorted() }
  const classes = sides.changed.map((key) => ceilings[key] ?? 'visible')
  const [ceiling = 'visible'] = classes.toSorted((a, b) =>
    compareStrength({ class: a, verdict: 'differs' }, { class: b, verdict: 'differs' }),
  )
  const facts = addJoinedReferers(collectFacts(sides, [...catalogue.keys()]))
  const createSearch = () =>
    new Search(sides, ceiling, facts, (url) => varyUrl(url, sides, sides.changed))
  const simple = trySimply(sides, createSearch())
  if (simple !== null) return { kind: 'request', ...simple }
  const proven = proveEqual(sides)
  if ('proof' in proven) return { kind: 'equal', proof: proven.proof }
  const search = createSearch()
  const reasons = tryAll(sides, search, proven.urls)
  const { best, tried } = search
  if (best !== null) return { kind: 'request', ...best }
  const never = search.obstacles.map((item) => `never served ${item}`)
  const found = [...reasons, ...proven.reasons, ...search.reasons, ...never]
  return { kind: 'not-found', tried, reasons: [...new Set(found)].toSorted() }
}

/** Most URLs, and most facts, that are tried before anything is proven. */
const [maxSimpleUrls, maxSimpleFacts] = [100, 50]

/** Tries a URL of each pattern of the changed items, and each fact that they speak of. */
function trySimply(sides: Sides, search: Search): Search['best'] {
  if (sides.changed.length === 0) return null
  const wildcard = sides.domain.startsWith('.') ? 'a' : ''
  const start = search.open(buildPlainRequest(`https://${wildcard}${sides.domain}/`, false))
  if (search.try(start)) return search.best
  for (const part of collectFacts(sides, sides.changed).slice(0, maxSimpleFacts))
    if (search.try(start, part)) return search.best
  let urls = 0
  for (const url of listSimpleUrls(sides, sides.changed)) {
    if (search.try(start, { url })) return search.best
    if (++urls >= maxSimpleUrls) break
  }
  return null
}

/** Lists the facts that items of both sides speak of, as parts of a request. */
function collectFacts(sides: Sides, keys: readonly ItemKey[]): JsonObject[] {
  const parts = keys.flatMap((key) =>
    [sides.before, sides.after].flatMap((side) => listFacts(key, read(side, key))),
  )
  const distinct = [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()]
  return [...groupBy(distinct, nameFacts).values()].flat()
}

/** Most hosts, and most texts, that are put together into one Referer. */
const maxJoined = 6

/** Adds a Referer of an allowed host that also has a text that a ban asks for. */
function addJoinedReferers(facts: JsonObject[]): JsonObject[] {
  const values = facts.flatMap(({ headers }) => (isObject(headers) ? headers['referer'] : []))
  const referers = values.filter((each) => typeof each === 'string')
  const hosts = referers.filter((text) => /^https:\/\/[^/]+\/$/.test(text)).slice(0, maxJoined)
  const texts = referers.filter((text) => !text.includes('/')).slice(0, maxJoined)
  const joined = hosts.flatMap((host) => texts.map((text) => host + text))
  return [...facts, ...joined.map((referer) => ({ headers: { referer } }))]
}

/**
 * Tries requests, at first with the URLs that the changed items tell apart, then with those that
 * access tells apart too. Returns why patterns were left out.
 */
function tryAll(sides: Sides, search: Search, first: readonly string[]): string[] {
  const { changed } = sides
  const own = listPatternUrls(sides, changed)
  const samples = listSampleUrls(sides, changed)
  if (tryUrls(sides, search, [...first, ...own.urls, ...samples])) return []
  const all = listPatternUrls(sides, [...new Set([...changed, ...listAccessItems()])])
  const exempt = listSampleUrls(sides, ['visit_deny_whitelist'])
  return tryUrls(sides, search, [...exempt, ...all.urls]) ? [] : own.reasons
}

/** Tries URLs alone, with one fact that the changed items speak of, and with two. */
function tryUrls(sides: Sides, search: Search, plain: readonly string[]): boolean {
  const { changed } = sides
  const isExempting = changed.includes('visit_deny_whitelist')
  const facts = collectFacts(sides, isExempting ? listAccessItems() : changed)
  const all = isExempting ? [...facts, foreign] : facts
  const isSigned = [sides.before, sides.after].some(
    (side) => read(side, 'visit_timestamp') !== null,
  )
  const [start = ''] = plain
  const base = search.open(buildPlainRequest(start, isSigned))
  const opened = base['url'] === start ? [] : plain.slice(0, maxOpened)
  const urls = [
    ...opened.map((url) => String(search.openUrl({ ...base, url })['url'])),
    ...spread(plain.map((url) => varyUrl(url, sides, changed))),
  ]
  const named = all.map((part) => ({ name: nameFacts(part), part }))
  for (const url of urls.slice(0, maxUrls)) if (search.try(base, { url })) return true
  for (const url of urls.slice(0, maxUrlsWithOne))
    for (const part of all) if (search.try(base, { url }, part)) return true
  for (const url of urls.slice(0, maxUrlsWithTwo))
    for (const [i, one] of named.entries())
      for (const two of named.slice(i + 1))
        if (one.name !== two.name && search.try(base, { url }, one.part, two.part)) return true
  return false
}

const foreign: JsonObject = { headers: { referer: 'https://other.example/' } }

function listAccessItems(): ItemKey[] {
  return [...catalogue].flatMap(([key, { stages }]) => (stages.includes('access') ? [key] : []))
}

/** Puts the first of each list before all second ones, and so on; without repetitions. */
function spread(lists: readonly string[][]): string[] {
  const longest = lists.reduce((most, list) => Math.max(most, list.length), 0)
  const found = Array.from({ length: longest }, (_, i) => lists.map((list) => list[i])).flat()
  return [...new Set(found.filter((each) => each !== undefined))]
}
