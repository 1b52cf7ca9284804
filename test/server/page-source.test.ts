import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/core/model/time/clock.ts'
import type { ApplyEvent } from '../../src/core/model/events.ts'
import type { LoadedWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createDriftMemory, createEventMemory } from '../../src/server/pages/memory.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Committed } from '../../src/server/branch/workspaces.ts'
import { createSharedFindings } from '../../src/server/leader/shared-findings.ts'
import { beginWork } from '../../src/server/leader/work-state.ts'
import { createShared } from '../../src/server/pages/create-page-source.ts'

describe('what is loaded for several readers', () => {
  const stage = () => {
    const world = { nowMs: 0, loads: 0, end: [] as ((fails: boolean) => void)[] }
    const shared = createShared({ monotonic: () => world.nowMs }, () => {
      const load = ++world.loads
      return new Promise<number>((resolve, reject) => {
        world.end.push((fails) => (fails ? reject(new Error('no')) : resolve(load)))
      })
    })
    return { world, shared }
  }

  it('is loaded once, however many ask for it at the same time, and for a while', async () => {
    const { world, shared } = stage()
    const readers = [shared.get(1000, 'a'), shared.get(1000, 'a'), shared.get(1000, 'b')]
    world.end[0]?.(false)
    expect(await Promise.all(readers)).toEqual([1, 1, 1])
    world.nowMs = 999
    expect([await shared.get(1000, 'a'), world.loads]).toEqual([1, 1])
    world.nowMs = 1000
    const later = shared.get(1000, 'a')
    world.end[1]?.(false)
    expect(await later).toBe(2)
  })

  it('is loaded anew for another key, after a failure, and after a change', async () => {
    const { world, shared } = stage()
    const first = shared.get(1000, 'a')
    world.end[0]?.(true)
    await expect(first).rejects.toThrow('no')
    const again = shared.get(1000, 'a')
    world.end[1]?.(false)
    expect(await again).toBe(2)
    const other = shared.get(1000, 'b')
    world.end[2]?.(false)
    expect(await other).toBe(3)
    const stale = shared.get(1000, 'a')
    shared.forget()
    const fresh = shared.get(1000, 'a')
    world.end[4]?.(false)
    world.end[3]?.(false)
    expect(await Promise.all([stale, fresh])).toEqual([4, 5])
    expect(await shared.get(1000, 'a')).toBe(5)
  })
})

describe('the events of waves', () => {
  const watch = (wave: number): ApplyEvent => ({
    type: 'wave.watched',
    time: '2026-01-02T03:04:05Z',
    wave,
    statuses: ['5xx'],
    before: { requests: 1, bad: 0 },
    after: { requests: 1, bad: 1 },
  })
  const start = (apply: string): ApplyEvent => ({
    type: 'apply.started',
    time: '2026-01-02T03:04:05Z',
    apply,
    writes: 1,
    releases: 0,
  })

  it('are kept by rollout, the last one of each kind', () => {
    const memory = createEventMemory()
    const run = (apply: string, events: ApplyEvent[]) => {
      for (const event of [start(apply), ...events]) memory.listen(event, null)
    }
    run('a1', [watch(1), { type: 'wave.finished', time: '', wave: 1 }])
    run('a2', [watch(2)])
    run('a1', [watch(2), watch(3)])
    expect(memory.list('a1')).toEqual([watch(3)])
    expect(memory.list('a3')).toEqual([])
    for (let i = 0; i < 49; i++) run(`b${i}`, [watch(1)])
    expect([memory.list('a1').length, memory.list('a2').length]).toEqual([1, 0])
  })
})

it('all replicas have the last drift check, unless it is too large', async () => {
  const files = stageFiles()
  const clock = { now: () => Date.UTC(2026, 0, 2) } as Clock
  const [leader, standby] = [1, 2].map(() => createDriftMemory({ clock }, files, 'controller'))
  expect(await leader?.load(null)).toBe(null)
  const workspace = {
    config: { id: 'shop', service: { writtenUrl: 'http://cdn' }, limits: { callsPerMinute: 30 } },
    diagnostics: [],
    findItemPlace: () => null,
    findTree: async () => ({ commit: 'c0ffee' }),
    redact: (text: string) => text.replaceAll('s3cret', '***'),
  } as unknown as LoadedWorkspace
  const drift = { items: [], pending: [], live: [], inDoubt: [] }
  const found = { drift, observed: new Map(), notes: ['the s3cret'], unmanaged: [] }
  await leader?.keep(workspace, found)
  const loaded = await standby?.load('now')
  expect(loaded).toMatchObject({ at: '2026-01-02T00:00:00.000Z', commit: 'c0ffee' })
  expect(loaded?.page).toMatch(/<h1[^>]*>No item is managed or recorded.<\/h1>/)
  expect(loaded?.page).toContain('the ***')
  expect(await leader?.load('now')).toEqual(loaded)
  // What was read is kept until there is another check.
  files.texts.clear()
  expect([await standby?.load('now'), await standby?.load('later')]).toEqual([loaded, null])
  const notes = Array.from({ length: 5000 }, (_, i) => `${i} ${'x'.repeat(4000)}`)
  await leader?.keep(workspace, { ...found, notes })
  expect(await standby?.load('last')).toBe(null)
  expect((await leader?.load('last'))?.page.length).toBeGreaterThan(17e6)
})

