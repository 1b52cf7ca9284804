import { describe, expect, it } from 'vitest'
import type { Transport } from '../../src/service/transport.ts'
import { createWorld } from '../emulator/world.ts'
import { buildAnswer, createTestClient, createEmulatorTransport, token } from './query-world.ts'

const url = 'https://a.example.com/a.mp4'
const record = (id: unknown, more: object = {}) => ({
  id,
  url,
  status: 'waiting',
  create_time: '2026-11-20 08:00:00',
  complete_time: '',
  ...more,
})

/** A service with pages made by hand. */
function pages(
  pageOf: (
    number: number,
    size: number,
  ) => { total: unknown; list: unknown; page_number?: unknown },
): Transport {
  return async ({ url: address }) => {
    const query = new URL(address).searchParams
    const number = Number(query.get('page_number'))
    return buildAnswer({
      body: {
        code: 0,
        message: '',
        data: { page_number: number, ...pageOf(number, Number(query.get('page_size'))) },
      },
    })
  }
}

async function all(
  transport: Transport,
  timezone = 'UTC',
  query: Parameters<ReturnType<typeof createTestClient>['queries']['queryPrefetches']>[0] = {
    task: '1001',
  },
) {
  const { queries, clock, requests } = createTestClient(transport, { timezone })
  return { ...(await clock.drive(queries.queryPrefetches(query))), requests }
}

async function failure(transport: Transport): Promise<string> {
  return all(transport).then(
    () => 'no failure',
    (error: Error) => error.message,
  )
}

describe('prefetch records', () => {
  it('of the emulator are queried to the last page, in both ways', async () => {
    const service = createWorld({ token, timezone: 'Asia/Shanghai' })
    await service.postControl('prefetch', {
      task_id: 1001,
      urls: Array.from({ length: 120 }, (_, i) => `${url}?${i}`),
    })
    const { records, complete, requests } = await all(
      createEmulatorTransport(service),
      'Asia/Shanghai',
    )
    expect([records.length, complete, requests.length]).toEqual([120, true, 3])
    expect(new Set(records.map((each) => each.url)).size).toBe(120)
    expect(records[0]?.createdAt).toBe(service.clock.now)
    expect(requests[2]?.query).toEqual({
      token,
      task_id: '1001',
      page_number: '3',
      page_size: '50',
    })
    const days = await all(createEmulatorTransport(service), 'Asia/Shanghai', {
      from: '2026-11-20',
      to: '2026-11-20',
      url: `${url}?7`,
    })
    expect([days.records.length, days.requests[0]?.query]).toEqual([
      1,
      {
        token,
        start_time: '2026-11-20',
        end_time: '2026-11-20',
        url: `${url}?7`,
        page_number: '1',
        page_size: '50',
      },
    ])
    expect(await all(createEmulatorTransport(service), 'UTC', { task: '7' })).toMatchObject({
      records: [],
      complete: true,
    })
  })

  it('may have ids that are numbers or texts, and ids beyond 2^53 stay apart', async () => {
    const list = [
      record(1),
      record('x-2'),
      record(2 ** 53, { url: `${url}?1` }),
      record(2 ** 53, { url: `${url}?2` }),
    ]
    const { records, complete } = await all(pages(() => ({ total: 4, list })))
    expect(complete).toBe(true)
    expect(records.map(({ id }) => id).slice(0, 2)).toEqual(['1', 'x-2'])
  })

  it('that come twice while the pages shift count once, and the list is queried again', async () => {
    let round = 0
    const shifting = pages((number, size) => {
      if (number === 1) round++
      const total = 60
      // In the first round a record was added before the second page was asked for, and the oldest
      // of all is gone.
      const from = number === 1 ? 0 : round === 1 ? size - 1 : size
      return {
        total,
        list: Array.from({ length: Math.min(size, 59 + (round === 1 ? 0 : 1) - from) }, (_, i) =>
          record(from + i),
        ),
      }
    })
    const { records, complete, requests } = await all(shifting)
    expect([records.length, complete]).toEqual([60, true])
    expect(requests.length).toBeGreaterThan(3)
  })

  it('of a list whose total never fits are reported as incomplete', async () => {
    const { records, complete, requests } = await all(
      pages((number) => ({ total: 7, list: number === 1 ? [record(1)] : [] })),
    )
    expect([records.length, complete, requests.length]).toEqual([1, false, 6])
  })

  it('of a page that never ends are left at the first page without anything new', async () => {
    const { complete, requests } = await all(pages(() => ({ total: 1_000_000, list: [record(1)] })))
    expect([complete, requests.length]).toEqual([false, 6])
  })

  it.each<[string, Parameters<typeof pages>[0], string]>([
    ['another page', () => ({ total: 1, list: [], page_number: 2 }), 'expected page 1'],
    ['a total in text', () => ({ total: '1', list: [] }), '"total"'],
    ['a negative total', () => ({ total: -1, list: [] }), '"total"'],
    ['no list', () => ({ total: 1, list: {} }), '"list"'],
    ['no record', () => ({ total: 1, list: [1] }), 'a record'],
    ['no id', () => ({ total: 1, list: [record(null)] }), '"id"'],
    ['an empty id', () => ({ total: 1, list: [record('')] }), '"id"'],
    ['an unknown status', () => ({ total: 1, list: [record(1, { status: 'lost' })] }), '"status"'],
    [
      'a date that there is not',
      () => ({ total: 1, list: [record(1, { create_time: '2026-02-30 00:00:00' })] }),
      '"create_time"',
    ],
    [
      'no time of creation',
      () => ({ total: 1, list: [record(1, { create_time: '' })] }),
      '"create_time"',
    ],
    [
      'a time in another form',
      () => ({ total: 1, list: [record(1, { complete_time: '20.11.2026' })] }),
      '"complete_time"',
    ],
    ['a URL that is none', () => ({ total: 1, list: [record(1, { url: null })] }), '"url"'],
  ])('%s is an error', async (_what, page, word) => {
    expect(await failure(pages(page))).toContain(word)
  })
})
