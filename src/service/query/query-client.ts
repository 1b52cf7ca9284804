import type { Clock } from '../../model/clock.ts'
import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import type { PrefetchQuery } from '../../model/prefetch.ts'
import { maxSearchedLength } from '../../model/secret.ts'
import type { Point } from '../../model/statistics.ts'
import { createTimeZone, type TimeZone } from '../../model/time-zone.ts'
import type { Connection } from '../write/client.ts'
import { listDomains, type DomainList } from './list-domains.ts'
import { queryConfigs, type StoredConfig } from './read-back.ts'
import { ReadPace } from './read-pace.ts'
import { queryPrefetches, type Prefetches } from './prefetch.ts'
import { QueryPace } from './query-pace.ts'
import type { Batch } from './query-parts.ts'
import type { QueryContext } from './query.ts'
import type { DomainsQuestion, Series, SumQuestion } from './statistics.ts'
import { queryEachDomain, queryTogether } from './statistics.ts'
import { WrongAnswerError } from './wrong-answer.ts'

/**
 * Query interface of the service. Queries have their own rate and do not use the call budget.
 */
export interface QueryClient {
  /** Queries one series for each domain, in parts. */
  queryEachDomain(question: DomainsQuestion): AsyncIterable<Batch<Series>>
  /** Queries one series over all domains, in parts: counts of the same time add up. */
  queryTogether(question: SumQuestion): AsyncIterable<Batch<Point>>
  queryPrefetches(query: PrefetchQuery): Promise<Prefetches>
  /** Queries the stored configuration of domains, in parts. Only some accounts offer it. */
  queryConfigs(domains: Domain[]): AsyncIterable<Batch<StoredConfig>>
  /** Lists the domains of the account. Only some accounts offer it. */
  listDomains(): Promise<DomainList>
}

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

/**
 * Creates a client for queries. Every method throws an EdgewiseError whose message contains neither
 * the token nor the address.
 */
export function createQueryClient(options: QueryClientOptions): QueryClient {
  // Created on first use: most connections only write.
  let known: TimeZone | undefined
  const zone = () => (known ??= createTimeZone(options.timezone))
  const { clock, maxWaitMs } = options
  const pace = new QueryPace(clock, maxWaitMs, options.onWait?.bind(options))
  const serviceNow = () => options.serviceNow?.() ?? null
  const context: QueryContext = { ...options, serviceNow, pace }
  const readPace = new ReadPace(new QueryPace(clock, maxWaitMs, options.onWait?.bind(options)), {
    clock,
    perMinute: options.readsPerMinute,
  })
  const scrubText = (text: string) => options.connection.scrub(text)
  const scrub: Scrub = (error) => quoteAnswer(error, scrubText)
  return {
    queryEachDomain: (question) =>
      scrubErrors(() => queryEachDomain(question, zone(), context), scrub),
    queryTogether: (question) => scrubErrors(() => queryTogether(question, zone(), context), scrub),
    queryConfigs: (domains) =>
      scrubErrors(() => queryConfigs(domains, { ...context, pace: readPace }), scrub),
    listDomains: async () => {
      try {
        return await listDomains({ ...context, pace: readPace })
      } catch (error) {
        throw scrub(error)
      }
    },
    queryPrefetches: async (query) => {
      try {
        const { records, complete } = await queryPrefetches(query, zone(), context)
        const scrubbed = records.map((record) => ({
          ...record,
          id: scrubText(record.id),
          url: scrubText(record.url),
        }))
        return { records: scrubbed, complete }
      } catch (error) {
        throw scrub(error)
      }
    },
  }
}

type Scrub = (error: unknown) => unknown

/** Yields what is iterated, and scrubs the error that ends it. */
async function* scrubErrors<T>(open: () => AsyncIterable<T>, scrub: Scrub): AsyncIterable<T> {
  try {
    yield* open()
  } catch (error) {
    throw scrub(error)
  }
}

/** Maximum length of a quoted answer, which may be megabytes, in characters. */
const maxQuoted = 300

/** Adds to an error what the service answered, without secrets and shortened. */
function quoteAnswer(error: unknown, scrub: (text: string) => string): unknown {
  if (!(error instanceof WrongAnswerError)) return error
  const text = scrub(error.got.slice(0, maxSearchedLength))
  const short = text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text
  return new EdgewiseError(error.code, `${error.message}, got ${short}`, error.hint)
}
