import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { createWorld, type World } from './world.ts'
import { itLong } from '../runs.ts'

const path = '/v2/cache/prefetch'
const monthMs = 31 * 86_400_000

function buildUrls(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `https://a.example.com/${i}.mp4`)
}

async function queryData(
  service: World,
  query: Record<string, string>,
): Promise<{ total: number; page_number: number; list: JsonObject[] }> {
  const { status, body } = await service.query(path, query)
  expect([status, body]).toMatchObject([200, { code: 0, message: '' }])
  return (body as { data: { total: number; page_number: number; list: JsonObject[] } }).data
}

async function submit(service: World, count: number, task?: number): Promise<number> {
  const { body } = await service.postControl('prefetch', {
    ...(task === undefined ? {} : { task_id: task }),
    urls: buildUrls(count),
  })
  return (body as { task_id: number }).task_id
}

describe('prefetch tasks', () => {
  itLong('progress with time, never back, and end completed or failed', async () => {
    const service = createWorld()
    const task = String(await submit(service, 60))
    const seen = new Set<unknown>()
    const rank = { waiting: 0, processing: 1, completed: 2, failed: 2 }
    let before = Array<number>(60).fill(0)
    for (let second = 0; second < 90; second++) {
      const { list } = await queryData(service, { task_id: task, page_size: '60' })
      for (const { status, complete_time } of list) {
        seen.add(status)
        expect(complete_time === '').toBe(status !== 'completed')
      }
      const ranks = list.map(({ status }) => rank[status as keyof typeof rank])
      expect(ranks.every((each, i) => each >= (before[i] ?? 0))).toBe(true)
      before = ranks
      await service.postControl('clock', { advanceMs: 1000 })
    }
    expect(seen).toEqual(new Set(['completed', 'failed', 'processing', 'waiting']))
    expect(before.every((each) => each === 2)).toBe(true)
  })

  it('fail while the origin is dead', async () => {
    const service = createWorld({ deadOrigins: ['192.0.2.10'] })
    await service.write({ origin: { default_master: '192.0.2.10' } }, 'a.example.com')
    const task = String(await submit(service, 20))
    await service.postControl('clock', { advanceMs: 120_000 })
    expect(
      new Set((await queryData(service, { task_id: task })).list.map(({ status }) => status)),
    ).toEqual(new Set(['failed']))
  })

  it('are kept for one month', async () => {
    const service = createWorld()
    const task = String(await submit(service, 2))
    const range = { start_time: '2026-11-01', end_time: '2026-12-31' }
    await service.postControl('clock', { advanceMs: monthMs - 1 })
    expect([
      (await queryData(service, { task_id: task })).total,
      (await queryData(service, range)).total,
    ]).toEqual([2, 2])
    await service.postControl('clock', { advanceMs: 1 })
    expect([
      (await queryData(service, { task_id: task })).total,
      (await queryData(service, range)).total,
    ]).toEqual([0, 0])
  })

  it('are found by task, by day in the time zone, and by URL', async () => {
    const service = createWorld({ timezone: 'Asia/Shanghai' })
    await submit(service, 3, 1001)
    service.clock.now += 86_400_000
    const next = await submit(service, 2)
    expect(next).toBe(1002)
    await submit(service, 1, 1001)
    const day = (date: string) => ({ start_time: date, end_time: date })
    expect((await queryData(service, { task_id: '1001' })).total).toBe(4)
    expect((await queryData(service, { task_id: '7' })).list).toEqual([])
    expect((await queryData(service, day('2026-11-20'))).list[0]?.['create_time']).toBe(
      '2026-11-20 08:00:00',
    )
    expect((await queryData(service, day('2026-11-21'))).total).toBe(3)
    expect(
      (
        await queryData(service, {
          start_time: '2026-11-01',
          end_time: '2026-11-30',
          url: 'https://a.example.com/0.mp4',
        })
      ).total,
    ).toBe(3)
    expect((await queryData(service, day('2026-11-19'))).total).toBe(0)
  })

  it('come in pages of 50 by default', async () => {
    const service = createWorld()
    const task = String(await submit(service, 120))
    const pages = await Promise.all(
      ['1', '2', '3', '4'].map((page_number) => queryData(service, { task_id: task, page_number })),
    )
    expect(pages.map(({ total, page_number, list }) => [total, page_number, list.length])).toEqual([
      [120, 1, 50],
      [120, 2, 50],
      [120, 3, 20],
      [120, 4, 0],
    ])
    expect((await queryData(service, { task_id: task, page_size: '120' })).list).toEqual(
      pages.flatMap(({ list }) => list),
    )
  })

  it.each<[Record<string, string>, code: number, named: string]>([
    [{}, 400401, 'task_id'],
    [{ url: 'https://a.example.com/' }, 400401, 'task_id'],
    [{ task_id: '1', start_time: '2026-11-01' }, 400401, 'start_time'],
    [{ task_id: '1', end_time: '2026-11-01' }, 400401, 'end_time'],
    [{ task_id: '1', url: 'https://a.example.com/' }, 400401, 'url'],
    [{ start_time: '2026-11-01' }, 400301, 'end_time'],
    [{ end_time: '2026-11-01' }, 400301, 'start_time'],
    [{ start_time: '2026-11-02', end_time: '2026-11-01' }, 400301, 'start_time'],
    [{ start_time: '2026-11-02', end_time: '2026-11-02 10:00' }, 400301, 'end_time'],
    [{ start_time: '2026-02-29', end_time: '2026-03-01' }, 400301, 'start_time'],
    [{ task_id: 'x' }, 400402, 'task_id'],
    [{ task_id: '' }, 400402, 'task_id'],
    [{ task_id: '0' }, 400402, 'task_id'],
    [{ task_id: '1', page_number: '0' }, 400402, 'page_number'],
    [{ task_id: '1', page_number: '01' }, 400402, 'page_number'],
    [{ task_id: '1', page_size: '-1' }, 400402, 'page_size'],
    [{ task_id: '1', page_size: '1.5' }, 400402, 'page_size'],
    [{ task_id: '1', page_size: '1e1' }, 400402, 'page_size'],
  ])('refuse %j', async (query, code, named) => {
    const message: unknown = expect.stringContaining(`"${named}"`)
    expect(await createWorld().query(path, query)).toMatchObject({
      status: 400,
      body: { code, message },
    })
  })
})
