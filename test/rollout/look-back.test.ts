import { describe, expect, it } from 'vitest'
import type { HealthConfig } from '../../src/core/model/config.ts'
import type { UntimedEvent } from '../../src/core/model/events.ts'
import type { Window } from '../../src/core/model/health.ts'
import type { Domain } from '../../src/core/model/item.ts'
import { hasPassed, type Rollout } from '../../src/core/model/rollout.ts'
import { createTimeZone } from '../../src/core/model/time/time-zone.ts'
import { computeWindows, findLook } from '../../src/core/health/windows.ts'
import { hashDomains } from '../../src/core/plan/basis.ts'
import { createEmptyResult } from '../../src/engine/apply/results.ts'
import type { RolloutContext } from '../../src/engine/rollout/ports.ts'
import { rollOut } from '../../src/engine/rollout/roll-out.ts'
import { createRollout } from '../../src/engine/rollout/waves.ts'
import type { RecordedItem, RecordedState } from '../../src/state/store/store.ts'
import { selectFree } from '../../src/server/leader/free-domains.ts'
import { buildChange, buildPlan } from '../plans.ts'

const minute = 60_000
const noon = Date.UTC(2026, 10, 20, 12)
const zone = createTimeZone('UTC')
const rule: HealthConfig = {
  area: 'all',
  settle: 300,
  lag: 600,
  window: 900,
  grain: 'minute5',
  statuses: ['5xx'],
  minRequests: 500,
  margin: 1,
  onLittleData: 'wait',
  onFailure: 'stop',
  after: 3600,
}
const waves: Domain[][] = [['a.example.com'], ['b.example.com', 'c.example.com'], ['d.example.com']]
const domains = waves.flat()
const changes = domains.map((domain) => buildChange({ domain }))
const plan = buildPlan(changes, {
  basis: { recorded: hashDomains(new Map(), domains) },
  writes: buildPlan(changes).writes.map((write) => {
    const wave = waves.findIndex((own) => own.includes(write.domains[0] ?? '')) + 1
    return { ...write, wave }
  }),
})

/** Share of the requests of a domain that fail, by the minutes since its write. */
type Fault = (domain: Domain, minutes: number) => number

/** Runs a rollout on a clock that only waits move; each domain has 4,000 requests a minute. */
function createStage(fault: Fault, looksBack: boolean, health = rule) {
  let now = noon
  let stored: Rollout | null = null
  let state: RecordedState = new Map()
  const written = new Map<Domain, number>()
  const calls: string[] = []
  const judged: string[] = []
  const count = (domain: Domain, { from, to }: Window) => {
    let bad = 0
    for (let time = from; time < to; time += 5 * minute) {
      const minutes = (time - (written.get(domain) ?? Infinity)) / minute
      bad += Math.round(20_000 * (0.001 + (minutes < 0 ? 0 : fault(domain, minutes))))
    }
    return { 200: ((to - from) / minute) * 4000 - bad, 502: bad }
  }
  const context: RolloutContext = {
    clock: { now: () => now, monotonic: () => now, sleep: async (ms) => void (now += ms) },
    time: { now: () => now, ask: async () => now },
    service: {
      count: async (names, window) => {
        calls.push(`${names.join()} ${(window.from - noon) / minute}`)
        return new Map(names.map((name) => [name, count(name, window)]))
      },
      list: async (names, { from, to }, use) => {
        for (const name of names)
          for (let time = from; time < to; time += 5 * minute)
            use(name, [{ time, counts: count(name, { from: time, to: time + 5 * minute }) }])
      },
    },
    applying: {
      prepare: async (part) => part,
      execute: async (part, apply) => {
        const at = new Date(now).toISOString()
        state = new Map(state)
        for (const domain of part.writes.flatMap((write) => write.domains)) {
          written.set(domain, now)
          const item: RecordedItem = {
            status: 'confirmed',
            candidates: [{ time: '60' }],
            at,
            serviceAt: at,
            apply,
            origin: 'write',
          }
          state.set(domain, new Map([['timeout', item]]))
        }
        const parts = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }
        return { ...createEmptyResult(state), confirmed: part.writes.length, parts, sent: true }
      },
      rollBack: () => Promise.reject(new Error('expected no rollback')),
      isAccountStopped: () => false,
      whileUnlocked: (work) => work(),
    },
    store: {
      load: async () => state,
      listRollouts: async () => (stored === null ? [] : [stored]),
      saveRollout: async (rollout) => void (stored = rollout.state === 'complete' ? null : rollout),
      listEnded: async () => [],
    },
    settings: { pauseMs: 0, rule: health, zone },
    suspends: false,
    looksBack,
    signal: new AbortController().signal,
    report: (event: UntimedEvent) => {
      if (event.type === 'wave.judged')
        judged.push(`${event.wave} ${event.verdict} ${(now - noon) / minute}`)
    },
  }
  const about = { id: 'one', startedAt: new Date(noon).toISOString(), author: null }
  const rollout = createRollout(plan, { hashDomain: () => '', hashItem: () => '' }, about)
  return {
    calls,
    judged,
    written,
    context,
    run: () => rollOut(plan, rollout, state, context),
    /** Runs what `serve` does with a rollout whose waves have passed. */
    goOn: (more: Partial<RolloutContext> = {}) => {
      if (stored === null) throw new Error('expected a recorded rollout')
      return rollOut(buildPlan([]), stored, state, { ...context, ...more })
    },
    getStored: () => stored,
    getMinutes: () => (now - noon) / minute,
  }
}

