import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import type { Visitor } from '../../src/core/trace/request.ts'

/** Facts of a request; a text is its URL. */
type Facts = string | JsonObject

/** Requests with the same facts and settings, and what is expected of their traces. */
interface Part {
  request?: Facts
  assume?: JsonObject
  visitor?: Visitor
  /** What is expected of the trace with just these facts. */
  expect?: JsonObject
  /** The fact or the reading that the table varies, without it the URL. */
  by?: string
  /** The path or the paths of the answers in the table; without it each row names its own. */
  asks?: string | string[]
  /** What is expected with each value of the fact. */
  table?: Record<string, Json>
  /** Parts with more facts and settings. */
  cases?: Part[]
}

/** Cases of one configuration. All items that it does not name are absent. */
export interface Group extends Part {
  name: string
  domain?: string
  items?: JsonObject
  candidates?: Record<string, Json[]>
  /** Items without a value: unknown, unless `assume` says something else of them. */
  unmanaged?: string[]
  base?: 'none'
  timezone?: string
  /** Requests that are refused. */
  errors?: Facts[]
}

/** A request, what is expected of its trace, and its settings. */
export interface Case {
  request: JsonObject
  assume?: JsonObject
  visitor?: Visitor | undefined
  expect: JsonObject
}

/** Loads a file of cases. */
export function loadGroups(file: URL): Group[] {
  return parse(readFileSync(file, 'utf8'), { merge: true }) as Group[]
}

/** Lists the cases of a part, each row of its table as one. */
export function listCases(part: Part, above?: Part['asks']): Case[] {
  const { expect: alone, by = 'url', asks = above, table = {}, cases = [] } = part
  const rows = Object.entries(table).map(([key, answer]): Case => {
    // A key that is null is an empty text.
    const value = /^\d+$/.test(key) ? Number(key) : key === '' ? null : key
    const fact = by.split('.').reduceRight<Json>((inner, step) => ({ [step]: inner }), value)
    const paths = Array.isArray(asks) ? asks.map((path, i) => [path, (answer as Json[])[i]]) : null
    const expected = asks === undefined ? answer : Object.fromEntries(paths ?? [[asks, answer]])
    return {
      request: {},
      [/^R\d/.test(by) ? 'assume' : 'request']: fact,
      expect: expected as JsonObject,
    }
  })
  const first = alone === undefined ? [] : [{ request: {}, expect: alone }]
  const all: Case[] = [...first, ...rows, ...cases.flatMap((inner) => listCases(inner, asks))]
  return all.map(({ request, assume, visitor = part.visitor, ...each }) => ({
    ...each,
    request: addFacts(readFacts(part.request ?? {}), request),
    assume: { ...part.assume, ...assume },
    visitor,
  }))
}

export function readFacts(facts: Facts): JsonObject {
  return typeof facts === 'string' ? { url: facts } : facts
}

/** Adds facts to others, also to headers and what is known of the origin. */
function addFacts(before: JsonObject, more: JsonObject): JsonObject {
  const added = Object.entries(more).map(([key, value]) => {
    const old = before[key]
    return [key, isObject(old) && isObject(value) ? addFacts(old, value) : value]
  })
  return { ...before, ...(Object.fromEntries(added) as JsonObject) }
}
