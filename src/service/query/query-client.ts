import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import type { PrefetchQuery } from '../../model/prefetch.ts'
import type { Point, Question } from '../../model/statistics.ts'
import { timeZone, type TimeZone } from '../../model/time-zone.ts'
import type { Clock } from '../../model/clock.ts'
import type { Connection } from '../write/client.ts'
import { prefetches, type Prefetches } from './prefetch.ts'
import { ReadPace } from './query-pace.ts'
import type { Reading } from './query.ts'
import { statisticsOfEach, statisticsTogether, type Heard, type Taken } from './statistics.ts'

/** The service's interfaces that only read. Reads have a pace of their own and cost nothing of the call budget. */
export interface Reader {
  /** One series for each domain, handed on as it comes. */
  each(question: Question & { domains: Domain[] }, take: Taken, heard?: Heard): Promise<void>
  /** One series over all domains, ascending. */
  together(question: Omit<Question, 'area' | 'labels'>, heard?: Heard): Promise<Point[]>
  prefetches(query: PrefetchQuery): Promise<Prefetches>
}

/** Where and how a reader reads. */
export interface ReaderOptions {
  connection: Connection
  /** IANA name of the zone in which the service reads and writes times. */
  timezone: string
  /** A longer wait for the service's rate is refused, ms. */
  longestWaitMs: number
  clock: Clock
  /** In [0, 1). */
  random(): number
  signal?: AbortSignal
  /** Hears how long nothing is read because the service wants it so, ms. */
  waits?(ms: number): void
}

/** Opens the reading interfaces. Every method throws an EdgewiseError whose message holds neither the token nor the address. */
export function createReader({ timezone, longestWaitMs, ...options }: ReaderOptions): Reader {
  // Made when it is needed: most connections only write.
  let known: TimeZone | undefined
  const zone = () => (known ??= timeZone(timezone))
  const reading: Reading = { ...options, pace: new ReadPace(options.clock, longestWaitMs, options.waits?.bind(options)) }
  const scrub = (text: string) => options.connection.scrub(text)
  return {
    each: (question, take, heard) => withoutSecrets(scrub, () => statisticsOfEach(question, zone(), reading, take, heard)),
    together: (question, heard) => withoutSecrets(scrub, () => statisticsTogether(question, zone(), reading, heard)),
    prefetches: (query) => withoutSecrets(scrub, () => prefetches(query, zone(), reading)),
  }
}

/** A message is for people, an answer may be megabytes. */
const longest = 400

/** An answer that is not what it should be is quoted in the message, and may quote the token. */
async function withoutSecrets<T>(scrub: (text: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof EdgewiseError) || error.code !== 'answer-invalid') throw error
    const message = scrub(error.message)
    throw new EdgewiseError(error.code, message.length > longest ? `${message.slice(0, longest)}…` : message, error.hint)
  }
}
