import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import {
  createItemState,
  type Domain,
  type ItemState,
  type ItemKey,
  type Snapshot,
  type Value,
} from '../../src/core/model/item.ts'
import { isSameJson, type JsonObject } from '../../src/core/model/json.ts'
import type { Chance } from './chance.ts'

type Items = Map<ItemKey, Value | null>
type DomainKinds = Map<Domain, { kind: number; own: Items }>

const addresses = [
  '192.0.2.1',
  '192.0.2.2',
  '198.51.100.7',
  '10.0.0.0/8',
  '203.0.113.0/24',
  '203.0.114.9',
]
const headers = ['A', 'B', 'C', 'D', 'E', 'F']
/** Items whose entries can be added without sending the whole list. */
const listItems = ['ip_black_list', 'ip_white_list', 'add_response_head']
const urls = ['/a', '/b', '/c?x', '/d']

/** Draws values of items; null unsets an item. */
const values: Record<ItemKey, (chance: Chance) => Value | null> = {
  origin: (chance) => ({
    default_master: chance.pick(['192.0.2.10', '192.0.2.11', '192.0.2.10,192.0.2.11']),
    origin_mode: chance.pick(['https', 'http']),
  }),
  origin_host: (chance) =>
    chance.pick([{ host: 'one.example.net' }, { host: 'two.example.net' }, null]),
  https: (chance) => ({
    cert_id: chance.pick([1001, 1002]),
    force_https: chance.pick([0, 301]),
    // Fields that the service keeps when a payload omits them.
    ...(chance.happens(0.5) ? { http2: chance.pick(['on', 'off']) } : {}),
    ...(chance.happens(0.3) ? { ocsp: chance.pick(['on', 'off']) } : {}),
  }),
  ip_black_list: (chance) => ({
    list: fillEmpty(chance.some(addresses), addresses),
    mode: 'cover',
  }),
  ip_white_list: (chance) => ({
    list: fillEmpty(chance.some(addresses), addresses),
    mode: 'cover',
  }),
  add_response_head: (chance) => ({
    type: 'reset',
    list: fillEmpty(chance.some(headers), headers).map((name) => ({
      name,
      value: chance.pick(['1', '2']),
    })),
  }),
  visit_deny_whitelist: (chance) =>
    chance.happens(0.1)
      ? null
      : fillEmpty(chance.some(urls), urls).map((url) => ({ url, turn_on: true })),
  video_drag: (chance) =>
    chance.happens(0.2)
      ? null
      : { url: '.*', mp4: chance.pick(['on', 'off']), flv: 'on', start: 'start', end: 'end' },
  cache_rule_list: (chance) => [
    {
      match_method: 'ext',
      pattern: chance.pick(['jpg', 'png,gif']),
      expire: chance.pick([60, 3600]),
    },
  ],
  timeout: (chance) => ({ time: chance.pick(['10', '20', '30']) }),
}

/** More items without a documented reset, for manifests that unset such items. */
const deletedValues: typeof values = {
  connect_timeout: (chance) => ({ origin_connect_timeout: chance.pick(['5', '10']) }),
  client_real_ip: (chance) => ({ head: chance.pick(['X-One', 'X-Two']) }),
  compress_response: (chance) => ({
    content_type: chance.pick([['text/css'], ['text/css', 'text/html']]),
    min_size: 2,
    min_size_unit: 'KB',
  }),
}

export const itemKeys = Object.keys(values)

/**
 * Manifests that change over time: a few kinds of domains, and domains that differ slightly from
 * their kind.
 */
export class Workload {
  readonly domains: Domain[]
  readonly #chance: Chance
  readonly #items: ItemKey[]
  readonly #deletes: boolean
  #kinds: Items[]
  #domainKinds: DomainKinds
  /** Desired state until the next edit. */
  #desired: Snapshot | null = null
  /** Kinds before the last edit. */
  #previous: { kinds: Items[]; domainKinds: DomainKinds }