/** A cache ends: all domains fail from some minutes after their write on. */
const createDelayed =
  (start: number): Fault =>
  (_domain, minutes) =>
    minutes >= start ? 0.1 : 0

describe('a rollout', () => {
  it('holds its first wave for one more window', async () => {
    const stage = createStage(createDelayed(25), false)
    const { stopped } = await stage.run()
    expect(stopped).toBe(
      'wave 1 of 3: 5xx rose on 1 of 1 domain: a.example.com from 0.1 % to 3.4 %',
    )
    expect([...stage.written.keys()]).toEqual(waves[0])
    expect(stage.judged.map((each) => each.slice(0, 7))).toEqual(['1 same-', '1 worse'])
  })

  it('stops for a wave that was healthy when it passed, before the next wave begins', async () => {
    const stage = createStage(createDelayed(50), false)
    const { stopped } = await stage.run()
    expect(stopped).toMatch(
      /^wave 1 of 3: 5xx rose on 1 of 1 domain: a\.example\.com from 0\.1 % to/,
    )
    expect([...stage.written.keys()]).toEqual(waves.slice(0, 2).flat())
    expect(stage.getStored()).toMatchObject({ state: 'stopped' })
    expect(stage.judged.map((each) => each.slice(0, 7))).toEqual(['1 same-', '2 same-', '1 worse'])
  })

  it('decides on a rise of one of several domains by a window that outlasts a gust', async () => {
    const run = async (end: number) => {
      const rises: Fault = (domain, minutes) =>
        domain.startsWith('b') && minutes >= 5 && minutes < end ? 0.019 : 0
      const stage = createStage(rises, false)
      const { stopped } = await stage.run()
      const begin = ((stage.written.get('b.example.com') ?? NaN) - noon) / minute
      const judged = stage.judged.map((each) => each.split(' '))
      return [
        stopped !== null,
        ...judged.flatMap(([wave, verdict, minutes]) =>
          wave === '2' ? [`${verdict} ${Number(minutes) - begin}`] : [],
        ),
      ]
    }
    // The sum of the hour is worse here, too, but not its last part.
    expect(await run(50)).toEqual([false, 'too-little-data 30', 'same-or-better 75'])
    expect(await run(Infinity)).toEqual([true, 'too-little-data 30', 'worse 75'])
  })

  it('ends with its last wave on a command line, and does not wait for late faults', async () => {
    const stage = createStage(() => 0, false)
    await stage.run()
    expect(stage.getStored()).toBeNull()
    expect(stage.getMinutes()).toBeLessThan(3 * 40)
  })

  it('asks for each domain twice in a look, which another process repeats alike', async () => {
    const stage = createStage(() => 0, true)
    await stage.run()
    const before = stage.calls.length
    const takeOver = () => stage.goOn({ suspends: true })
    const { waitMs } = await takeOver()
    const look = stage.calls.slice(before)
    expect(look.filter((call) => call.startsWith('a.'))).toHaveLength(2)
    await takeOver()
    expect(stage.calls.slice(before + look.length)).toEqual(look)
    expect(waitMs).toBe(rule.window * 1000)
  })
})

