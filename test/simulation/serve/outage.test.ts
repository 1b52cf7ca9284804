// @module-tag often
import { describe, expect } from 'vitest'
import { createItemState, type Snapshot } from '../../../src/core/model/item.ts'
import { isSameJson } from '../../../src/core/model/json.ts'
import { itOften, runs } from '../../runs.ts'
import { Chance } from '../chance.ts'
import { runSealed } from '../seal.ts'
import { hour, LongWorld, minute, second, ServeWorld } from './serve-world.ts'

const domains = Array.from({ length: 6 }, (_, i) => `d${i}.example.com`)
const pauseMs = minute
const rollout = {
  waves: [{ count: 1 }, { count: 2 }, { percent: 100 }],
  first: [],
  pause: pauseMs / second,
  approval: [],
  approvers: { by: 1, notAuthor: false },
  by: 'domains' as const,
  revert: 'waves' as const,
  health: null,
}
/** Lengths of outages, ms: below and above the patience of each part. */
const lengths = [1, 3, 8, 15, 24, 31, 45, 60, 120, 300].map((seconds) => seconds * second)
/** Time that a rollout may take after an outage beside its pauses, ms. */
const graceMs = 90 * second

interface Outage {
  /** Number of the statement, from the commit on, that finds no database any more. */
  statement: number
  ms: number
}

/** What became of a rollout. */
interface Ended {
  violations: string[]
  /** Number of statements of all replicas from the commit to the end. */
  statements: number
  /** Time from the end of the outage, or from the commit without one, to the end, ms. */
  tookMs: number
  /** Highest number of writes of one domain. */
  writes: number
  log: string[]
}

/** Rolls a commit out with two replicas, during an outage of the database. */
async function rollOut(seed: string, outage: Outage | null): Promise<Ended> {
  const world = new LongWorld()
  const stage = new ServeWorld(world, seed, { rollout })
  stage.pollMs = 10 * second
  const ended: Ended = { violations: [], statements: 0, tookMs: 0, writes: 0, log: stage.log }
  const holds = (host: string) =>
    domains.every((domain) => isSameJson(stage.service.holds(domain).get('origin_host'), { host }))
  const until = async (host: string) => {
    while (!holds(host)) await stage.wait(second)
  }
  const story = async () => {
    stage.repository.push(ask('one.example.net'))
    stage.start()
    await until('one.example.net')
    await stage.wait(minute)
    let fromMs = world.time
    stage.record.onStatement = () => {
      if (++ended.statements !== outage?.statement) return
      fromMs = world.time + outage.ms
      stage.record.restartDatabase(outage.ms)
    }
    stage.repository.push(ask('two.example.net'))
    const before = new Map(stage.service.writes)
    await until('two.example.net')
    stage.record.onStatement = () => {}
    ended.tookMs = world.time - fromMs
    const written = new Map(stage.service.writes)
    ended.writes = Math.max(
      ...domains.map((name) => (written.get(name) ?? 0) - (before.get(name) ?? 0)),
    )
    await stage.wait(Math.max(0, fromMs - world.time) + 30 * second)
    const leader = await stage.findLeader()
    if ((await leader?.listRollouts())?.length !== 0) world.violated('every rollout ends', seed)
    await stage.stop()
  }
  await runSealed(world, () => world.passUntil(story(), 3 * hour))
  return Object.assign(ended, { violations: world.violations })
}

function ask(host: string): Snapshot {
  return new Map(
    domains.map((domain) => [domain, new Map([['origin_host', createItemState({ host })]])]),
  )
}

describe('a rollout of two replicas', () => {
  itOften(
    'ends soon after an outage of the database, wherever it begins, without a second write',
    async () => {
      const calm = await rollOut('calm', null)
      expect(calm.violations).toEqual([])
      expect(calm.tookMs).toBeLessThan(2 * pauseMs + graceMs)
      const chance = new Chance('outages')
      const late: string[] = []
      for (let i = 0; i < runs(4, 80); i++) {
        const ms = lengths[i % lengths.length] ?? 0
        const statement = chance.between(1, calm.statements)
        const { violations, tookMs, writes } = await rollOut('calm', { statement, ms })
        expect(violations).toEqual([])
        if (tookMs > 2 * pauseMs + graceMs || writes > 1)
          late.push(`${ms} ms from statement ${statement} on: ${tookMs} ms, ${writes} writes`)
      }
      expect(late).toEqual([])
    },
  )
})
