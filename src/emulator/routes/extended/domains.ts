import type { Domain, ItemKey } from '../../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/model/json.ts'
import { buildRecordForm } from '../../entities/read-form.ts'
import { configure } from '../../entities/configure.ts'
import {
  areas,
  computeStatus,
  defaultRecord,
  domainStatuses,
  domainTypes,
} from '../../entities/domain-record.ts'
import { parseNumber } from '../answer-prefetches.ts'
import { openBody, openQuery } from '../authenticate.ts'
import type { Incoming } from '../route.ts'
import { createResultRefusal, parseNamedItems, validateItems } from '../parse-config.ts'
import { createDomainRefusal, parseDomains, refuseUnknown } from '../parse-domains.ts'
import { parseQuery, parseWord } from '../parse-query.ts'
import { Refusal } from '../refusal.ts'
import { formatMoment, type ExtendedContext } from './context.ts'
import { formatConfig } from './read-config.ts'

const maxPageSize = 500
const defaultPageSize = 100

/** Creates a domain with its first configuration. Throws a Refusal if it exists. */
export async function createDomain(
  { request, call }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const given = await openBody(request, rules)
  const [domain = '', ...more] = parseDomains(given['domain'])
  call.domains = [domain, ...more]
  if (more.length > 0) throw createDomainRefusal(String(given['domain']))
  const area = given['area'] === undefined ? defaultRecord.area : parseWord(given, 'area', areas)
  const type = parseWord(given, 'type', domainTypes)
  const named = parseNamedItems(given['config'], rules.names)
  call.items = [...new Set(named.map(({ spec }) => spec.key))]
  if (store.listDomains().includes(domain))
    throw new Refusal('domain-exists', `domain(${domain}) exists already`)
  const result = configure(new Map(), validateItems(named, rules))
  if ('refused' in result) throw createResultRefusal(result.refused, result.problems, domain)
  store.createDomain(domain, { area, type }, result.items, rules.now())
  const id = store.getId(domain)
  const config = given['config'] ?? null
  const cname = formatCname(domain)
  return { code: 0, data: { id, domain, type, status: 'deploying', cname, config } }
}

/** Answers the records of domains; those that never existed are left out. */
export function readDomains({ request, call }: Incoming, context: ExtendedContext): Json {
  const { rules, limits, store } = context
  const query = openQuery(request, rules)
  limits.domains.admit(rules.now())
  call.domains = parseDomains(nameIds(query.get('domains'), store))
  const known = call.domains.filter(
    (domain) => store.hasDomain(domain) || store.getRecord(domain).removed,
  )
  return {
    code: 0,
    data: known.map((domain) => ({
      ...formatRecord(domain, context),
      config: formatConfig(store.getItems(domain), null, rules.names, buildRecordForm),
    })),
  }
}

/** Replaces ids in a list of domains by the names of their domains. */
function nameIds(given: string | undefined, store: ExtendedContext['store']): string | undefined {
  if (given === undefined || !/\d/.test(given)) return given
  const names = new Map(store.listRecorded().map((domain) => [store.getId(domain), domain]))
  return given
    .split(',')
    .map((each) => names.get(each.trim()) ?? each)
    .join(',')
}

/** Answers a page of domains: all of them, removed ones too, or those of some statuses. */
export function listDomains({ request }: Incoming, context: ExtendedContext): Json {
  const { rules, store } = context
  const query = openQuery(request, rules)
  const page = parseNumber(query, 'page_number', 1)
  const size = parseNumber(query, 'page_size', defaultPageSize)
  if (size > maxPageSize)
    throw new Refusal('number-invalid', `expected "page_size" to be at most ${maxPageSize}`)
  const statuses = parseStatuses(query)
  const removed = store.listRecorded().filter((domain) => store.getRecord(domain).removed)
  const chosen = [...store.listDomains(), ...removed].filter(
    (domain) => statuses === null || statuses.has(getStatus(domain, context)),
  )
  return {
    code: 0,
    data: {
      total_number: String(chosen.length),
      page_number: String(page),
      list: chosen
        .slice((page - 1) * size, page * size)
        .map((domain) => formatRecord(domain, context)),
    },
  }
}

/** Parses a list of statuses, of which `serving` includes `deploying`; null for none. */
function parseStatuses(query: ReadonlyMap<string, string>): Set<string> | null {
  const given = (query.get('domain_status') ?? '').split(',').filter((name) => name !== '')
  const statuses = given.map((name) =>
    parseWord({ domain_status: name }, 'domain_status', domainStatuses),
  )
  if (statuses.length === 0) return null
  return new Set(statuses.flatMap((each) => (each === 'serving' ? ['serving', 'deploying'] : each)))
}

/** Removes domains, all or none. Throws a Refusal if one does not exist. */
export async function removeDomains(
  { request, call }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  await openBody(request, rules)
  call.domains = parseDomains(parseQuery(request.query).get('domains'))
  refuseUnknown(call.domains, store)
  store.removeDomains(call.domains, rules.now())
  return { code: 0 }
}

function formatRecord(domain: Domain, context: ExtendedContext): JsonObject {
  const { store, rules } = context
  const { area, type, createdAt, changedAt } = store.getRecord(domain)
  return {
    id: store.getId(domain),
    domain,
    type,
    status: getStatus(domain, context),
    icp_status: 'no',
    icp_num: '',
    area,
    cname: formatCname(domain),
    create_time: formatMoment(createdAt, rules),
    update_time: formatMoment(changedAt, rules),
    https: hasCertificate(store.getItems(domain)) ? 1 : 0,
  }
}

function getStatus(domain: Domain, { store, rules }: ExtendedContext): string {
  return computeStatus(store.getRecord(domain), rules.deployMs ?? 0, rules.now())
}

function hasCertificate(items: ReadonlyMap<ItemKey, Json>): boolean {
  const https = items.get('https')
  return https !== undefined && isObject(https) && https['cert_id'] !== 0
}

/** Formats the name to which a domain would point, under a reserved top-level domain. */
function formatCname(domain: Domain): string {
  return `${domain.replace(/^\./, '_.')}.cdn.example`
}
