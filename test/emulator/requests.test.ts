import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { judge, type Facts } from './facts.ts'
import { createWorld, type World } from './world.ts'

interface RequestCase {
  id: string
  method: string
  path: string
  query: Record<string, string>
  body: JsonObject | null
  encoding?: 'form' | 'multipart'
  http: number | null
  code: number | 'nonzero' | null
  facts: Facts
  rule: string
}

const stored = {
  timeout: { time: '61' },
  origin_host: { host: 'held.example.com' },
  https: { cert_id: 7, force_https: 0 },
}

const cases = ['endpoints.json', 'own-requests.json'].flatMap(
  (name) =>
    JSON.parse(
      readFileSync(new URL(`../conformance/${name}`, import.meta.url), 'utf8'),
    ) as RequestCase[],
)

/** Creates the setting of the cases: ten domains, and task 1001 with two URLs. */
async function createSetting(): Promise<World> {
  const service = createWorld({
    domains: 'abcdefghij'.split('').map((letter) => `${letter}.example.com`),
    callsPerMinute: 30,
  })
  await service.write(stored, 'a.example.com')
  await service.postControl('prefetch', {
    task_id: 1001,
    urls: ['http://a.example.com/1.mp4', 'http://a.example.com/2.mp4'],
  })
  return service
}

/** Returns the answer to another case, by its id. */
async function loadAnswer(id: string): Promise<Json> {
  const other = cases.find((each) => each.id === id)
  if (other === undefined) throw new Error(`there is no case "${id}"`)
  const { method, path, query } = other
  return (
    await (
      await createSetting()
    ).request({ method, path, query: String(new URLSearchParams(query)) })
  ).body
}

describe('requests and their answers', () => {
  it.each(cases)(
    '$id: $rule',
    async ({ method, path, query, body, encoding, http, code, facts }) => {
      const service = await createSetting()
      if (facts.fresh_limit) await service.request({ path: '/_emulator/reset' })
      const request = {
        method,
        path,
        query: String(new URLSearchParams(query)),
        ...(await encode(body, encoding)),
      }

      const repeat = facts.repeat ?? 1
      for (let n = 1; n < repeat; n++) {
        const { status, body: answer } = await service.request(request)
        if (n <= (facts.first_ok ?? 0))
          expect({ n, status, answer }).toMatchObject({ status: 200, answer: { code: 0 } })
      }
      const answer = await service.request(request)

      if (http !== null) expect(answer).toMatchObject({ status: http })
      if (code === 'nonzero') expect(isObject(answer.body) && answer.body['code']).not.toBe(0)
      else if (code !== null) expect(answer.body).toMatchObject({ code })
      expect(isObject(answer.body) && answer.body['code']).toBeTypeOf('number')
      await judge(facts, answer, {
        state: () => service.state(),
        stored: { 'a.example.com': stored },
        answerTo: loadAnswer,
      })
    },
  )
})

async function encode(
  body: JsonObject | null,
  encoding: RequestCase['encoding'],
): Promise<{ contentType: string; body: Uint8Array | string }> {
  if (body === null) return { contentType: '', body: '' }
  if (encoding === undefined) return { contentType: 'application/json', body: JSON.stringify(body) }
  const form = encoding === 'form' ? new URLSearchParams() : new FormData()
  for (const [name, value] of Object.entries(body))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  const response = new Response(form)
  return {
    contentType: response.headers.get('content-type') ?? '',
    body: new Uint8Array(await response.arrayBuffer()),
  }
}
