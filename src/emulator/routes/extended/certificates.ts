import { X509Certificate } from 'node:crypto'
import type { Domain, Value } from '../../../core/model/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/model/json.ts'
import type { Certificate } from '../../store/memory.ts'
import type { Store } from '../../store/store.ts'
import { parseNumber } from '../answer-prefetches.ts'
import { openBody, openQuery } from '../authenticate.ts'
import type { Incoming } from '../route.ts'
import { Refusal } from '../refusal.ts'
import { formatMoment, type ExtendedContext } from './context.ts'

/** Limits of the certificates of one emulator; lengths in characters. */
const certificateLimits = { count: 1000, name: 255, text: 65_536 }

/** Creates a certificate, or replaces the one of `cert_id`, and returns it. */
export async function saveCertificate(
  { request }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const given = await openBody(request, rules)
  const name = parseText(given, 'name', certificateLimits.name)
  const certificate = parseText(given, 'certificate', certificateLimits.text)
  const key = parseText(given, 'key', certificateLimits.text)
  const wanted = given['cert_id'] ?? null
  const id = wanted === null ? undefined : findCertificate(store, wanted).id
  const all = store.listCertificates()
  const same = all.find((each) => each.certificate === certificate && each.id !== id)
  if (same !== undefined)
    throw new Refusal('certificate-exists', `this certificate is exists, cert_id is (${same.id})`)
  if (id === undefined && all.length >= certificateLimits.count)
    throw createInvalidRefusal(`expected at most ${certificateLimits.count} certificates`)
  const saved = store.saveCertificate({ id, name, certificate }, key)
  return { code: 0, data: { cert_id: String(saved), name } }
}

/** Answers the certificate of `cert_id`, or a page of all, with their private keys. */
export function readCertificates({ request }: Incoming, context: ExtendedContext): Json {
  const { store, rules } = context
  const query = openQuery(request, rules)
  const id = query.get('cert_id')
  if (id !== undefined)
    return { code: 0, data: formatCertificate(findCertificate(store, id), context) }
  const page = parseNumber(query, 'page_number', 1)
  const size = parseNumber(query, 'page_size', 100)
  const all = store.listCertificates()
  const list = all
    .slice((page - 1) * size, page * size)
    .map((each) => formatCertificate(each, context))
  return { code: 0, data: { total_number: all.length, page_number: page, page_size: size, list } }
}

/** Removes the certificate of `cert_id`, whether or not a domain has it. */
export async function removeCertificate(
  { request }: Incoming,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { cert_id } = await openBody(request, rules)
  store.removeCertificate(findCertificate(store, cert_id ?? null).id)
  return { code: 0, data: '' }
}

function findCertificate(store: Store, id: Json): Certificate {
  const text = typeof id === 'number' ? String(id) : id
  const found = store.listCertificates().find((each) => String(each.id) === text)
  if (found === undefined)
    throw new Refusal('certificate-unknown', 'there is no certificate of this cert_id')
  return found
}

function formatCertificate(
  { id, ...rest }: Certificate,
  { store, rules }: Pick<ExtendedContext, 'store' | 'rules'>,
): JsonObject {
  const { names, from, to } = readFacts(rest.certificate)
  const domains = store.listDomains()
  return {
    cert_id: String(id),
    ...rest,
    key: store.getKey(id),
    bind_domains: domains.filter((domain) => isBound(store.getItems(domain).get('https'), id)),
    associated_domains: domains.filter((domain) => names.some((name) => covers(name, domain))),
    include_domains: names,
    cert_start_time: formatMoment(from, rules),
    cert_expire_time: formatMoment(to, rules),
  }
}

/** Reads names and validity, ms, of a certificate; none of a text that is no certificate. */
function readFacts(text: string): { names: string[]; from: number | null; to: number | null } {
  try {
    const { subjectAltName = '', validFrom, validTo } = new X509Certificate(text)
    const names = [...subjectAltName.matchAll(/DNS:([^,\s]+)/g)].map(([, name = '']) => name)
    return { names, from: Date.parse(validFrom), to: Date.parse(validTo) }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // The service takes any text: many tests of clients use no real certificate.
    return { names: [], from: null, to: null }
  }
}

function isBound(https: Value | undefined, id: number): boolean {
  return https !== undefined && isObject(https) && https['cert_id'] === id
}

/** Tests whether a name of a certificate, which may begin with `*.`, covers a domain. */
function covers(name: string, domain: Domain): boolean {
  const own = name.toLowerCase()
  return own.startsWith('*.') ? domain.slice(domain.indexOf('.')) === own.slice(1) : domain === own
}

/** Parses a text. The message never quotes it: it may be the private key. */
function parseText(given: JsonObject, name: string, max: number): string {
  const text = given[name]
  if (typeof text === 'string' && text !== '' && text.length <= max) return text
  throw createInvalidRefusal(`expected "${name}" to be a text of 1 to ${max} characters`)
}

function createInvalidRefusal(message: string): Refusal {
  return new Refusal('certificate-invalid', message)
}
