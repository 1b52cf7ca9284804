import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import { getOwn, isObject, type Json, type JsonObject } from '../../model/json.ts'
import { query, UnknownDomainError, type QueryContext } from './query.ts'
import { queryParts } from './query-parts.ts'

/** The stored configuration of a domain: payloads by wire name, without items that are not set. */
export interface StoredConfig {
  domain: Domain
  config: JsonObject
}

/** Maximum number of domains of a query. */
const maxDomains = 10
const what = 'the stored configuration (service.readBack)'

/**
 * Queries the stored configuration of domains, ten at a time. The specification does not have this
 * query; some accounts offer it. A domain that the account does not have is in no batch. No error
 * quotes the answer, which may contain secrets that nobody knows here.
 *
 * @throws EdgewiseError `access`, `service-refused`, `service-failed`, `answer-invalid`, `declined`
 */
export function queryConfigs(domains: Domain[], context: QueryContext) {
  const parts = Array.from({ length: Math.ceil(domains.length / maxDomains) }, (_, i) =>
    domains.slice(i * maxDomains, (i + 1) * maxDomains),
  )
  return queryParts(parts, context, queryPart)
}

/** Queries a part; if the service refuses it for an unknown domain, its halves. */
async function queryPart(part: Domain[], context: QueryContext): Promise<StoredConfig[]> {
  const parameters = { domains: part.join(',') }
  try {
    return parseConfigs(await query({ path: '/domain/config', parameters, what }, context), part)
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
  if (!Array.isArray(data)) throw createError('expected a list with an entry for each domain')
  const wanted = new Set(part)
  return data.map((entry) => {
    const name = isObject(entry) ? getOwn(entry, 'domain') : undefined
    if (!isObject(entry) || typeof name !== 'string')
      throw createError('expected each entry to have a "domain"')
    const domain = name.toLowerCase()
    if (!wanted.delete(domain))
      throw createError(`expected each of ${part.join(', ')} once, and no other domain`)
    const config = getOwn(entry, 'config') ?? null
    // An empty configuration is a list.
    if (Array.isArray(config) && config.length === 0) return { domain, config: {} }
    if (isObject(config)) return { domain, config }
    throw createError(`expected "config" of ${domain} to be an object`)
  })
}

function createError(expected: string): EdgewiseError {
  return new EdgewiseError(
    'answer-invalid',
    `unexpected answer to the query for ${what}: ${expected}`,
    'Without service.readBack, Edgewise does not use this query.',
  )
}
