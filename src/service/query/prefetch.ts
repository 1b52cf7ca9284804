import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import { isObject, getOwn, type Json } from '../../core/model/json.ts'
import {
  prefetchStatuses,
  type PrefetchQuery,
  type PrefetchRecord,
  type PrefetchStatus,
} from '../../core/model/prefetch.ts'
import { formatLocalTime, buildLocalTime, type TimeZone } from '../../core/model/time/time-zone.ts'
import { query, type QueryContext } from './query.ts'
import { createWrongAnswerError } from './wrong-answer.ts'

/** Prefetch records, and whether their number matches the total of the service. */
export interface Prefetches {
  records: PrefetchRecord[]
  complete: boolean
}

interface Page {
  total: number
  records: PrefetchRecord[]
}

/** Default of `page_size` in the specification. */
const pageSize = 50
/** Maximum number of pages; a longer list counts as endless. */
const maxPages = 20_000
/** Maximum number of attempts to query a list: its pages shift while records are added. */
const maxRounds = 3
const what = 'prefetch tasks'
const time = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/

/**
 * Queries all records of prefetch tasks, page by page (specification, "GET /cache/prefetch"). An
 * unknown task has none.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `declined`
 */
export async function queryPrefetches(
  wanted: PrefetchQuery,
  zone: TimeZone,
  context: QueryContext,
): Promise<Prefetches> {
  let best: Prefetches = { records: [], complete: false }
  for (let round = 0; round < maxRounds && !best.complete; round++) {
    const { records, total } = await queryPages(wanted, zone, context)
    best = { records, complete: records.length === total }
  }
  return best
}

/** Queries every page; each record is returned once, with the total of the last page. */
async function queryPages(
  wanted: PrefetchQuery,
  zone: TimeZone,
  context: QueryContext,
): Promise<Page> {
  const records = new Map<string, PrefetchRecord>()
  for (let number = 1; number <= maxPages; number++) {
    const { total, records: page } = await queryPage(wanted, number, zone, context)
    const before = records.size
    // A number beyond 2^53 is no longer exact, so two records may have the same id.
    for (const record of page)
      records.set(JSON.stringify([record.id, record.url, record.createdAt]), record)
    // A page without new records ends the list, regardless of the total.
    if (records.size === before || records.size >= total)
      return { records: [...records.values()], total }
  }
  throw new EdgewiseError(
    'answer-invalid',
    `the list of ${what} has not ended after ${maxPages} pages`,
    'Ask for fewer days.',
  )
}

async function queryPage(
  wanted: PrefetchQuery,
  number: number,
  zone: TimeZone,
  context: QueryContext,
): Promise<Page> {
  const parameters = {
    ...buildParameters(wanted),
    page_number: String(number),
    page_size: String(pageSize),
  }
  const wantedPage = { path: '/cache/prefetch', parameters, what }
  return query(wantedPage, context, (data) => parsePage(data, number, zone))
}

function parsePage(data: Json, number: number, zone: TimeZone): Page {
  if (!isObject(data))
    throw createWrongAnswerError(what, 'expected an object with "total" and "list"', data)
  const [total = null, page = null, list = null] = [
    getOwn(data, 'total'),
    getOwn(data, 'page_number'),
    getOwn(data, 'list'),
  ]
  if (!Number.isSafeInteger(total) || Number(total) < 0)
    throw createWrongAnswerError(what, 'expected "total" to be a whole number from 0', total)
  if (page !== number) throw createWrongAnswerError(what, `expected page ${number}`, page)
  if (!Array.isArray(list)) throw createWrongAnswerError(what, 'expected "list" to be a list', list)
  return { total: Number(total), records: list.map((record) => parseRecord(record, zone)) }
}

function buildParameters(wanted: PrefetchQuery): Record<string, string> {
  if ('task' in wanted) return { task_id: wanted.task }
  const { from, to, url } = wanted
  return { start_time: from, end_time: to, ...(url === undefined ? {} : { url }) }
}

function parseRecord(given: Json, zone: TimeZone): PrefetchRecord {
  if (!isObject(given))
    throw createWrongAnswerError(what, 'expected a record to be an object', given)
  const [id = null, url = null, status = null, created = null] = [
    'id',
    'url',
    'status',
    'create_time',
  ].map((key) => getOwn(given, key))
  const completed = getOwn(given, 'complete_time') ?? ''
  if (!(typeof id === 'string' && id !== '') && !Number.isInteger(id))
    throw createWrongAnswerError(what, 'expected "id" to be a whole number', id)
  if (typeof url !== 'string')
    throw createWrongAnswerError(what, 'expected "url" to be a text', url)
  if (!isStatus(status))
    throw createWrongAnswerError(
      what,
      `expected "status" to be one of ${prefetchStatuses.join(', ')}`,
      status,
    )
  const [createdAt, completedAt] = [created, completed].map((text) => parseTime(text, zone))
  if (createdAt === undefined || createdAt === null)
    throw createWrongAnswerError(what, 'expected "create_time" to be YYYY-MM-DD HH:ii:ss', created)
  if (completedAt === undefined)
    throw createWrongAnswerError(
      what,
      'expected "complete_time" to be YYYY-MM-DD HH:ii:ss or empty',
      completed,
    )
  return { id: String(id), url, status, createdAt, completedAt }
}

function isStatus(value: Json): value is PrefetchStatus {
  return prefetchStatuses.some((each) => each === value)
}

/**
 * Parses a time in the service's zone, to ms; null for an empty one, undefined for anything else.
 */
function parseTime(text: Json, zone: TimeZone): number | null | undefined {
  if (text === '') return null
  const match = typeof text === 'string' ? time.exec(text) : null
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map(Number)
  const local = buildLocalTime(year, month, day, hour, minute, second)
  return formatLocalTime(local) === text ? zone.toUtc(local) : undefined
}
