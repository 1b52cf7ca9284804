import type { Json, JsonObject } from '../../core/model/json.ts'
import { parseUrl } from '../../core/model/text/url.ts'
import { computeProgress, type Prefetch } from '../entities/prefetch.ts'
import { formatLocalTime } from '../../core/model/time/time-zone.ts'
import type { Store } from '../store/store.ts'
import { openQuery } from './authenticate.ts'
import type { EmulatorRequest } from './exchange.ts'
import type { QueryRules } from './answer-statistics.ts'
import { parseDay, refuseBackwards } from './parse-time.ts'
import { Refusal } from './refusal.ts'

type Query = ReadonlyMap<string, string>

const defaultPage = 1
const defaultPageSize = 50

/**
 * Answers a page of prefetch records, by time range or by task (specification, "GET
 * /cache/prefetch"), oldest first. Throws a Refusal: token first, then parameters.
 *
 * @param form form of the records: that of the specification, with their ids as text, or refreshes
 *   with their types
 */
export function answerPrefetches(
  request: EmulatorRequest,
  store: Store,
  rules: QueryRules,
  form: 'specified' | 'text' | 'type' = 'specified',
): Json {
  const query = openQuery(request, rules)
  const now = rules.now()
  const chosen = parseMode(query, rules)
  const page = parseNumber(query, 'page_number', defaultPage)
  const size = parseNumber(query, 'page_size', defaultPageSize)
  const records = store
    .listPrefetches(now)
    .filter((record) => (record.type !== undefined) === (form === 'type') && chosen(record))
  const list = records.slice((page - 1) * size, page * size)
  return {
    code: 0,
    message: '',
    data: {
      total: records.length,
      page_number: page,
      list: list.map((record) => ({
        ...formatRecord(record, store, rules, now),
        ...(form === 'specified' ? {} : { id: String(record.id) }),
        ...(record.type === undefined ? {} : { type: record.type }),
      })),
    },
  }
}

/**
 * Parses the selection of records. The two modes exclude each other, and `url` belongs to the one
 * by time range.
 */
function parseMode(query: Query, { zone }: QueryRules): (record: Prefetch) => boolean {
  const byTime = ['start_time', 'end_time', 'url'].filter((name) => query.has(name))
  if (query.has('task_id')) {
    if (byTime.length > 0)
      throw new Refusal(
        'mode-invalid',
        `expected either "task_id" or a time range, got "task_id" and "${byTime[0]}"`,
      )
    const task = parseNumber(query, 'task_id', 0)
    return (record) => record.task === task
  }
  if (!query.has('start_time') && !query.has('end_time')) {
    throw new Refusal('mode-invalid', 'expected "start_time" and "end_time", or "task_id"')
  }
  const start = parseDay(query, 'start_time', 'start')
  const end = parseDay(query, 'end_time', 'end')
  refuseBackwards(start, end)
  const first = zone.toUtc(start)
  const last = zone.toUtc(end) + 999
  const url = query.get('url') ?? ''
  return (record) =>
    record.createdAt >= first && record.createdAt <= last && (url === '' || record.url === url)
}

/** Parses a whole number from 1. Throws a Refusal for any other value. */
export function parseNumber(query: Query, name: string, fallback: number): number {
  const text = query.get(name)
  if (text === undefined) return fallback
  const value = Number(text)
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(value)) {
    throw new Refusal(
      'number-invalid',
      `expected "${name}" to be a whole number from 1, got "${text}"`,
    )
  }
  return value
}

function formatRecord(
  record: Prefetch,
  store: Store,
  { seed, zone }: QueryRules,
  now: number,
): JsonObject {
  const host = parseUrl(record.url)?.hostname ?? ''
  const domain = store.findDomain(host) ?? host
  const { status, completedAt } = computeProgress(record, seed, now, (time) =>
    store.isOriginDown(domain, time),
  )
  const format = (time: number) => formatLocalTime(zone.toLocal(time))
  return {
    id: record.id,
    url: record.url,
    status,
    create_time: format(record.createdAt),
    complete_time: completedAt === null ? '' : format(completedAt),
  }
}
