import type { Json, JsonObject } from '../../../model/json.ts'
import { certificateLimits, type Certificate } from '../../entities/certificate.ts'
import type { AccountStore } from '../../store/account-store.ts'
import { parseNumber } from '../answer-prefetches.ts'
import { authenticate } from '../authenticate.ts'
import type { EmulatorRequest } from '../exchange.ts'
import { parseParameters } from '../parse-parameters.ts'
import { parseQuery } from '../parse-query.ts'
import { Refusal } from '../refusal.ts'
import type { ExtendedContext } from './context.ts'

/** Creates a certificate, or replaces the one of `cert_id`, and returns it. */
export async function saveCertificate(
  request: EmulatorRequest,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { account } = store
  const given = await parseParameters(request)
  authenticate(rules.token, given['token'], request.query)
  const name = parseText(given, 'name', certificateLimits.name)
  const certificate = parseText(given, 'certificate', certificateLimits.text)
  const key = parseText(given, 'key', certificateLimits.text)
  const wanted = given['cert_id'] ?? null
  const id = wanted === null ? undefined : findCertificate(account, wanted).id
  const all = account.listCertificates()
  const same = all.find((each) => each.certificate === certificate && each.id !== id)
  if (same !== undefined)
    throw new Refusal('certificate-exists', `this certificate is exists, cert_id is (${same.id})`)
  if (id === undefined && all.length >= certificateLimits.count)
    throw createInvalidRefusal(`expected at most ${certificateLimits.count} certificates`)
  const saved = account.saveCertificate({ id, name, certificate }, key, rules.now())
  return { code: 0, data: { cert_id: String(saved), name } }
}

/** Answers the certificate of `cert_id`, or a page of all, with their private keys. */
export function readCertificates(
  request: EmulatorRequest,
  { store, rules }: ExtendedContext,
): Json {
  const { account } = store
  authenticate(rules.token, undefined, request.query)
  const query = parseQuery(request.query)
  const id = query.get('cert_id')
  if (id !== undefined)
    return { code: 0, data: formatCertificate(findCertificate(account, id), account) }
  const page = parseNumber(query, 'page_number', 1)
  const size = parseNumber(query, 'page_size', 100)
  const all = account.listCertificates()
  const list = all
    .slice((page - 1) * size, page * size)
    .map((each) => formatCertificate(each, account))
  return { code: 0, data: { total_number: all.length, page_number: page, page_size: size, list } }
}

/** Removes the certificate of `cert_id`, whether or not a domain has it. */
export async function removeCertificate(
  request: EmulatorRequest,
  { store, rules }: ExtendedContext,
): Promise<Json> {
  const { token, cert_id } = await parseParameters(request)
  authenticate(rules.token, token, request.query)
  store.account.removeCertificate(findCertificate(store.account, cert_id ?? null).id, rules.now())
  return { code: 0, data: '' }
}

function findCertificate(account: AccountStore, id: Json): Certificate {
  const text = typeof id === 'number' ? String(id) : id
  const found = account.listCertificates().find((each) => String(each.id) === text)
  if (found === undefined)
    throw new Refusal('certificate-unknown', 'there is no certificate of this cert_id')
  return found
}

function formatCertificate({ id, ...rest }: Certificate, account: AccountStore): JsonObject {
  return { cert_id: String(id), ...rest, key: account.getKey(id) }
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
