import type { Domain } from '../../core/model/item.ts'
import { pickDefined, type JsonObject } from '../../core/model/json.ts'
import { parseAddress } from '../../core/trace/request.ts'
import { buildSettings } from '../../core/trace/settings.ts'
import { askReplies, compile } from '../../core/trace/trace.ts'
import { BadRequest } from '../../core/trace/url.ts'
import type { Store } from '../store/store.ts'
import type { EmulatorAnswer, EmulatorRequest } from './exchange.ts'

const fields = ['outcome', 'redirect.status', 'redirect.location'].map((path) => ({
  path,
  header: null,
}))

/**
 * Answers a client's request to a domain as its configuration says: 403, a redirect, 502 if its
 * origins are dead, otherwise 200. There is no content. `X-Forwarded-Proto: https` is a request by
 * https; without a certificate its connection is reset.
 */
export function answerClient(
  request: EmulatorRequest,
  domain: Domain,
  store: Store,
  timezone: string,
): EmulatorAnswer {
  const settings = buildSettings({}, timezone)
  const items = new Map([...store.getItems(domain)].map(([item, value]) => [item, [value]]))
  try {
    const replies = askReplies(
      compile(domain, items, settings),
      describe(request),
      fields,
      'unknown',
    )
    const [outcome, status, location] = replies.map((each) => ('value' in each ? each.value : null))
    const answer: EmulatorAnswer = { status: 200, headers: {}, body: { domain } }
    if (outcome === 'refused') return { ...answer, delivery: 'reset' }
    if (outcome === 'denied') return { ...answer, status: 403 }
    if (outcome === 'redirect' && typeof status === 'number')
      return { ...answer, status, headers: { Location: String(location) } }
    return store.isOriginDown(domain, request.arrivedAt) ? { ...answer, status: 502 } : answer
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    return { status: 400, headers: {}, body: { message: error.message } }
  }
}

/** Describes a request with all that is known of it. */
function describe(request: EmulatorRequest): JsonObject {
  const { method, path, query, host = '', headers, peer, arrivedAt } = request
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'
  return {
    url: `${scheme}://${host}${path}${query === '' ? '' : `?${query}`}`,
    method,
    headers: { ...headers, '*': null },
    at: Math.floor(arrivedAt / 1000),
    ...pickDefined({ ip: parseAddress(peer) ?? undefined }),
  }
}
