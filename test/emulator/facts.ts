import { expect } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { ascending, byLabel, seriesIn, summed } from './series.ts'

/** What a conformance case says about an answer. */
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

/** What facts refer to beside the answer. */
interface Around {
  state(): Promise<Json>
  held: JsonObject
  answerTo(id: string): Promise<Json>
}

type Judges = {
  [K in keyof Facts]-?: (fact: NonNullable<Facts[K]>, answer: Answer, around: Around) => unknown
}

/**
 * What each fact means for an answer; `repeat`, `first_ok`, `fresh_limit` and `needs_task` shape
 * the setting.
 */
const judges: Judges = {
  http_in: (statuses, { status }) => expect(statuses).toContain(status),
  message_nonempty: (_, { body }) =>
    expect(body).toMatchObject({ message: expect.stringMatching(/./) as string }),
  message: (message, { body }) => expect(body).toMatchObject({ message }),
  message_has: (pattern, { body }) =>
    expect(body).toMatchObject({
      message: expect.stringMatching(new RegExp(pattern, 'i')) as string,
    }),
  nothing_saved: async (_, _answer, { state, held }) => expect(await state()).toEqual(held),
  config_equals: (config, { body }) => expect(dataOf(body)['config']).toEqual(config),
  config_keys: (keys, { body }) =>
    expect(Object.keys(dataOf(body)['config'] ?? {}).toSorted()).toEqual(keys),
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
    expect(Object.keys(dataOf(body)).toSorted()).toEqual(domains.toSorted())
    for (const domain of domains) expect(dataOf(body)[domain]).toMatchObject({ domain })
  },
  step: (step, { body }) =>
    expect(labelsIn(body).filter((label) => label % step !== 0)).toEqual([]),
  label_time: (time, { body }) =>
    expect(new Set(labelsIn(body).map((label) => textOf(label).slice(11)))).toEqual(
      new Set([time]),
    ),
  // The emulator's series are dense: these bounds are reached.
  first_label: (label, { body }) => expect(textOf(labelsIn(body)[0] ?? 0)).toBe(label),
  last_label: (label, { body }) => expect(textOf(labelsIn(body).at(-1) ?? 0)).toBe(label),
  max_points: (most, { body }) =>
    seriesIn(body).forEach((points) => expect(points.length).toBe(most)),
  ascending: (_, { body }) =>
    seriesIn(body).forEach((points) => expect(ascending(points)).toBe(true)),
  rebin_of: async (id, { body }, { answerTo }) => {
    const fine = seriesIn(await answerTo(id))
    seriesIn(body).forEach((points, i) => {
      const step = (points[1]?.[0] ?? (points[0]?.[0] ?? 0) + 86_400) - (points[0]?.[0] ?? 0)
      expect(byLabel(points)).toEqual(summed(fine[i] ?? [], step))
    })
  },
  page_number: (number, { body }) => expect(dataOf(body)['page_number']).toBe(number),
  list_max: (most, { body }) => expect(recordsIn(body).length).toBeLessThanOrEqual(most),
  total_int: (_, { body }) => expect(Number.isInteger(dataOf(body)['total'])).toBe(true),
  records: (_, { body }) => {
    const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/
    for (const { id, url, status, create_time, complete_time } of recordsIn(body)) {
      expect(Number.isInteger(id) && typeof url === 'string').toBe(true)
      expect(['completed', 'waiting', 'processing', 'failed']).toContain(status)
      expect(create_time).toMatch(time)
      expect(complete_time).toMatch(status === 'completed' ? time : /^$/)
    }
  },
  needs_task: (_, { body }) => expect(dataOf(body)['total']).toBe(2),
  if_ok: (facts, answer, around) =>
    isObject(answer.body) && answer.body['code'] === 0 ? judge(facts, answer, around) : undefined,
}

/** Holds an answer to the facts of a case. */
export async function judge(facts: Facts, answer: Answer, around: Around): Promise<void> {
  for (const [name, fact] of Object.entries(facts)) {
    const holds = judges[name as keyof Facts] as
      | ((fact: unknown, answer: Answer, around: Around) => unknown)
      | undefined
    if (holds === undefined) throw new Error(`there is no judge for the fact "${name}"`)
    await holds(fact, answer, around)
  }
}

function dataOf(body: Json): JsonObject {
  const data = isObject(body) ? body['data'] : undefined
  if (data === undefined || !isObject(data))
    throw new Error(`expected data in the answer, got ${JSON.stringify(body)}`)
  return data
}

function recordsIn(body: Json): JsonObject[] {
  return dataOf(body)['list'] as JsonObject[]
}

function labelsIn(body: Json): number[] {
  return (seriesIn(body)[0] ?? []).map(([label]) => label)
}

function textOf(label: number): string {
  return new Date(label * 1000).toISOString().slice(0, 16).replace('T', ' ')
}
