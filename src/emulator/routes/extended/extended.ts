import { answerPrefetches } from '../answer-prefetches.ts'
import type { Incoming, Route } from '../route.ts'
import { readCertificates, removeCertificate, saveCertificate } from './certificates.ts'
import { type ExtendedContext, CallLimits } from './context.ts'
import { createDomain, listDomains, readDomains, removeDomains } from './domains.ts'
import { readConfig, parseItemList } from './read-config.ts'
import type { Json, JsonObject } from '../../../core/model/json.ts'
import { applyWrite, type Judged } from '../apply-write.ts'
import { openBody } from '../authenticate.ts'
import { parseDomains, refuseUnknown } from '../parse-domains.ts'
import { Refusal } from '../refusal.ts'
import { parseUrl } from '../../../core/model/text/url.ts'
import { refreshTypes, type RefreshType } from '../../entities/prefetch.ts'
import type { Store } from '../../store/store.ts'
import { parseWord } from '../parse-query.ts'

/** Offers of some services of this kind beyond the specification. */
export interface Extended {
  routes: [string, Route][]
  /** Counts a call of the account, or throws a Refusal if there are too many. */
  admit(now: number): void
}

/** Creates the routes beyond the specification. */
export function createExtended(
  store: ExtendedContext['store'],
  rules: ExtendedContext['rules'],
): Extended {
  const limits = new CallLimits(store.isLimited)
  const context = { store, rules, limits }
  const define = (
    name: string,
    answer: (incoming: Incoming, context: ExtendedContext) => ReturnType<Route['answer']>,
    more: Omit<Route, 'answer'> = {},
  ): [string, Route] => [name, { answer: (incoming) => answer(incoming, context), ...more }]
  const routes = [
    define('GET /v2/domain/config', readConfig, { count: (now) => limits.config.count(now) }),
    define('DELETE /v2/domain/config', unsetConfig, { count: (now) => store.getCallCount(now) }),
    define('POST /v2/domain', createDomain),
    define('GET /v2/domain', readDomains, { count: (now) => limits.domains.count(now) }),
    define('GET /v2/domain/list', listDomains),
    define('DELETE /v2/domain', removeDomains),
    define('POST /v2/domain/certificate', saveCertificate),
    define('GET /v2/domain/certificate', readCertificates),
    define('DELETE /v2/domain/certificate', removeCertificate),
    define('POST /v2/cache/prefetch', (incoming) => submit(incoming, context, () => undefined), {
      buildHeaders: () => ({ 'X-Push-Remaining': String(countRemainingUrls(context)) }),
    }),
    define('POST /v2/cache/refresh', (incoming) =>
      submit(incoming, context, (given) => parseWord(given, 'type', refreshTypes)),
    ),
    define('GET /v2/cache/prefetch', ({ request }) =>
      answerPrefetches(request, store, rules, 'text'),
    ),
    define('GET /v2/cache/refresh', ({ request }) =>
      answerPrefetches(request, store, rules, 'type'),
    ),
  ]
  return { routes, admit: (now) => limits.account.admit(now) }
}

/**
 * Unsets items of domains, of all of them or of none; an item that is not set may be named. Adds
 * its domains and items to `call`. Throws a Refusal like a write.
 */
async function unsetConfig(
  { request, call, faults }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { domains: given, config } = await openBody(request, rules)
  const judge = (): Judged => {
    const domains = parseDomains(given)
    call.domains = domains
    const items = parseItemList(config ?? null, rules.names) ?? []
    call.items = items
    if (items.length === 0)
      throw new Refusal('config-invalid', 'expected "config" to name at least one item, got none')
    refuseUnknown(domains, store)
    return {
      wireNames: new Map(items.map((item) => [item, rules.names.getName(item)])),
      domains: new Map(
        domains.map((domain) => [
          domain,
          new Map([...store.getItems(domain)].filter(([item]) => !items.includes(item))),
        ]),
      ),
    }
  }
  applyWrite(judge, store, rules.now(), faults)
  return { code: 0, data: '' }
}

const limits = { urls: 500, characters: 2048, records: 100_000 }
const unlimited = 1_000_000
const dayMs = 86_400_000

/** Counts the URLs that may still be prefetched on the local day of `now`. */
function countRemainingUrls({ store, rules, limits: { prefetchesPerDay } }: ExtendedContext) {
  if (prefetchesPerDay === null) return unlimited
  const now = rules.now()
  const midnight = Math.floor(rules.zone.toLocal(now) / dayMs) * dayMs
  const start = rules.zone.toUtc(midnight)
  const today = store
    .listPrefetches(now)
    .filter(({ type, createdAt }) => type === undefined && createdAt >= start)
  return Math.max(0, prefetchesPerDay - today.length)
}

/**
 * Submits URLs to prefetch, or with a type URLs or directories (`dir`) to refresh. Throws a Refusal
 * if those to prefetch exceed what is left of the day.
 */
async function submit(
  { request, call }: Incoming,
  context: ExtendedContext,
  parseType: (given: JsonObject) => RefreshType | undefined,
): Promise<Json> {
  const { store, rules } = context
  const given = await openBody(request, rules)
  const urls = parseUrls(given['urls'])
  const type = parseType(given)
  const accepted = urls.filter((url) => isAccepted(url, type, store))
  const domains = accepted.map((url) => store.findDomain(parseUrl(url)?.hostname ?? '') ?? '')
  call.domains = [...new Set(domains)]
  const remaining = type === undefined ? countRemainingUrls(context) : unlimited
  if (accepted.length > remaining)
    throw new Refusal('calls-exceeded', `expected at most ${remaining} more URLs today`)
  const options = { max: limits.records, type }
  const task = store.submitPrefetch(accepted, undefined, rules.now(), options)
  const err_urls = urls.filter((url) => !accepted.includes(url))
  return { code: 0, data: { task_id: String(task), count: accepted.length, err_urls } }
}

function parseUrls(urls: Json | undefined): string[] {
  if (
    Array.isArray(urls) &&
    urls.length > 0 &&
    urls.length <= limits.urls &&
    urls.every((url) => typeof url === 'string')
  )
    return [...new Set(urls)]
  throw new Refusal('urls-invalid', `expected "urls" to be a list of 1 to ${limits.urls} texts`)
}

/** Tests whether a URL is one of an existing domain; a directory ends with a slash. */
function isAccepted(url: string, type: RefreshType | undefined, store: Store): boolean {
  if (url.length > limits.characters || !/^https?:\/\//i.test(url)) return false
  const { hostname = '', pathname = '' } = parseUrl(url) ?? {}
  if (store.findDomain(hostname) === null) return false
  return type !== 'dir' || pathname.endsWith('/')
}
