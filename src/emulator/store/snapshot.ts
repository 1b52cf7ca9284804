import { catalogue } from '../../catalog/catalogue.ts'
import { isObject, getOwn, type Json, type JsonObject } from '../../model/json.ts'
import type { Behaviour } from '../entities/behaviour.ts'
import type { EmulatedDomain } from '../entities/emulated-domain.ts'
import type { Prefetch } from '../entities/prefetch.ts'
import type { Timeline } from '../entities/timeline.ts'
import { formatAccount, parseAccount } from './account-memory.ts'
import { createMemory, type Memory } from './memory.ts'

export const format = 'edgewise.emulator/2'
/** Format without statistics and prefetches. */
export const olderFormat = 'edgewise.emulator/1'

/** Formats the memory as the first line of a data file. */
export function formatSnapshot({ domains, account, ...rest }: Memory): string {
  const entries = [...domains].map(([domain, { id, items, behaviour }]) => [
    domain,
    { id, items: Object.fromEntries(items), behaviour },
  ])
  const data = { format, ...rest, ...formatAccount(account) }
  return `${JSON.stringify({ ...data, domains: Object.fromEntries(entries) as Json })}\n`
}

/** Parses a snapshot. Throws an Error that states what was expected. */
export function parseSnapshot(data: JsonObject): Memory {
  const domains = getOwn(data, 'domains')
  const writeTimes = getOwn(data, 'writeTimes')
  if (!isObject(domains)) throw new Error('expected "domains" to be an object')
  if (!Array.isArray(writeTimes) || !writeTimes.every((time) => typeof time === 'number')) {
    throw new Error('expected "writeTimes" to be a list of numbers')
  }
  const entries = new Map(
    Object.entries(domains).map(([domain, record]) => [domain, parseDomain(domain, record)]),
  )
  if (getOwn(data, 'format') === olderFormat)
    return { ...createMemory(), domains: entries, writeTimes }
  const prefetches = getOwn(data, 'prefetches')
  if (!Array.isArray(prefetches) || !prefetches.every(isPrefetch))
    throw new Error('expected "prefetches" to be a list of records')
  const { nextPrefetch, nextTask, dead } = data
  if (typeof nextPrefetch !== 'number' || typeof nextTask !== 'number')
    throw new Error('expected "nextPrefetch" and "nextTask" to be numbers')
  if (!isTimeline(dead)) throw new Error('expected "dead" to be a list of minutes and addresses')
  return {
    domains: entries,
    writeTimes,
    prefetches: prefetches as unknown as Prefetch[],
    nextPrefetch,
    nextTask,
    dead: dead as unknown as Timeline<string[]>,
    account: parseAccount(getOwn(data, 'account')),
  }
}

function parseDomain(domain: string, record: Json): EmulatedDomain {
  const id = isObject(record) ? getOwn(record, 'id') : undefined
  const items = isObject(record) ? getOwn(record, 'items') : undefined
  const behaviour = isObject(record) ? (getOwn(record, 'behaviour') ?? []) : []
  if (typeof id !== 'string' || !isObject(items))
    throw new Error(`expected "${domain}" to have an "id" and "items"`)
  if (!isTimeline(behaviour))
    throw new Error(`expected "behaviour" of "${domain}" to be a list of minutes and values`)
  refuseUnknownItems(domain, items)
  return {
    id,
    items: new Map(Object.entries(items)),
    behaviour: behaviour as unknown as Timeline<Behaviour>,
  }
}

/** Throws an Error that names an item missing from the catalogue. */
export function refuseUnknownItems(domain: string, items: JsonObject): void {
  const unknown = Object.keys(items).find((item) => !catalogue.has(item))
  if (unknown !== undefined) throw new Error(`"${domain}" has "${unknown}", which is not an item`)
}

function isPrefetch(record: Json): boolean {
  if (!isObject(record)) return false
  return (
    typeof record['url'] === 'string' &&
    ['id', 'task', 'createdAt'].every((name) => typeof record[name] === 'number')
  )
}

function isTimeline(value: Json | undefined): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (entry) => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'number',
    )
  )
}
