import { describe, expect, it } from 'vitest'
import type { Transport } from '../../src/service/transport.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { buildAnswer, createTestClient, type CannedAnswer } from './query-world.ts'

const name = (i: number) => `d${i}.example.com`
const names = (count: number) => Array.from({ length: count }, (_, i) => name(i))

/** Answers each query with the configurations of its domains. */
function answerAll(config: (domain: string) => unknown): Transport {
  return async ({ url }) => {
    const domains = new URL(url).searchParams.get('domains')?.split(',') ?? []
    const data = domains.map((domain) => ({ domain, config: config(domain) }))
    return buildAnswer({ body: { code: 0, data } })
  }
}

const answerWith =
  (canned: CannedAnswer): Transport =>
  async () =>
    buildAnswer(canned)

async function collect({ queries }: ReturnType<typeof createTestClient>, domains: string[]) {
  const found = new Map<string, unknown>()
  for await (const { results } of queries.queryConfigs(domains))
    for (const { domain, config } of results) found.set(domain, config)
  return found
}

describe('queries of the stored configuration', () => {
  it('ask for ten domains at a time', async () => {
    const client = createTestClient(answerAll((domain) => ({ origin: { default_master: domain } })))
    const found = await collect(client, names(23))
    expect(found.size).toBe(23)
    expect(found.get(name(22))).toEqual({ origin: { default_master: name(22) } })
    const sizes = client.requests.map(({ query }) => query['domains']?.split(',').length)
    expect(sizes.toSorted((a = 0, b = 0) => a - b)).toEqual([3, 10, 10])
    expect(client.requests[0]?.url).toContain('/v2/domain/config?domains=')
    expect(client.requests.every(({ body }) => body === undefined)).toBe(true)
  })

  it('take an empty list for a configuration without items', async () => {
    const found = await collect(createTestClient(answerAll(() => [])), [name(0)])
    expect(found).toEqual(new Map([[name(0), {}]]))
  })

  it('leave out a domain that the account does not have', async () => {
    const empty = createTestClient(answerWith({ body: { code: 0, data: [] } }))
    expect(await collect(empty, names(2))).toEqual(new Map())
    const refusing: Transport = async (request) => {
      const domains = new URL(request.url).searchParams.get('domains') ?? ''
      return domains.split(',').includes(name(3))
        ? buildAnswer({ status: 400, body: { code: 400_101, message: 'invalid domain' } })
        : answerAll(() => ({}))(request)
    }
    const found = await collect(createTestClient(refusing), names(10))
    expect([...found.keys()]).toEqual(names(10).filter((domain) => domain !== name(3)))
  })

  it('send at most so many in any minute, counted from the answers', async () => {
    const sent: number[] = []
    const client = createTestClient(async (request) => {
      sent.push(client.clock.monotonic())
      return answerAll(() => ({}))(request)
    })
    const begin = client.clock.monotonic()
    const found = await client.clock.drive(collect(client, names(650)))
    expect(found.size).toBe(650)
    expect(sent).toHaveLength(65)
    for (const [i, at] of sent.entries()) {
      const later = sent[i + 30]
      if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(60_000)
    }
    expect((sent.at(-1) ?? 0) - begin).toBeLessThan(180_000)
  })

  it.each([
    ['an object', { www: 1 }],
    ['another domain', [{ domain: 'other.example.com', config: { key: 'hunter2' } }]],
    ['a domain twice', [0, 0].map(() => ({ domain: name(0), config: { key: 'hunter2' } }))],
    ['no domain', [{ config: { key: 'hunter2' } }]],
    ['a configuration that is none', [{ domain: name(0), config: 'hunter2' }]],
  ])('refuse %s, and quote nothing of it', async (_what, data) => {
    const client = createTestClient(answerWith({ body: { code: 0, data } }))
    const error: unknown = await collect(client, [name(0)]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EdgewiseError)
    expect(error).toMatchObject({ code: 'answer-invalid' })
    expect(String(error)).not.toContain('hunter2')
  })

  it('explain an account that does not offer them', async () => {
    const client = createTestClient(
      answerWith({ status: 403, body: { code: 401_006, message: 'no permission' } }),
    )
    await expect(collect(client, [name(0)])).rejects.toMatchObject({
      code: 'access',
      message: expect.stringContaining('service.readBack'),
    })
  })
})
