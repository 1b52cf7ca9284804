// @module-tag often
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { createHandOver } from '../../src/server/leader/hand-over.ts'
import { createLeadership } from '../../src/state/postgres/leadership.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { context, TestSchema } from '../state/test-schema.ts'
import type { Outside } from '../../src/operations/runtime/parts.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

const pollMs = 60_000
const elect = (workspace = 'w') =>
  createLeadership(openDatabase(schema.configure(), context), workspace)
const machine = {} as Outside['machine']
/** Lets time pass in the database. */
const age = (name: string, minutes: number) =>
  schema.query(
    `update "${schema.name}".leaders set seen_at = seen_at - $2 * interval '1 minute'
     where workspace = $1`,
    [name, minutes],
  )

/** Creates a replica whose time passes with `wait`. */
function stage(replica: string, term: number | null, leadership = elect()) {
  let nowMs = 0
  const lines: string[] = []
  const position = { term, isOvertaken: false, isCutOff: false, tickMs: 0, awayMs: null }
  const log = (text: string) => void lines.push(text)
  const handOver = createHandOver({
    leadership,
    pollMs,
    position,
    outside: { clock: { monotonic: () => nowMs }, machine, newId: () => replica },
    logger: { error: log, debug: log },
    note: async (text) => log(text),
    end: () => void lines.push('end'),
  })
  /** Fails twice, for as long as two fetches. */
  const fail = async () => {
    await handOver.noteFailed()
    nowMs += 2 * pollMs
    await handOver.noteFailed()
  }
  const pass = (ms: number) => void (nowMs += ms)
  return { ...handOver, fail, pass, position, lines }
}

it('a leader that misses two fetches hands over, once another replica can fetch', async () => {
  const [leader, other] = [stage('a', 1), stage('b', null)]
  await leader.noteFetched()
  await leader.noteFailed()
  expect(leader.position.isCutOff).toBe(false)
  // Nobody else has fetched: the remote may be down for all.
  await leader.fail()
  expect(leader.position.isCutOff).toBe(false)
  await other.noteFetched()
  await leader.noteFailed()
  expect(leader.position.isCutOff).toBe(true)
  const handsOver = expect.stringContaining('hands over') as string
  expect(leader.lines).toEqual(['leadership handed over', handsOver, 'end'])
})

it('a standby that is cut off only knows it, until it can fetch again', async () => {
  const [standby, other] = [stage('a', null), stage('b', 1)]
  await other.noteFetched()
  await standby.fail()
  expect(standby.position.isCutOff).toBe(true)
  expect(standby.lines).toEqual([])
  await standby.noteFetched()
  expect(standby.position.isCutOff).toBe(false)
})

it('a workspace has at most one hand-over in ten minutes', async () => {
  await stage('c', null).noteFetched()
  const [first, second] = [stage('a', 1), stage('b', 2)]
  await first.fail()
  await second.fail()
  expect([first, second].map(({ lines }) => lines.includes('end'))).toEqual([true, false])
  await age('w hand-over', 11)
  await second.fail()
  expect(second.lines).toContain('end')
})

it('what another fetched before the first failure of a leader is no reason', async () => {
  await stage('b', null).noteFetched()
  await age('w fetch', 1)
  const leader = stage('a', 1)
  leader.pass(1.5 * pollMs)
  await leader.noteFailed()
  leader.pass(0.75 * pollMs)
  await leader.noteFailed()
  expect(leader.position.isCutOff).toBe(false)
  await stage('b', null).noteFetched()
  await leader.noteFailed()
  expect(leader.position.isCutOff).toBe(true)
})

it('what another fetched long ago, or what another workspace has, is no reason', async () => {
  await stage('b', null).noteFetched()
  await age('w fetch', 3)
  await stage('c', null, elect('other')).noteFetched()
  const leader = stage('a', 1)
  await leader.fail()
  expect(leader.position.isCutOff).toBe(false)
})

it('a database that is away moves nothing', async () => {
  const away = () => Promise.reject(new EdgewiseError('record-unreachable', 'it is away', ''))
  const leader = stage('a', 1, { ...elect(), findFetched: away, noteFetched: away })
  await leader.noteFetched()
  await leader.fail()
  expect(leader.position.isCutOff).toBe(false)
  expect(leader.lines).toEqual(['fetch not shared', 'fetch not shared'])
})
