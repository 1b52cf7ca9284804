import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import { getOwn, isObject, type Json } from '../../model/json.ts'
import { query, type QueryContext } from './query.ts'

/** A domain of the account. */
export interface ListedDomain {
  domain: Domain
  /** Such as `serving`, `deploying` or `suspend`. */
  status: string
}

/** Domains of the account. */
export interface DomainList {
  domains: ListedDomain[]
  /** Their number by the service, which may list fewer. */
  total: number
}

/** Largest page, and the maximum number of pages: a longer list counts as endless. */
const [pageSize, maxPages] = [500, 2000]
const what = 'the list of domains (service.readBack)'

/**
 * Queries the domains of the account, page by page. The specification does not have this query;
 * some accounts offer it.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `declined`
 */
export async function listDomains(context: QueryContext): Promise<DomainList> {
  const found = new Map<Domain, ListedDomain>()
  for (let number = 1; number <= maxPages; number++) {
    const parameters = { page_number: String(number), page_size: String(pageSize) }
    const { page, total } = parsePage(
      await query({ path: '/domain/list', parameters, what }, context),
    )
    const before = found.size
    for (const each of page) found.set(each.domain, each)
    // The service may have smaller pages than it was asked for. A page without new domains ends
    // the list, whatever its total is.
    const isLast = total === null ? page.length < pageSize : found.size >= total
    if (isLast || found.size === before)
      return { domains: [...found.values()], total: total ?? found.size }
  }
  throw createError(`expected at most ${maxPages} pages`)
}

function parsePage(data: Json): { page: ListedDomain[]; total: number | null } {
  // A page is a list, or an object with the list of its domains beside its totals.
  const list = isObject(data)
    ? Object.values(data).find((value): value is Json[] => Array.isArray(value))
    : data
  if (!Array.isArray(list)) throw createError('expected a list of domains')
  const count = isObject(data) ? getOwn(data, 'total_number') : undefined
  const total = /^\d{1,9}$/.test(String(count)) ? Number(count) : null
  const page = list.map((entry) => {
    const name = isObject(entry) ? getOwn(entry, 'domain') : undefined
    if (!isObject(entry) || typeof name !== 'string')
      throw createError('expected each entry to have a "domain"')
    const status = getOwn(entry, 'status') ?? getOwn(entry, 'domain_status')
    return { domain: name.toLowerCase(), status: typeof status === 'string' ? status : '' }
  })
  return { page, total }
}

function createError(expected: string): EdgewiseError {
  return new EdgewiseError(
    'answer-invalid',
    `unexpected answer to the query for ${what}: ${expected}`,
    'Name the domains with --target instead.',
  )
}
