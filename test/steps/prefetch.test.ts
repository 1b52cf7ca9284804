import { beforeEach, describe, expect, it } from 'vitest'
import { listSchemaErrors as schemaFaults } from '../report/output-schema.ts'
import { fetchCalls, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const now = Date.UTC(2026, 10, 20, 12)

setStage()
beforeEach(() => control('clock', { now }))

async function control(path: string, body: object): Promise<void> {
  await fetch(`${emulator.url}/_emulator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const submit = (count: number, task = 1001) =>
  control('prefetch', {
    task_id: task,
    urls: Array.from({ length: count }, (_, i) => `https://a.example.com/${i}.mp4`),
  })

describe('prefetch', () => {
  itLong('prints the progress of a task, and its failures', async () => {
    await submit(120)
    await control('clock', { advanceMs: 40_000 })
    const output = await place.json('prefetch', '--task', '1001')
    expect(schemaFaults('prefetch', output)).toEqual([])
    const { total, waiting, processing, completed, failed } = output['summary'] as Record<
      string,
      number
    >
    expect([total, (waiting ?? 0) + (processing ?? 0) + (completed ?? 0) + (failed ?? 0)]).toEqual([
      120, 120,
    ])
    expect([processing, completed, failed].every((count) => (count ?? 0) > 0)).toBe(true)
    const { code, out, err } = await place.cli('prefetch', '--task', '1001')
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/^Task 1001: 120 URLs\n/)
    expect(out).toContain(`  completed   ${String(completed).padStart(3)}  `)
    expect(out).toMatch(
      /\nFailed\n {2}https:\/\/a\.example\.com\/\d+\.mp4 {2}\d+, 2026-11-20 12:00:00\n/,
    )
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  it('finds tasks by day and URL', async () => {
    await submit(3)
    const byDay = ['--from', '2026-11-20', '--to', '2026-11-20']
    expect((await place.json('prefetch', ...byDay))['summary']).toMatchObject({ total: 3 })
    const output = await place.json('prefetch', ...byDay, '--url', 'https://a.example.com/1.mp4')
    expect(schemaFaults('prefetch', output)).toEqual([])
    expect(output['records']).toMatchObject([
      {
        url: 'https://a.example.com/1.mp4',
        createdAt: '2026-11-20T12:00:00.000Z',
        completedAt: null,
      },
    ])
    expect(
      (await place.json('prefetch', '--from', '2026-11-18', '--to', '2026-11-19'))['summary'],
    ).toMatchObject({ total: 0 })
  })

  it('reports an unknown task', async () => {
    const { code, out, err } = await place.cli('prefetch', '--task', '7')
    expect([code, out]).toEqual([0, 'Task 7: no records\n'])
    expect(err).toContain('no records of task 7')
    expect(await place.cli('prefetch', '--task', '7', '--wait')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing to wait for') as string,
    })
  })

  it.each([
    [[], '--from and --to, or --task'],
    [['--from', '2026-11-01'], '--from and --to'],
    [['--task', '1', '--from', '2026-11-01'], 'cannot be used with'],
    [['--task', '1', '--url', 'https://a.example.com'], '--url'],
    [['--task', 'x'], '--task'],
    [['--task', '0'], '--task'],
    [['--from', '2026-11-01', '--to', '2026-11-31'], '--to'],
    [['--from', '2h', '--to', '2026-11-30'], '--from'],
    [['--from', '2026-11-02', '--to', '2026-11-01'], 'on or after'],
    [['--from', '2026-11-01', '--to', '2026-11-02', '--url', ''], '--url'],
  ])('%j is refused', async (args, word) => {
    expect(await place.cli('prefetch', ...args)).toMatchObject({
      code: 1,
      err: expect.stringContaining(word) as string,
    })
    expect(await fetchCalls(emulator)).toEqual([])
  })
})

describe('prefetch --wait', () => {
  beforeEach(() => {
    place.onSleep = (ms) => control('clock', { advanceMs: ms })
  })

  itLong('waits until all URLs are done, and exits with 3 after failures', async () => {
    await submit(60)
    const { code, out, err } = await place.cli('prefetch', '--task', '1001', '--wait')
    expect(code).toBe(3)
    expect(out).toMatch(/waiting +0 [^]*processing +0 [^]*\nFailed\n/)
    const lines = err.trim().split('\n')
    expect(lines.length).toBeGreaterThan(3)
    expect(lines[0]).toBe('0 of 60 done: 0 completed, 0 failed, 0 processing, 60 waiting')
    expect(lines.at(-1)).toMatch(/^60 of 60 done/)
    expect(await place.cli('prefetch', '--task', '1001')).toMatchObject({ code: 0 })
  })

  it('exits with 0 when all are completed', async () => {
    await submit(1)
    const output = await place.json('prefetch', '--task', '1001', '--wait')
    expect(output['summary']).toMatchObject({ total: 1, completed: 1 })
    expect(await place.cli('prefetch', '--task', '1001', '--wait', '--quiet')).toMatchObject({
      code: 0,
      err: '',
    })
  })

  itLong('continues after faults', async () => {
    await submit(60)
    await setFaults(
      emulator,
      { kind: 'error', on: [2, 3] },
      { kind: 'reset-after', on: [5] },
      { kind: 'not-json', on: [7] },
    )
    expect((await place.cli('prefetch', '--task', '1001', '--wait')).out).toContain(
      'Task 1001: 60 URLs',
    )
  })

  it('ends with a message if the permission is missing', async () => {
    await submit(1)
    await setFaults(emulator, { kind: 'unauthorized-from', on: [2] })
    const { code, err } = await place.cli('prefetch', '--task', '1001', '--wait')
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('the token lacks permission for prefetch tasks (HTTP 401)'),
    ])
  })
})
