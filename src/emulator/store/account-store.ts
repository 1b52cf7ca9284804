import type { Certificate } from '../entities/certificate.ts'
import { defaultRecord, type DomainRecord } from '../entities/domain-record.ts'
import type { Domain, ItemKey, Value } from '../../model/item.ts'
import type { AccountMemory } from './account-memory.ts'
import type { DataLog } from './data-log.ts'

/** Domain to create, with its initial configuration. */
export interface NewDomain {
  domain: Domain
  area: DomainRecord['area']
  type: DomainRecord['type']
  id: string
  items: ReadonlyMap<ItemKey, Value>
}

/**
 * Domains and certificates of an extended service. Private keys are in this process only: a service
 * that has started again no longer knows them.
 */
export class AccountStore {
  readonly #log: DataLog
  readonly #keys = new Map<number, string>()

  constructor(log: DataLog) {
    this.#log = log
  }

  get #memory(): AccountMemory {
    return this.#log.memory.account
  }

  /** Returns the record of a domain; the default one if nothing is recorded. */
  getRecord(domain: Domain): DomainRecord {
    return this.#memory.records.get(domain) ?? defaultRecord
  }

  /** Lists all domains with a record, removed ones included. */
  listRecorded(): Domain[] {
    return [...this.#memory.records.keys()]
  }

  createDomain({ domain, area, type, id, items }: NewDomain, now: number): void {
    this.#log.commit({
      at: now,
      domains: { [domain]: { id, items: Object.fromEntries(items) } },
      account: { created: { domain, area, type } },
    })
  }

  /** Removes domains together with their configurations. */
  removeDomains(domains: Domain[], now: number): void {
    const emptied = domains.flatMap((domain) => {
      const data = this.#log.memory.domains.get(domain)
      if (data === undefined) return []
      const items = Object.fromEntries([...data.items.keys()].map((item) => [item, null]))
      return [[domain, { id: data.id, items }] as const]
    })
    this.#log.commit({
      at: now,
      domains: Object.fromEntries(emptied),
      account: { removed: domains },
    })
  }

  listCertificates(): Certificate[] {
    return [...this.#memory.certificates.values()]
  }

  /** Returns the private key of a certificate; empty if this process has not received it. */
  getKey(id: number): string {
    return this.#keys.get(id) ?? ''
  }

  /** Stores a new certificate, or replaces the one with this id, and returns its id. */
  saveCertificate(
    { id, name, certificate }: { id: number | undefined; name: string; certificate: string },
    key: string,
    now: number,
  ): number {
    const saved = { id: id ?? this.#memory.nextCertificate, name, certificate }
    this.#log.commit({ at: now, account: { certificate: saved } })
    this.#keys.set(saved.id, key)
    return saved.id
  }

  removeCertificate(id: number, now: number): void {
    this.#log.commit({ at: now, account: { forgotten: id } })
    this.#keys.delete(id)
  }

  /** Forgets all private keys. */
  forgetKeys(): void {
    this.#keys.clear()
  }
}
