import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { EmulatorAnswer } from '../../src/emulator/routes/exchange.ts'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { world, type World } from './world.ts'

interface RequestCase {
  id: string
  method: string
  path: string
  query: Record<string, string>
  body: JsonObject
  encoding?: 'form' | 'multipart'
  http: number | null
  code: number | 'nonzero' | null
  facts: Facts
  rule: string
}

interface Facts {
  http_in?: number[]
  message_nonempty?: true
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
}

/** What each fact means for an answer; `repeat`, `first_ok` and `fresh_limit` shape the sending. */
const judges: { [K in keyof Facts]-?: (fact: NonNullable<Facts[K]>, answer: EmulatorAnswer & { body: Json }, service: World) => unknown } =
  {
    http_in: (statuses, { status }) => expect(statuses).toContain(status),
    message_nonempty: (_, { body }) => expect(body).toMatchObject({ message: expect.stringMatching(/./) as string }),
    nothing_saved: async (_, _answer, service) => expect(await service.state()).toEqual({ 'a.example.com': held }),
    config_equals: (config, { body }) => expect(configOf(body)).toEqual(config),
    config_keys: (keys, { body }) => expect(Object.keys(configOf(body)).toSorted()).toEqual(keys),
    domains_place: (_, { body }) => {
      expect(body).toHaveProperty('domains')
      expect(body).not.toHaveProperty('data.domains')
    },
    headers: (names, { headers }) => expect(Object.keys(headers)).toEqual(expect.arrayContaining(names)),
    header_in: (sets, { headers }) => Object.entries(sets).forEach(([name, set]) => expect(set).toContain(headers[name])),
    header_int: (names, { headers }) => names.forEach((name) => expect(headers[name]).toMatch(/^\d+$/)),
    repeat: () => {},
    first_ok: () => {},
    fresh_limit: () => {},
  }

const held = { timeout: { time: '61' }, origin_host: { host: 'held.example.com' }, https: { cert_id: 7, force_https: 0 } }

const cases = ['endpoints.json', 'own-requests.json']
  .flatMap((name) => JSON.parse(readFileSync(new URL(`../conformance/${name}`, import.meta.url), 'utf8')) as RequestCase[])
  .filter(({ path }) => path.endsWith('/domain/config'))

describe('POST /domain/config', () => {
  it.each(cases)('$id: $rule', async ({ method, path, query, body, encoding, http, code, facts }) => {
    const service = world({ domains: 'abcdefghij'.split('').map((letter) => `${letter}.example.com`), callsPerMinute: 30 })
    await service.write(held, 'a.example.com')
    if (facts.fresh_limit) await service.request({ path: '/_emulator/reset' })
    const request = { method, path, query: String(new URLSearchParams(query)), ...(await encoded(body, encoding)) }

    const repeat = facts.repeat ?? 1
    for (let n = 1; n < repeat; n++) {
      const { status, body: answer } = await service.request(request)
      if (n <= (facts.first_ok ?? 0)) expect({ n, status, answer }).toMatchObject({ status: 200, answer: { code: 0 } })
    }
    const answer = await service.request(request)

    if (http !== null) expect(answer).toMatchObject({ status: http })
    if (code === 'nonzero') expect(isObject(answer.body) && answer.body['code']).not.toBe(0)
    else if (code !== null) expect(answer.body).toMatchObject({ code })
    expect(isObject(answer.body) && answer.body['code']).toBeTypeOf('number')
    for (const [name, fact] of Object.entries(facts)) {
      const judge = judges[name as keyof Facts] as
        | ((fact: unknown, answer: EmulatorAnswer & { body: Json }, service: World) => unknown)
        | undefined
      if (judge === undefined) throw new Error(`there is no judge for the fact "${name}"`)
      await judge(fact, answer, service)
    }
  })
})

async function encoded(body: JsonObject, encoding: RequestCase['encoding']): Promise<{ contentType: string; body: Uint8Array | string }> {
  if (encoding === undefined) return { contentType: 'application/json', body: JSON.stringify(body) }
  const form = encoding === 'form' ? new URLSearchParams() : new FormData()
  for (const [name, value] of Object.entries(body)) form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  const response = new Response(form)
  return { contentType: response.headers.get('content-type') ?? '', body: new Uint8Array(await response.arrayBuffer()) }
}

function configOf(body: Json): JsonObject {
  const data = isObject(body) ? body['data'] : undefined
  const config = data !== undefined && isObject(data) ? data['config'] : undefined
  if (config === undefined || !isObject(config)) throw new Error(`expected data.config in the answer, got ${JSON.stringify(body)}`)
  return config
}
