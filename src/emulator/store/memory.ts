import { catalogue } from '../../core/catalog/catalogue.ts'
import type { Domain, ItemKey, Value } from '../../core/model/item.ts'
import { escapeJson, isObject, type Json, type JsonObject } from '../../core/model/json.ts'
import type { Behaviour } from '../entities/behaviour.ts'
import type { DomainRecord } from '../entities/domain-record.ts'
import type { Prefetch } from '../entities/prefetch.ts'
import type { Timeline } from '../entities/timeline.ts'

/** Data of one domain at the service. */
export interface EmulatedDomain {
  /** Assigned at the first write and never changed. */
  id: string
  items: ReadonlyMap<ItemKey, Value>
  /** Behaviour of its configurations over time. */
  behaviour: Timeline<Behaviour>
}

/** A certificate as it is kept; its private key is kept apart, and never written to a file. */
export interface Certificate {
  id: number
  name: string
  /** Text of the certificate, as submitted. */
  certificate: string
}

/** All data that outlives the process if a data file is configured. */
export interface Memory {
  /** Every domain that was ever written. */
  domains: Map<Domain, EmulatedDomain>
  /** Times of the counted writes of the last minute, ms. */
  writeTimes: number[]
  prefetches: Prefetch[]
  /** Id of the next prefetch record, and of the next task without an id. */
  nextPrefetch: number
  nextTask: number
  /** Origins that did not answer, over time. */
  dead: Timeline<string[]>
  /** Domains and certificates of an extended service; empty at one of the specification. */
  records: Map<Domain, DomainRecord>
  certificates: Map<number, Certificate>
  nextCertificate: number
}

const format = 'edgewise.emulator/1'

/** Creates an empty memory. */
export function createMemory(): Memory {
  return {
    domains: new Map(),
    writeTimes: [],
    prefetches: [],
    nextPrefetch: 1,
    nextTask: 1,
    dead: [],
    records: new Map(),
    certificates: new Map(),
    nextCertificate: 1,
  }
}

/** Formats the memory as the text of a data file. */
export function formatMemory(memory: Memory): string {
  const toJson = (_: string, value: unknown) =>
    value instanceof Map ? (Object.fromEntries(value) as JsonObject) : value
  return `${escapeJson(JSON.stringify({ format, ...memory }, toJson))}\n`
}

/** Parses the text of a data file. Throws an Error that states what was expected. */
export function parseMemory(text: string): Memory {
  const data = parseJson(text)
  const found = isObject(data) ? data['format'] : undefined
  if (!isObject(data) || found !== format)
    throw new Error(`expected "format": "${format}", got ${JSON.stringify(found ?? null)}`)
  const memory = createMemory()
  for (const [name, empty] of Object.entries(memory)) {
    const value = data[name] ?? null
    const isMap = empty instanceof Map
    const isKind = Array.isArray(empty) ? Array.isArray(value) : typeof value === typeof empty
    if (!isKind || isMap !== isObject(value)) throw new Error(`expected a valid "${name}"`)
    if (!isMap) Object.assign(memory, { [name]: value })
  }
  const { domains, records, certificates } = data as Record<string, JsonObject>
  memory.domains = new Map(Object.entries(domains ?? {}).map(parseDomain))
  memory.records = toMap<DomainRecord>(records)
  for (const each of toMap<Certificate>(certificates).values())
    memory.certificates.set(each.id, each)
  return memory
}

function parseDomain([domain, data]: [Domain, Json]): [Domain, EmulatedDomain] {
  const { id, items, behaviour } = isObject(data) ? data : ({} as JsonObject)
  if (typeof id !== 'string' || items === undefined || !isObject(items))
    throw new Error(`expected "${domain}" to have an "id" and "items"`)
  if (!Array.isArray(behaviour)) throw new Error(`expected "${domain}" to have a "behaviour"`)
  const unknown = Object.keys(items).find((item) => !catalogue.has(item))
  if (unknown !== undefined) throw new Error(`"${domain}" has "${unknown}", which is not an item`)
  const timeline = behaviour as unknown as Timeline<Behaviour>
  return [domain, { id, items: new Map(Object.entries(items)), behaviour: timeline }]
}

function toMap<T>(values: JsonObject | undefined): Map<string, T> {
  return new Map(Object.entries((values ?? {}) as unknown as Record<string, T>))
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The message of the parser quotes the file, which contains secrets.
    if (error instanceof SyntaxError) throw new Error('it is not whole JSON', { cause: error })
    throw error
  }
}
