import { describe, expect, it } from 'vitest'
import { createExtendedWorld, getData, listEntries } from './extended-world.ts'
import { itLong } from '../runs.ts'

const url = 'https://www.example.com/a.jpg'

describe('submitting URLs', () => {
  it('prefetches them', async () => {
    const service = createExtendedWorld()
    const urls = [url, 'https://www.example.com/b.jpg']
    const answer = await service.send('POST /v2/cache/prefetch', { urls })
    expect(answer.body).toEqual({ code: 0, data: { task_id: '1', count: 2, err_urls: [] } })
    expect(answer.headers).toMatchObject({ 'X-Push-Remaining': '1000000' })
    const { total, list } = getData((await service.send('GET /v2/cache/prefetch?task_id=1')).body)
    expect([total, list]).toEqual([
      2,
      urls.map((each, i) => ({
        id: String(i + 1),
        url: each,
        status: 'waiting',
        create_time: '2026-11-20 00:00:00',
        complete_time: '',
      })),
    ])
    expect((await service.send('GET /v2/cache/refresh?task_id=1')).body).toMatchObject({
      data: { total: 0 },
    })
  })

  it.each(['url', 'dir'])('refreshes them by %s', async (type) => {
    const service = createExtendedWorld()
    const body = { urls: ['https://www.example.com/a/'], type }
    const answer = await service.send('POST /v2/cache/refresh', body)
    expect(answer.body).toEqual({ code: 0, data: { task_id: '1', count: 1, err_urls: [] } })
    const query = 'start_time=2026-11-20&end_time=2026-11-20'
    const found = await service.send(`GET /v2/cache/refresh?${query}`)
    const { list } = getData(found.body)
    expect(listEntries({ data: list ?? null })).toMatchObject([
      { id: '1', type, status: 'waiting' },
    ])
    expect((await service.send(`GET /v2/cache/prefetch?${query}`)).body).toMatchObject({
      data: { total: 0 },
    })
  })

  it('returns those that it does not accept', async () => {
    const service = createExtendedWorld({ domains: ['www.example.com'] })
    const wrong = [
      'ftp://www.example.com/a',
      'www.example.com/a',
      'https://gone.example.com/a',
      'https://192.0.2.1/',
      `https://www.example.com/${'a'.repeat(2048)}`,
    ]
    const answer = await service.send('POST /v2/cache/prefetch', { urls: [...wrong, url, url] })
    expect(getData(answer.body)).toEqual({ task_id: '1', count: 1, err_urls: wrong })
    const refresh = await service.send('POST /v2/cache/refresh', { urls: [url], type: 'dir' })
    expect(getData(refresh.body)).toEqual({ task_id: '2', count: 0, err_urls: [url] })
    expect((await service.calls()).at(-2)).toMatchObject({ domains: ['www.example.com'] })
  })

  it('accepts those below a wildcard domain, under its name', async () => {
    const service = createExtendedWorld({ domains: ['.example.com'] })
    const urls = ['https://a.b.example.com/x', 'https://example.com/x']
    const answer = await service.send('POST /v2/cache/prefetch', { urls })
    expect(getData(answer.body)).toMatchObject({ count: 1, err_urls: urls.slice(1) })
    expect((await service.calls()).at(-1)).toMatchObject({ domains: ['.example.com'] })
  })

  it.each([
    ['prefetch', {}, 400501],
    ['prefetch', { urls: [] }, 400501],
    ['prefetch', { urls: url }, 400501],
    ['prefetch', { urls: [7] }, 400501],
    ['prefetch', { urls: Array.from({ length: 501 }, (_, i) => `${url}?${i}`) }, 400501],
    ['refresh', { urls: [url] }, 400302],
    ['refresh', { urls: [url], type: 'all' }, 400302],
  ])('to %s is refused if malformed', async (kind, body, code) => {
    const service = createExtendedWorld()
    const answer = await service.send(`POST /v2/cache/${kind}`, body)
    expect(answer).toMatchObject({ status: 400, body: { code } })
  })

  itLong('keeps the latest 100,000 records', async () => {
    const service = createExtendedWorld()
    for (let n = 0; n < 201; n++)
      await service.send('POST /v2/cache/prefetch', {
        urls: Array.from({ length: 500 }, (_, i) => `${url}?${n}-${i}`),
      })
    const totals = ['1', '2', '201'].map(async (task) => {
      const found = await service.send(`GET /v2/cache/prefetch?task_id=${task}`)
      return getData(found.body)['total']
    })
    expect(await Promise.all(totals)).toEqual([0, 500, 500])
  })
})
