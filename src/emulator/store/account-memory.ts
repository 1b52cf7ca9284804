import type { Certificate } from '../entities/certificate.ts'
import { areas, defaultRecord, domainTypes, type DomainRecord } from '../entities/domain-record.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Domain } from '../../model/item.ts'

/** Domains and certificates of an extended service; empty at one of the specification. */
export interface AccountMemory {
  records: Map<Domain, DomainRecord>
  certificates: Map<number, Certificate>
  nextCertificate: number
}

/** Part of a change that concerns domains and certificates. */
export interface AccountChange {
  created?: { domain: Domain; area: DomainRecord['area']; type: DomainRecord['type'] }
  /** Domains whose configuration the change sets. */
  touched?: Domain[]
  removed?: Domain[]
  /** A new certificate, or the replacement of the one with this id. */
  certificate?: Certificate
  /** Id of a removed certificate. */
  forgotten?: number
}

/** Creates the memory of an account without domains and certificates. */
export function createAccountMemory(): AccountMemory {
  return { records: new Map(), certificates: new Map(), nextCertificate: 1 }
}

/** Applies a change of `at` ms to the memory. */
export function applyAccountChange(
  account: AccountMemory,
  { created, touched = [], removed = [], certificate, forgotten }: AccountChange,
  at: number,
): void {
  const { records, certificates } = account
  if (created !== undefined) {
    const { domain, area, type } = created
    records.set(domain, { area, type, createdAt: at, changedAt: at, removed: false })
  }
  for (const domain of touched)
    records.set(domain, { ...(records.get(domain) ?? defaultRecord), changedAt: at })
  for (const domain of removed)
    records.set(domain, {
      ...(records.get(domain) ?? defaultRecord),
      changedAt: at,
      removed: true,
    })
  if (certificate !== undefined) {
    certificates.set(certificate.id, certificate)
    account.nextCertificate = Math.max(account.nextCertificate, certificate.id + 1)
  }
  if (forgotten !== undefined) certificates.delete(forgotten)
}

/** Formats the memory for a snapshot; nothing for an empty one. */
export function formatAccount(account: AccountMemory): { account?: Json } {
  const { records, certificates, nextCertificate } = account
  if (records.size === 0 && nextCertificate === 1) return {}
  return {
    account: {
      records: Object.fromEntries([...records].map(([domain, record]) => [domain, { ...record }])),
      certificates: [...certificates.values()].map((certificate) => ({ ...certificate })),
      nextCertificate,
    },
  }
}

/** Parses the memory in a snapshot. Throws an Error that states what was expected. */
export function parseAccount(data: Json | undefined): AccountMemory {
  if (data === undefined) return createAccountMemory()
  const { records, certificates, nextCertificate } = isObject(data) ? data : ({} as JsonObject)
  if (
    records === undefined ||
    !isObject(records) ||
    !Object.values(records).every(isRecord) ||
    !Array.isArray(certificates) ||
    !certificates.every(isCertificate) ||
    typeof nextCertificate !== 'number'
  )
    throw new Error('expected "account" to have records, certificates and "nextCertificate"')
  return {
    records: new Map(Object.entries(records as unknown as Record<Domain, DomainRecord>)),
    certificates: new Map(
      (certificates as unknown as Certificate[]).map((each) => [each.id, each]),
    ),
    nextCertificate,
  }
}

/** Tests whether a value is the part of a change that concerns the account. */
export function isAccountChange(data: Json): boolean {
  if (!isObject(data)) return false
  const { created, touched = [], removed = [], certificate, forgotten } = data
  return (
    (created === undefined ||
      (isObject(created) && typeof created['domain'] === 'string' && isKind(created))) &&
    [touched, removed].every(
      (list) => Array.isArray(list) && list.every((domain) => typeof domain === 'string'),
    ) &&
    (certificate === undefined || isCertificate(certificate)) &&
    (forgotten === undefined || typeof forgotten === 'number')
  )
}

function isRecord(data: Json): boolean {
  return (
    isObject(data) &&
    isKind(data) &&
    typeof data['removed'] === 'boolean' &&
    ['createdAt', 'changedAt'].every(
      (name) => data[name] === null || typeof data[name] === 'number',
    )
  )
}

function isKind(data: JsonObject): boolean {
  return (
    areas.some((area) => area === data['area']) && domainTypes.some((type) => type === data['type'])
  )
}

function isCertificate(data: Json): boolean {
  return (
    isObject(data) &&
    typeof data['id'] === 'number' &&
    typeof data['name'] === 'string' &&
    typeof data['certificate'] === 'string'
  )
}
