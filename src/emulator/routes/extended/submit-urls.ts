import type { Json, JsonObject } from '../../../core/model/json.ts'
import { parseUrl } from '../../../core/model/text/url.ts'
import { refreshTypes, type RefreshType } from '../../entities/prefetch.ts'
import type { Store } from '../../store/store.ts'
import { openBody } from '../authenticate.ts'
import type { Incoming } from '../route.ts'
import { parseWord } from '../parse-query.ts'
import { Refusal } from '../refusal.ts'
import type { ExtendedContext } from './context.ts'

const limits = { urls: 500, characters: 2048, records: 100_000 }
const unlimited = 1_000_000
const dayMs = 86_400_000

/** Submits URLs to prefetch. Throws a Refusal if they exceed those left of the day. */
export function submitPrefetch(incoming: Incoming, context: ExtendedContext): Promise<Json> {
  return submit(incoming, context, () => undefined)
}

/** Submits URLs, or directories with type `dir`, whose cached contents are to be refreshed. */
export function submitRefresh(incoming: Incoming, context: ExtendedContext): Promise<Json> {
  return submit(incoming, context, (given) => parseWord(given, 'type', refreshTypes))
}

/** Counts the URLs that may still be prefetched on the local day of `now`. */
export function countRemainingUrls({
  store,
  rules,
  limits: { prefetchesPerDay },
}: ExtendedContext) {
  if (prefetchesPerDay === null) return unlimited
  const now = rules.now()
  const midnight = Math.floor(rules.zone.toLocal(now) / dayMs) * dayMs
  const start = rules.zone.toUtc(midnight)
  const today = store
    .listPrefetches(now)
    .filter(({ type, createdAt }) => type === undefined && createdAt >= start)
  return Math.max(0, prefetchesPerDay - today.length)
}

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
  const options = { max: limits.records, ...(type === undefined ? {} : { type }) }
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
