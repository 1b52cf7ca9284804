import type { Domain, ItemKey } from '../../../model/item.ts'
import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import { buildRecordForm } from '../../entities/read-form.ts'
import { formatLocalTime } from '../../../model/time-zone.ts'
import type { Call } from '../../entities/call.ts'
import { configure } from '../../entities/configure.ts'
import { areas, computeStatus, domainStatuses, domainTypes } from '../../entities/domain-record.ts'
import { parseNumber } from '../answer-prefetches.ts'
import { authenticate } from '../authenticate.ts'
import type { EmulatorRequest } from '../exchange.ts'
import { createResultRefusal, parseNamedItems, validateItems } from '../parse-config.ts'
import { createDomainRefusal, parseDomains } from '../parse-domains.ts'
import { parseParameters } from '../parse-parameters.ts'
import { parseChoice, parseQuery } from '../parse-query.ts'
import { Refusal } from '../refusal.ts'
import type { ExtendedContext } from './context.ts'
import { formatConfig } from './read-config.ts'

const maxPageSize = 500
const defaultPageSize = 100

/** Creates a domain with its first configuration. Throws a Refusal if it exists. */
export async function createDomain(
  request: EmulatorRequest,
  call: Call,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const given = await parseParameters(request)
  authenticate(rules.token, given['token'], request.query)
  const [domain = '', ...more] = parseDomains(given['domain'])
  call.domains = [domain, ...more]
  if (more.length > 0) throw createDomainRefusal(String(given['domain']))
  const area = parseWord(given, 'area', areas)
  const type = parseWord(given, 'type', domainTypes)
  const named = parseNamedItems(given['config'], rules.names)
  call.items = [...new Set(named.map(({ spec }) => spec.key))]
  if (store.listDomains().includes(domain))
    throw new Refusal('domain-exists', `domain(${domain}) exists already`)
  const result = configure(new Map(), validateItems(named, [domain], rules), domain)
  if ('refused' in result) throw createResultRefusal(result.refused, result.problems, domain)
  const id = store.getId(domain)
  store.account.createDomain({ domain, area, type, id, items: result.items }, rules.now())
  const config = given['config'] ?? null
  const cname = formatCname(domain)
  return { code: 0, data: { id, domain, type, status: 'deploying', cname, config } }
}

/** Answers the records of domains; those that never existed are left out. */
export function readDomains(request: EmulatorRequest, call: Call, context: ExtendedContext): Json {
  const { rules, limits, store } = context
  authenticate(rules.token, undefined, request.query)
  limits.domains.admit(rules.now())
  call.domains = parseDomains(parseQuery(request.query).get('domains'))
  const known = call.domains.filter(
    (domain) => store.hasDomain(domain) || store.account.getRecord(domain).removed,
  )
  return {
    code: 0,
    data: known.map((domain) => ({
      ...formatRecord(domain, context),
      config: formatConfig(store.getItems(domain), null, rules.names, buildRecordForm),
    })),
  }
}

/** Answers a page of domains, without removed ones unless their status is asked for. */
export function listDomains(request: EmulatorRequest, context: ExtendedContext): Json {
  const { rules, store } = context
  authenticate(rules.token, undefined, request.query)
  const query = parseQuery(request.query)
  const page = parseNumber(query, 'page_number', 1)
  const size = parseNumber(query, 'page_size', defaultPageSize)
  if (size > maxPageSize)
    throw new Refusal('number-invalid', `expected "page_size" to be at most ${maxPageSize}`)
  const status = parseChoice(query, 'domain_status', ['', ...domainStatuses])
  const removed = store.account
    .listRecorded()
    .filter((domain) => store.account.getRecord(domain).removed)
  const chosen = [...store.listDomains(), ...removed].filter((domain) => {
    const found = getStatus(domain, context)
    return status === '' ? found !== 'deleted' : found === status
  })
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

/** Removes domains, all or none. Throws a Refusal if one does not exist. */
export async function removeDomains(
  request: EmulatorRequest,
  call: Call,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { token } = await parseParameters(request)
  authenticate(rules.token, token, request.query)
  call.domains = parseDomains(parseQuery(request.query).get('domains'))
  const unknown = call.domains.find((domain) => !store.hasDomain(domain))
  if (unknown !== undefined) throw createDomainRefusal(unknown)
  store.account.removeDomains(call.domains, rules.now())
  return { code: 0 }
}

function formatRecord(domain: Domain, context: ExtendedContext): JsonObject {
  const { store, rules } = context
  const { area, type, createdAt, changedAt } = store.account.getRecord(domain)
  const format = (time: number | null) =>
    time === null ? '' : formatLocalTime(rules.zone.toLocal(time))
  return {
    id: store.getId(domain),
    domain,
    type,
    status: getStatus(domain, context),
    icp_status: 'no',
    icp_num: '',
    area,
    cname: formatCname(domain),
    create_time: format(createdAt),
    update_time: format(changedAt),
    https: hasCertificate(store.getItems(domain)) ? 1 : 0,
  }
}

function getStatus(domain: Domain, { store, rules }: ExtendedContext): string {
  return computeStatus(store.account.getRecord(domain), rules.deployMs ?? 0, rules.now())
}

function hasCertificate(items: ReadonlyMap<ItemKey, Json>): boolean {
  const https = items.get('https')
  return https !== undefined && isObject(https) && https['cert_id'] !== 0
}

/** Formats the name to which a domain would point, under a reserved top-level domain. */
function formatCname(domain: Domain): string {
  return `${domain.replace(/^\./, '_.')}.cdn.example`
}

function parseWord<T extends string>(given: JsonObject, name: string, words: readonly T[]): T {
  const word = words.find((each) => each === given[name])
  if (word !== undefined) return word
  const found = JSON.stringify(given[name] ?? null)
  throw new Refusal(
    'choice-invalid',
    `expected "${name}" to be one of ${words.join(', ')}, got ${found}`,
  )
}
