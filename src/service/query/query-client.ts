import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import type { PrefetchQuery } from '../../model/prefetch.ts'
import type { Point, Question } from '../../model/statistics.ts'
import { timeZone, type TimeZone } from '../../model/time-zone.ts'
import type { Clock } from '../../model/clock.ts'
import type { Connection } from '../write/client.ts'
import { queryPrefetches, type Prefetches } from './prefetch.ts'
import { QueryPace } from './query-pace.ts'
import type { QueryContext } from './query.ts'
import { queryEachDomain, queryTogether, type Heard, type Taken } from './statistics.ts'

/**
 * The service's interfaces for queries. They have a pace of their own and cost nothing of the call
 * budget.
 */
export interface QueryClient {
  /** One series for each domain, handed on as it comes. */
  each(question: Question & { domains: Domain[] }, take: Taken, heard?: Heard): Promise<void>
  /** One series over all domains, ascending. */
  together(question: Omit<Question, 'area' | 'labels'>, heard?: Heard): Promise<Point[]>
  prefetches(query: PrefetchQuery): Promise<Prefetches>
}

/** Where and how a client queries. */
export interface QueryClientOptions {
  connection: Connection
  /** IANA name of the zone of the service's times. */
  timezone: string
  /** A longer wait for the service's rate is refused, ms. */
  maxWaitMs: number
  clock: Clock
  /** In [0, 1). */
  random(): number
  signal?: AbortSignal
  /** Called with each wait that the service demands, ms. */
  onWait?(ms: number): void
}

/**
 * Creates a client for queries. Every method throws an EdgewiseError whose message holds neither
 * the token nor the address.
 */
export function createQueryClient(options: QueryClientOptions): QueryClient {
  // Looked up when it is needed: most connections only write.
  let known: TimeZone | undefined
  const zone = () => (known ??= timeZone(options.timezone))
  const { clock, maxWaitMs } = options
  const pace = new QueryPace(clock, maxWaitMs, options.onWait?.bind(options))
  const context: QueryContext = { ...options, pace }
  const scrub = (text: string) => options.connection.scrub(text)
  return {
    each: (question, take, heard) => withoutSecrets(scrub, () => queryEachDomain(question, zone(), context, take, heard)),
    together: (question, heard) => withoutSecrets(scrub, () => queryTogether(question, zone(), context, heard)),
    prefetches: (query) => withoutSecrets(scrub, () => queryPrefetches(query, zone(), context)),
  }
}

/** An answer may be megabytes; a message quotes so many characters. */
const maxMessage = 400

/** An answer that is not what it should be is quoted in the message, and may quote the token. */
async function withoutSecrets<T>(scrub: (text: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'answer-invalid') throw error
    const message = scrub(error.message)
    throw new EdgewiseError(error.code, message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message, error.hint)
  }
}
