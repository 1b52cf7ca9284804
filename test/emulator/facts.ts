import { expect } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { isAscending, indexByLabel, parseSeries, sumBySteps } from './series.ts'

/** Facts of a conformance case about an answer. */
export interface Facts {
  http_in?: number[]
  message_nonempty?: true
  message?: string
  message_has?: string
  nothing_saved?: true
  config_equals?: JsonObject
  config_keys?: string[]
  domains_place?: 'top'
  headers?: string[]
  header_in?: Record<string, string[]>
  header_int?: string[]
  repeat?: number
  first_ok?: number
  fresh_limit?: true
  series?: 'each' | 'sum'
  keys?: string[]
  step?: number
  label_time?: string
  first_label?: string
  last_label?: string
  max_points?: number
  ascending?: true
  rebin_of?: string
  page_number?: number
  list_max?: number
  total_int?: true
  records?: true
  needs_task?: number
  if_ok?: Facts
}

interface Answer {
  status: number
  headers: Record<string, string>
  body: Json
}

/** Context of the facts beside the answer. */
interface Context {
  state(): Promise<Json>
  stored: JsonObject
  answerTo(id: string): Promise<Json>
}

type Judges = {
  [K in keyof Facts]-?: (fact: NonNullable<Facts[K]>, answer: Answer, context: Context) => unknown
}

/** Check of each fact; `repeat`, `first_ok`, `fresh_limit` and `needs_task` shape the setting. */
const judges: Judges = {
  http_in: (statuses, { status }) => expect(statuses).toContain(status),
  message_nonempty: (_, { body }) =>
    expect(body).toMatchObject({ message: expect.stringMatching(/./) as string }),
  message: (message, { body }) => expect(body).toMatchObject({ message }),
  message_has: (pattern, { body }) =>
    expect(body).toMatchObject({
      message: expect.stringMatching(new RegExp(pattern, 'i')) as string,
    }),
  nothing_saved: async (_, _answer, { state, stored }) => expect(await state()).toEqual(stored),
  config_equals: (config, { body }) => expect(parseData(body)['config']).toEqual(config),
  config_keys: (keys, { body }) =>
    expect(Object.keys(parseData(body)['config'] ?? {}).toSorted()).toEqual(keys),
  domains_place: (_, { body }) => {
    expect(body).toHaveProperty('domains')
    expect(body).not.toHaveProperty('data.domains')
  },
  headers: (names, { headers }) =>
    expect(Object.keys(headers)).toEqual(expect.arrayContaining(names)),
  header_in: (sets, { headers }) =>
    Object.entries(sets).forEach(([name, set]) => expect(set).toContain(headers[name])),
  header_int: (names, { headers }) =>
    names.forEach((name) => expect(headers[name]).toMatch(/^\d+$/)),
  repeat: () => {},
  first_ok: () => {},
  fresh_limit: () => {},
  series: (kind, { body }) =>
    expect(Array.isArray(isObject(body) ? body['data'] : null)).toBe(kind === 'sum'),
  keys: (domains, { body }) => {
    expect(Object.keys(parseData(body)).toSorted()).toEqual(domains.toSorted())
    for (const domain of domains) expect(parseData(body)[domain]).toMatchObject({ domain })
  },
  step: (step, { body }) =>
    expect(parseLabels(body).filter((label) => label % step !== 0)).toEqual([]),
  label_time: (time, { body }) =>
    expect(new Set(parseLabels(body).map((label) => formatLabel(label).slice(11)))).toEqual(
      new Set([time]),
    ),
  // The series of the emulator are dense: these bounds are reached.
  first_label: (label, { body }) => expect(formatLabel(parseLabels(body)[0] ?? 0)).toBe(label),
  last_label: (label, { body }) => expect(formatLabel(parseLabels(body).at(-1) ?? 0)).toBe(label),
  max_points: (max, { body }) =>
    parseSeries(body).forEach((points) => expect(points.length).toBe(max)),
  ascending: (_, { body }) =>
    parseSeries(body).forEach((points) => expect(isAscending(points)).toBe(true)),
  rebin_of: async (id, { body }, { answerTo }) => {
    const fine = parseSeries(await answerTo(id))
    parseSeries(body).forEach((points, i) => {
      const step = (points[1]?.[0] ?? (points[0]?.[0] ?? 0) + 86_400) - (points[0]?.[0] ?? 0)
      expect(indexByLabel(points)).toEqual(sumBySteps(fine[i] ?? [], step))
    })
  },
  page_number: (number, { body }) => expect(parseData(body)['page_number']).toBe(number),
  list_max: (max, { body }) => expect(parseRecords(body).length).toBeLessThanOrEqual(max),
  total_int: (_, { body }) => expect(Number.isInteger(parseData(body)['total'])).toBe(true),
  records: (_, { body }) => {
    const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
    for (const { id, url, status, create_time, complete_time } of parseRecords(body)) {
      expect(Number.isInteger(id) && typeof url === 'string').toBe(true)
      expect(['completed', 'waiting', 'processing', 'failed']).toContain(status)
      expect(create_time).toMatch(time)
      expect(complete_time).toMatch(status === 'completed' ? time : /^$/)
    }
  },
  needs_task: (_, { body }) => expect(parseData(body)['total']).toBe(2),
  if_ok: (facts, answer, context) =>
    isObject(answer.body) && answer.body['code'] === 0 ? judge(facts, answer, context) : undefined,
}

/** Checks an answer against the facts of a case. */
export async function judge(facts: Facts, answer: Answer, context: Context): Promise<void> {
  for (const [name, fact] of Object.entries(facts)) {
    const holds = judges[name as keyof Facts] as
      | ((fact: unknown, answer: Answer, context: Context) => unknown)
      | undefined
    if (holds === undefined) throw new Error(`there is no judge for the fact "${name}"`)
    await holds(fact, answer, context)
  }
}

function parseData(body: Json): JsonObject {
  const data = isObject(body) ? body['data'] : undefined
  if (data === undefined || !isObject(data))
    throw new Error(`expected data in the answer, got ${JSON.stringify(body)}`)
  return data
}

function parseRecords(body: Json): JsonObject[] {
  return parseData(body)['list'] as JsonObject[]
}

function parseLabels(body: Json): number[] {
  return (parseSeries(body)[0] ?? []).map(([label]) => label)
}

function formatLabel(label: number): string {
  return new Date(label * 1000).toISOString().slice(0, 16).replace('T', ' ')
}
