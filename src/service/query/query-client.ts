import { markForeign } from '../../core/model/text/text-makers.ts'
import type { Clock } from '../../core/model/time/clock.ts'
import type { Domain } from '../../core/model/item.ts'
import type { PrefetchQuery } from '../../core/model/prefetch.ts'
import { createTimeZone, type TimeZone } from '../../core/model/time/time-zone.ts'
import type { Connection } from '../write/client.ts'
import { listDomains, queryConfigs } from './read-back.ts'
import { queryPrefetches, type Prefetches } from './prefetch.ts'
import { QueryPace } from './query-pace.ts'
import type { QueryContext } from './query.ts'
import {
  type DomainsQuestion,
  type SumQuestion,
  queryEachDomain,
  queryTogether,
} from './statistics.ts'

/** Settings of a query client. */
export interface QueryClientOptions {
  connection: Connection
  /** IANA name of the time zone of the service. */
  timezone: string
  /** Maximum wait for the rate of the service, ms; a longer one is refused. */
  maxWaitMs: number
  /** Maximum number of queries of the configuration in any 60 seconds. */
  readsPerMinute: number
  clock: Clock
  /** The service's time, ms since 1970; null if it is unknown. */
  serviceNow?(): number | null
  /** In [0, 1). */
  random(): number
  signal?: AbortSignal
  /** Called with each wait that the service demands, ms. */
  onWait?(ms: number): void
}

export type QueryClient = ReturnType<typeof createQueryClient>

/**
 * Creates a client for queries, which have their own rate and do not use the call budget. Every
 * method throws an EdgewiseError whose message contains neither the token nor the address.
 */
export function createQueryClient(options: QueryClientOptions) {
  // Created on first use: most connections only write.
  let known: TimeZone | undefined
  const zone = () => (known ??= createTimeZone(options.timezone))
  const { clock, maxWaitMs } = options
  const onWait = options.onWait?.bind(options)
  const pace = new QueryPace({ clock, maxWaitMs, onWait })
  const serviceNow = () => options.serviceNow?.() ?? null
  const context: QueryContext = { ...options, serviceNow, pace }
  const perMinute = options.readsPerMinute
  const reads = { ...context, pace: new QueryPace({ clock, maxWaitMs, perMinute, onWait }) }
  const { scrub } = options.connection
  return {
    /** Queries one series for each domain, in parts. */
    queryEachDomain: (question: DomainsQuestion) => queryEachDomain(question, zone(), context),
    /** Queries one series over all domains, in parts: counts of the same time add up. */
    queryTogether: (question: SumQuestion) => queryTogether(question, zone(), context),
    /** Queries the stored configuration of domains, in parts. Only some accounts offer it. */
    queryConfigs: (domains: Domain[]) => queryConfigs(domains, reads),
    /** Lists the domains of the account. Only some accounts offer it. */
    listDomains: () => listDomains(reads),
    queryPrefetches: async (query: PrefetchQuery): Promise<Prefetches> => {
      const { records, complete } = await queryPrefetches(query, zone(), context)
      const clean = (text: string) => scrub(markForeign(text), Object.values(query).map(String))
      const scrubbed = records.map((record) => {
        return { ...record, id: clean(record.id), url: clean(record.url) }
      })
      return { records: scrubbed, complete }
    },
  }
}
