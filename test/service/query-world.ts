import type { Domain } from '../../src/core/model/item.ts'
import { addByTime, toPoints, type Counts, type Point } from '../../src/core/model/statistics.ts'
import { createQueryClient, type QueryClient } from '../../src/service/query/query-client.ts'
import type { DomainsQuestion, SumQuestion } from '../../src/service/query/statistics.ts'
import type { Answer, Request, Transport } from '../../src/service/transport.ts'
import type { World } from '../emulator/world.ts'
import { JsonText } from '../../src/emulator/routes/exchange.ts'
import { FakeClock } from './fake-clock.ts'

/** A token with characters that must be escaped in an address. */
export const token = 'tok/5ecret+a&b=c'

/** A hand-made answer. */
export interface CannedAnswer {
  status?: number
  body: unknown
  headers?: Record<string, string>
}

export function buildAnswer({ status = 200, body, headers = {} }: CannedAnswer): Answer {
  const lower = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    status,
    header: (name) => lower.get(name.toLowerCase()) ?? null,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }
}

/** Creates a transport to an emulator without sockets. */
export function createEmulatorTransport(service: World): Transport {
  return async ({ url }) => {
    const { pathname, search } = new URL(url)
    const { status, headers, body } = await service.request({
      method: 'GET',
      path: pathname,
      query: search.slice(1),
    })
    return buildAnswer({ status, headers, body: body instanceof JsonText ? body.text : body })
  }
}

/** Collects the points of each domain, in their order of arrival. */
export async function collectEach(queries: QueryClient, question: DomainsQuestion) {
  const collected = new Map<Domain, Point[]>()
  for await (const { results } of queries.queryEachDomain(question)) {
    for (const { domain, points } of results) {
      collected.set(domain, [...(collected.get(domain) ?? []), ...points])
    }
  }
  return collected
}

/** Collects a sum over domains, ascending. */
export async function collectTogether(queries: QueryClient, question: SumQuestion) {
  const sums = new Map<number, Counts>()
  for await (const { results } of queries.queryTogether(question)) addByTime(sums, results)
  return toPoints(sums)
}

/** Creates a client over any transport, with its clock and the list of its requests. */
export function createTestClient(
  transport: Transport,
  options: {
    timezone?: string
    signal?: AbortSignal
    maxWaitMs?: number
    onWait?: (ms: number) => void
  } = {},
) {
  const clock = new FakeClock()
  const requests: (Request & { query: Record<string, string> })[] = []
  const { timezone = 'UTC', maxWaitMs = 300_000, signal, onWait } = options
  const queries: QueryClient = createQueryClient({
    connection: {
      url: 'https://api.cdn.test',
      token,
      timeoutMs: 2000,
      itemKeys: {},
      scrub: (text) => text.replaceAll(token, '(token)'),
      transport: (request) => {
        requests.push({ ...request, query: Object.fromEntries(new URL(request.url).searchParams) })
        return transport(request)
      },
    },
    timezone,
    maxWaitMs,
    readsPerMinute: 30,
    clock,
    random: () => 0.5,
    ...(signal === undefined ? {} : { signal }),
    ...(onWait === undefined ? {} : { onWait }),
  })
  return { queries, clock, requests }
}
