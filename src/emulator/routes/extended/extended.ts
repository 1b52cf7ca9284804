import { answerPrefetches } from '../answer-prefetches.ts'
import type { Incoming, Route } from '../route.ts'
import { readCertificates, removeCertificate, saveCertificate } from './certificates.ts'
import { type ExtendedContext, CallLimits } from './context.ts'
import { createDomain, listDomains, readDomains, removeDomains } from './domains.ts'
import { readConfig, parseItemList } from './read-config.ts'
import { countRemainingUrls, submitPrefetch, submitRefresh } from './submit-urls.ts'
import type { Json } from '../../../core/model/json.ts'
import { applyWrite, type Judged } from '../apply-write.ts'
import { openBody } from '../authenticate.ts'
import { parseDomains, refuseUnknown } from '../parse-domains.ts'
import { Refusal } from '../refusal.ts'

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
    define('POST /v2/cache/prefetch', submitPrefetch, {
      buildHeaders: () => ({ 'X-Push-Remaining': String(countRemainingUrls(context)) }),
    }),
    define('POST /v2/cache/refresh', submitRefresh),
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
