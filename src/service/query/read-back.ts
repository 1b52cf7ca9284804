import { splitIntoChunks } from '../../core/model/lists.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Domain } from '../../core/model/item.ts'
import { getOwn, isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import { query, UnknownDomainError, type QueryContext } from './query.ts'
import { queryParts } from './query-parts.ts'

/** The stored configuration of a domain: payloads by wire name, without items that are not set. */
export interface StoredConfig {
  domain: Domain
  config: JsonObject
}

/** Maximum number of domains of a query. */
const maxDomains = 10
const configWhat = 'the stored configuration (service.readBack)'

/**
 * Queries the stored configuration of domains, ten at a time. The specification does not have this
 * query; some accounts offer it. A domain that the account does not have is in no batch. No error
 * quotes the answer, which may contain secrets that nobody knows here.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `declined`
 */
export function queryConfigs(domains: Domain[], context: QueryContext) {
  return queryParts(splitIntoChunks(domains, maxDomains), context, queryPart)
}

/** Queries a part; if the service refuses it for an unknown domain, its halves. */
async function queryPart(part: Domain[], context: QueryContext): Promise<StoredConfig[]> {
  const parameters = { domains: part.join(',') }
  try {
    const wanted = { path: '/domain/config', parameters, what: configWhat }
    return await query(wanted, context, (data) => parseConfigs(data, part))
  } catch (error) {
    if (!(error instanceof UnknownDomainError)) throw error
    if (part.length === 1) return []
    const half = Math.ceil(part.length / 2)
    return [
      ...(await queryPart(part.slice(0, half), context)),
      ...(await queryPart(part.slice(half), context)),
    ]
  }
}

function parseConfigs(data: Json, part: Domain[]): StoredConfig[] {
  if (!Array.isArray(data)) throw createConfigError('expected a list with an entry for each domain')
  const wanted = new Set(part)
  return data.map((each) => {
    const [domain, entry] = readEntry(each, createConfigError)
    if (!wanted.delete(domain))
      throw createConfigError(`expected each of ${part.join(', ')} once, and no other domain`)
    const config = getOwn(entry, 'config') ?? null
    // An empty configuration is a list.
    if (Array.isArray(config) && config.length === 0) return { domain, config: {} }
    if (isObject(config)) return { domain, config }
    throw createConfigError(`expected "config" of ${domain} to be an object`)
  })
}

/** A domain of the account. */
interface ListedDomain {
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
const listWhat = 'the list of domains (service.readBack)'

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
    const wanted = { path: '/domain/list', parameters, what: listWhat }
    const { page, total } = await query(wanted, context, parsePage)
    const before = found.size
    for (const each of page) found.set(each.domain, each)
    // The service may have smaller pages than it was asked for. A page without new domains ends
    // the list, whatever its total is.
    const isLast = total === null ? page.length < pageSize : found.size >= total
    if (isLast || found.size === before)
      return { domains: [...found.values()], total: total ?? found.size }
  }
  throw createListError(`expected at most ${maxPages} pages`)
}

function parsePage(data: Json): { page: ListedDomain[]; total: number | null } {
  // A page is a list, or an object with the list of its domains beside its totals.
  const list = isObject(data)
    ? Object.values(data).find((value): value is Json[] => Array.isArray(value))
    : data
  if (!Array.isArray(list)) throw createListError('expected a list of domains')
  const count = isObject(data) ? getOwn(data, 'total_number') : undefined
  const total = /^\d{1,9}$/.test(String(count)) ? Number(count) : null
  const page = list.map((each) => {
    const [domain, entry] = readEntry(each, createListError)
    const status = getOwn(entry, 'status') ?? getOwn(entry, 'domain_status')
    return { domain, status: typeof status === 'string' ? status : '' }
  })
  return { page, total }
}

function readEntry(
  entry: Json,
  fail: (expected: string) => EdgewiseError,
): [domain: Domain, entry: JsonObject] {
  const name = isObject(entry) ? getOwn(entry, 'domain') : undefined
  if (!isObject(entry) || typeof name !== 'string')
    throw fail('expected each entry to have a "domain"')
  return [name.toLowerCase(), entry]
}

function createConfigError(expected: string): EdgewiseError {
  const hint = 'Without service.readBack, Edgewise does not use this query.'
  return createError(configWhat, expected, hint)
}

function createListError(expected: string): EdgewiseError {
  return createError(listWhat, expected, 'Name the domains with --target instead.')
}

function createError(what: string, expected: string, hint: string): EdgewiseError {
  const message = `unexpected answer to the query for ${what}: ${expected}`
  return new EdgewiseError('answer-invalid', message, hint)
}
