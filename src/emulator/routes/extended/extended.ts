import type { Call } from '../../entities/call.ts'
import type { CallCount } from '../../entities/call-window.ts'
import type { Faults } from '../answer-with-faults.ts'
import { answerPrefetches } from '../answer-prefetches.ts'
import type { EmulatorAnswer, EmulatorRequest } from '../exchange.ts'
import { refuseLargeBody } from '../parse-parameters.ts'
import { CallLimits } from './call-limits.ts'
import { readCertificates, removeCertificate, saveCertificate } from './certificates.ts'
import type { ExtendedContext } from './context.ts'
import { createDomain, listDomains, readDomains, removeDomains } from './domains.ts'
import { readConfig } from './read-config.ts'
import { countRemainingUrls, submitPrefetch, submitRefresh } from './submit-urls.ts'
import { unsetConfig } from './unset-config.ts'

type Body = EmulatorAnswer['body']

/** One endpoint that an extended service has beside the specification. */
export interface ExtendedRoute {
  answer(request: EmulatorRequest, call: Call, faults: Faults): Promise<Body> | Body
  /** Counts the calls of the route; null for a route without a limit. */
  count(now: number): CallCount | null
  /** Builds the further headers of its answers. */
  buildHeaders(): Record<string, string>
}

/** What some services of this kind offer beyond the specification. */
export interface Extended {
  routes: ReadonlyMap<string, ExtendedRoute>
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
  const config: Partial<ExtendedRoute> = { count: (now) => limits.config.count(now) }
  const write: Partial<ExtendedRoute> = { count: (now) => store.getCallCount(now) }
  const pushed: Partial<ExtendedRoute> = {
    buildHeaders: () => ({ 'X-Push-Remaining': String(countRemainingUrls(context)) }),
  }
  const routes = new Map<string, ExtendedRoute>([
    ['GET /v2/domain/config', read((request, call) => readConfig(request, call, context), config)],
    [
      'DELETE /v2/domain/config',
      route((request, call, faults) => unsetConfig(request, call, context, faults), write),
    ],
    ['POST /v2/domain', route((request, call) => createDomain(request, call, context))],
    [
      'GET /v2/domain',
      read((request, call) => readDomains(request, call, context), {
        count: (now) => limits.domains.count(now),
      }),
    ],
    ['GET /v2/domain/list', read((request) => listDomains(request, context))],
    ['DELETE /v2/domain', route((request, call) => removeDomains(request, call, context))],
    ['POST /v2/domain/certificate', route((request) => saveCertificate(request, context))],
    ['GET /v2/domain/certificate', read((request) => readCertificates(request, context))],
    ['DELETE /v2/domain/certificate', route((request) => removeCertificate(request, context))],
    [
      'POST /v2/cache/prefetch',
      route((request, call) => submitPrefetch(request, call, context), pushed),
    ],
    ['POST /v2/cache/refresh', route((request, call) => submitRefresh(request, call, context))],
    ['GET /v2/cache/prefetch', read((request) => answerPrefetches(request, store, rules, 'text'))],
    ['GET /v2/cache/refresh', read((request) => answerPrefetches(request, store, rules, 'type'))],
  ])
  return { routes, admit: (now) => limits.account.admit(now) }
}

function route(
  answer: ExtendedRoute['answer'],
  { count = () => null, buildHeaders = () => ({}) }: Partial<ExtendedRoute> = {},
): ExtendedRoute {
  return { answer, count, buildHeaders }
}

/** Defines a query: its parameters are in the query string, a body is ignored. */
function read(
  answer: ExtendedRoute['answer'],
  options: Partial<ExtendedRoute> = {},
): ExtendedRoute {
  return route((request, call, faults) => {
    refuseLargeBody(request)
    return answer(request, call, faults)
  }, options)
}