  /** @param deletes whether manifests unset items without a documented reset */
  constructor(chance: Chance, deletes = false) {
    this.#chance = chance
    this.#items = deletes ? [...itemKeys, ...Object.keys(deletedValues)] : itemKeys
    this.#deletes = deletes
    this.domains = Array.from(
      { length: chance.pick([2, 3, 5, 8, 12, 25]) },
      (_, i) => `d${i}.example.com`,
    )
    this.#kinds = Array.from({ length: chance.between(1, 3) }, () => this.#drawItems())
    const differs = chance.happens(0.7)
    this.#domainKinds = new Map(
      this.domains.map((domain) => {
        const kind = chance.between(0, this.#kinds.length - 1)
        const lists = [...(this.#kinds[kind]?.keys() ?? [])].filter(
          (item) => differs && listItems.includes(item),
        )
        return [domain, { kind, own: new Map(lists.map((item) => [item, this.#value(item)])) }]
      }),
    )
    this.#previous = { kinds: this.#kinds, domainKinds: this.#domainKinds }
  }

  /** Returns the current desired state. */
  desired(): Snapshot {
    this.#desired ??= new Map(
      [...this.#domainKinds].map(([domain, { kind, own }]) => {
        const items = compatible(new Map([...(this.#kinds[kind] ?? []), ...own]))
        return [
          domain,
          new Map([...items].map(([item, value]) => [item, createState(item, value)])),
        ]
      }),
    )
    return this.#desired
  }

  /** Reverts the last edit. */
  revert(): void {
    this.#desired = null
    const { kinds, domainKinds } = this.#previous
    this.#previous = { kinds: this.#kinds, domainKinds: this.#domainKinds }
    this.#kinds = kinds
    this.#domainKinds = domainKinds
  }

  /** Edits the manifests: kinds, single domains, managed items. */
  edit(): void {
    const chance = this.#chance
    this.#desired = null
    this.#previous = { kinds: this.#kinds, domainKinds: new Map(this.#domainKinds) }
    this.#kinds = this.#kinds.map((kind) => (chance.happens(0.6) ? this.#edited(kind) : kind))
    for (const [domain, { kind, own }] of this.#domainKinds) {
      if (chance.happens(0.1)) this.#domainKinds.set(domain, { kind, own: this.#edited(own) })
      if (chance.happens(0.05))
        this.#domainKinds.set(domain, { kind: chance.between(0, this.#kinds.length - 1), own })
    }
    if (chance.happens(0.7)) this.#addEverywhere(chance.pick(listItems))
  }

  /**
   * Adds the same entry to the list of every domain that has one, so that a plan may send a delta.
   */
  #addEverywhere(item: ItemKey): void {
    const chance = this.#chance
    const [address, header] = [chance.pick(addresses), { name: chance.pick(headers), value: '3' }]
    for (const [domain, { kind, own }] of this.#domainKinds) {
      const value = own.get(item) ?? this.#kinds[kind]?.get(item) ?? null
      if (
        value === null ||
        typeof value !== 'object' ||
        Array.isArray(value) ||
        !Array.isArray(value['list'])
      )
        continue
      const list = chance.happens(0.3) ? chance.some(value['list']) : value['list']
      const entries =
        item === 'add_response_head'
          ? [
              ...list.filter((entry) => !isSameJson((entry as JsonObject)['name'], header.name)),
              header,
            ]
          : [...list.filter((entry) => entry !== address), address]
      this.#domainKinds.set(domain, {
        kind,
        own: new Map([...own, [item, { ...value, list: entries }]]),
      })
    }
  }

  #drawItems(): Items {
    return new Map(this.#chance.some(this.#items, 0.35).map((item) => [item, this.#value(item)]))
  }

  #edited(items: Items): Items {
    const chance = this.#chance
    const edited = new Map(items)
    for (const item of items.keys()) {
      if (chance.happens(0.1)) edited.delete(item)
      else if (chance.happens(0.4)) edited.set(item, this.#value(item))
    }
    if (chance.happens(0.4)) {
      const item = chance.pick(this.#items)
      edited.set(item, this.#value(item))
    }
    return edited
  }

  #value(item: ItemKey): Value | null {
    // Without an origin, a change is destructive.
    const isDeleted = this.#deletes && item !== 'origin' && getItemSpec(item).unset === undefined
    if (isDeleted && this.#chance.happens(0.4)) return null
    return (values[item] ?? deletedValues[item])?.(this.#chance) ?? null
  }
}

/** Removes one of the two IP lists, which clear each other and may not be in one manifest. */
function compatible(items: Items): Items {
  if (items.has('ip_black_list')) items.delete('ip_white_list')
  return items
}

function createState(item: ItemKey, value: Value | null): ItemState {
  return value === null
    ? { status: 'unset', candidates: [] }
    : createItemState(getItemSpec(item).canonicalize(value))
}

function fillEmpty<T>(some: T[], all: readonly T[]): T[] {
  return some.length > 0 ? some : all.slice(0, 1)
}