describe('a rollout whose waves have all passed', () => {
  const late: Fault = (domain, minutes) => (domain.startsWith('d') && minutes >= 40 ? 0.1 : 0)

  it('is judged again until its time is over, and keeps no domain from other commits', async () => {
    const stage = createStage(() => 0, true)
    const { open } = await stage.run()
    expect(open).toBeUndefined()
    const stored = stage.getStored()
    expect(stored !== null && hasPassed(stored)).toBe(true)
    expect(selectFree(domains, stored === null ? [] : [stored]).taken).toBe(0)
    // Nothing is announced of a look that finds nothing.
    expect(await stage.goOn()).toMatchObject({ open: true, stopped: null })
    expect(stage.getStored()).toBeNull()
    const ends = Math.max(...stage.written.values()) + rule.after * 1000
    expect(stage.getMinutes()).toBe((ends - noon) / minute)
  })

  it('is stopped, and its values are marked, if a wave is worse later', async () => {
    const stage = createStage(late, true)
    await stage.run()
    const { stopped, open } = await stage.goOn()
    expect([stopped, open]).toEqual([
      'wave 3 of 3: 5xx rose on 1 of 1 domain: d.example.com from 0.1 % to 2.3 %',
      undefined,
    ])
    expect(stage.getStored()).toMatchObject({ state: 'stopped', onHold: {} })
    expect(Object.keys(stage.getStored()?.unhealthy ?? {}).toSorted()).toEqual(domains)
  })

  it('is rolled back if the workspace says so', async () => {
    const stage = createStage(late, true, { ...rule, onFailure: 'rollback' })
    await stage.run()
    const rollBack = async (_rollout: Rollout, state: RecordedState) => ({
      result: { ...createEmptyResult(state), sent: true },
      irreversible: null,
    })
    const applying = { ...stage.context.applying, rollBack }
    expect(await stage.goOn({ applying })).toMatchObject({ takenBack: true })
    expect(stage.getStored()?.state).toBe('rolled-back')
  })

  it('goes on after a gust of one domain of several', async () => {
    const gust: Fault = (domain, minutes) =>
      domain.startsWith('b') && minutes >= 50 && minutes < 70 ? 0.015 : 0
    const stage = createStage(gust, true)
    await stage.run()
    expect(await stage.goOn()).toMatchObject({ stopped: null })
  })
})

describe('looks at a wave', () => {
  const windows = computeWindows(noon, noon, rule, zone)
  const look = (minutes: number) => findLook(windows, windows.after.to + minutes * minute, 4)

  it('begin with the second window, are the same within one, and share an error rate', () => {
    expect(look(14)).toBeNull()
    expect(look(15)).toEqual(look(29))
    let spent = 0
    for (let minutes = 15; minutes < 30 * 24 * 60; minutes += 15) spent += look(minutes)?.share ?? 0
    expect(spent).toBeLessThan(1)
    expect(look(15)?.share).toBe(1 / 2)
  })

  it('decide by up to four windows that end together', () => {
    const { from } = windows.after
    const at = (start: number, end: number) => ({
      from: from + start * minute,
      to: from + end * minute,
    })
    expect(look(15)).toMatchObject({ latest: at(15, 30), deciding: at(0, 30) })
    expect(look(65)).toMatchObject({ latest: at(60, 75), deciding: at(15, 75) })
  })
})
