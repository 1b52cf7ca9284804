import { describe, expect, it } from 'vitest'
import type { Transport } from '../../src/service/transport.ts'
import { buildAnswer, createTestClient } from './query-world.ts'

const hourMs = 3_600_000
const from = Date.UTC(2026, 10, 19)
/** A question of so many parts, each of ten domains. */
const parts = (count: number) => ({
  domains: Array.from({ length: count * 10 }, (_, i) => `d${i}.example.com`),
  from,
  to: from + hourMs,
  grain: 'hour' as const,
})

/** A service that answers on demand, and counts what is in flight. */
class SlowService {
  inFlight = 0
  aborted = 0
  readonly #replies: ((status: number) => void)[] = []

  readonly transport: Transport = ({ signal }) =>
    new Promise((resolve, reject) => {
      this.inFlight++
      // A call ends a while after it is aborted.
      const abort = async () => {
        for (let turn = 0; turn < 100; turn++) await Promise.resolve()
        this.inFlight--
        this.aborted++
        reject(new DOMException('aborted', 'AbortError'))
      }
      const onAbort = () => void abort()
      signal?.addEventListener('abort', onAbort)
      this.#replies.push((status) => {
        this.inFlight--
        signal?.removeEventListener('abort', onAbort)
        resolve(buildAnswer({ status, body: { code: status === 200 ? 0 : 7, data: {} } }))
      })
    })

  /** Answers the oldest query in flight. */
  reply(status = 200): void {
    this.#replies.shift()?.(status)
  }
}

const immediately: Transport = async () => buildAnswer({ body: { code: 0, data: {} } })

describe('the parts of a question', () => {
  it('come as batches with their progress', async () => {
    const { queries, clock } = createTestClient(immediately)
    const progress: number[][] = []
    const work = async () => {
      for await (const { done, total } of queries.queryEachDomain(parts(3)))
        progress.push([done, total])
    }
    await clock.drive(work())
    expect(progress).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
      [3, 3],
    ])
  })

  it('are queried only as fast as they are consumed', async () => {
    const { queries, clock, requests } = createTestClient(immediately)
    const batches = queries.queryEachDomain(parts(100))[Symbol.asyncIterator]()
    await batches.next()
    await clock.settle()
    expect(requests).toHaveLength(0)
    for (let consumed = 1; consumed <= 5; consumed++) {
      await batches.next()
      await clock.settle()
      expect(requests).toHaveLength(7 + consumed)
    }
    await batches.return?.()
    await clock.settle()
    expect(requests).toHaveLength(12)
  })

  it('end when the loop is left, in flight or waiting', async () => {
    for (const leave of ['break', 'throw']) {
      const service = new SlowService()
      const { queries, clock, requests } = createTestClient(service.transport)
      const work = async () => {
        for await (const { done } of queries.queryEachDomain(parts(30))) {
          if (done === 1 && leave === 'break') break
          if (done === 1) throw new Error('left')
        }
      }
      const ended = work().then(
        () => 'break',
        () => 'throw',
      )
      await clock.settle()
      expect([service.inFlight, requests.length]).toEqual([4, 4])
      service.reply()
      expect(await clock.drive(ended)).toBe(leave)
      expect([service.inFlight, service.aborted]).toEqual([0, 4])
      expect(requests).toHaveLength(5)
    }
  })

  it('end with the first failure, once nothing is in flight', async () => {
    const service = new SlowService()
    const { queries, clock, requests } = createTestClient(service.transport)
    const work = async () => {
      for await (const { done } of queries.queryTogether(parts(30))) void done
    }
    const failure = work().catch((error: unknown) => ({ error, inFlight: service.inFlight }))
    await clock.settle()
    service.reply(400)
    expect(await clock.drive(failure)).toMatchObject({
      error: { code: 'service-refused' },
      inFlight: 0,
    })
    expect(requests.length).toBeLessThanOrEqual(5)
  })

  it('that fail while a batch is consumed end the others at once', async () => {
    const service = new SlowService()
    const { queries, clock, requests } = createTestClient(service.transport)
    const batches = queries.queryEachDomain(parts(30))[Symbol.asyncIterator]()
    await batches.next()
    const first = batches.next()
    await clock.settle()
    service.reply()
    expect(await first).toMatchObject({ value: { done: 1 } })
    await clock.settle()
    service.reply(400)
    await clock.settle()
    expect(service.inFlight).toBe(0)
    const sent = requests.length
    await expect(clock.drive(batches.next())).rejects.toMatchObject({ code: 'service-refused' })
    expect(requests).toHaveLength(sent)
  })
})