describe('what the leader has found', () => {
  const own = beginWork({ commit: 'c1' } as Committed).found
  const stage = (files: ReturnType<typeof stageFiles>, term: number | null, found = own) => {
    const world = { found, term }
    const position = {
      get term() {
        return world.term
      },
    }
    const reconciler = {
      get found() {
        return world.found
      },
      getHead: () => 'head',
    }
    return { world, ...createSharedFindings(files, 'controller', position, reconciler) }
  }
  const applied = { commit: 'c1', at: '2026-01-02T00:00:00Z', status: 'done', message: null }
  const drift = { at: '2026-01-02T00:00:00Z', pending: 0, live: 2, inDoubt: 0, unanswered: 0 }
  const working = { what: 'the drift check', since: '2026-01-02T00:00:00Z' }

  it('is known to all replicas; what each one fetches is its own', async () => {
    const files = stageFiles()
    const leader = stage(files, 1, { ...own, commit: 'c1', applied, drift, working, problem: 'p' })
    const standby = stage(files, null, { ...own, commit: 'c2', fetchedAt: 'now' })
    expect((await standby.load()).applied).toBe(null)
    await standby.share()
    await leader.share()
    expect(await standby.load()).toEqual({
      ...own,
      commit: 'c2',
      fetchedAt: 'now',
      applied,
      drift,
      working,
      problem: 'p',
      happened: [],
    })
    expect(standby.getHead()).toBe('head')
    // Nothing new is not stored again.
    files.texts.clear()
    await leader.share()
    expect(files.texts.size).toBe(0)
  })

  it('has what happened to leaders, also what the last one noted as it ended', async () => {
    const files = stageFiles()
    const [first, next] = [stage(files, 1), stage(files, null)]
    const happen = (text: string) => ({ at: '2026-01-02T00:00:00Z', text, note: '' })
    const list = async ({ load }: typeof next) => (await load()).happened?.map(({ text }) => text)
    first.note(happen('leads'))
    await first.share()
    expect(await list(next)).toEqual(['leads'])
    first.note(happen('hands over'))
    await first.share()
    next.world.term = 2
    next.note(happen('leads, too'))
    await next.share()
    expect(await list(next)).toEqual(['leads', 'hands over', 'leads, too'])
    expect(await list(stage(files, null))).toEqual(await list(next))
  })

  it('stays known after a change of the leader, but not what it worked on', async () => {
    const files = stageFiles()
    await stage(files, 1, { ...own, applied, drift, working }).share()
    const next = stage(files, null)
    next.world.term = 2
    await next.share()
    expect(await stage(files, null).load()).toMatchObject({ applied, drift, working: null })
    expect(await next.load()).toMatchObject({ applied, drift, working: null })
    const later = { ...drift, live: 0 }
    next.world.found = { ...own, drift: later }
    await next.share()
    expect(await stage(files, null).load()).toMatchObject({ applied, drift: later })
  })

  it('is none if others have damaged it', async () => {
    const files = stageFiles()
    await files.add('controller/findings.json', '{"applied":')
    expect(await stage(files, null).load()).toEqual({ ...own, happened: [] })
  })

  it('is shown as it was last while the database is away', async () => {
    const files = stageFiles()
    const standby = stage(files, null)
    await stage(files, 1, { ...own, applied }).share()
    await standby.load()
    files.load = () => Promise.reject(new EdgewiseError('record-unreachable', 'away'))
    expect(await standby.load()).toMatchObject({ applied })
  })
})

/** Creates files in memory. */
function stageFiles() {
  const texts = new Map<string, string>()
  return {
    texts,
    add: async (path: string, text: string) => void texts.set(path, text),
    load: async (): Promise<Map<string, string>> => new Map(texts),
  }
}
