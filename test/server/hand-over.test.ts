// @module-tag often
import { afterEach, beforeEach, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { createHandOver } from '../../src/server/leader/hand-over.ts'
import { createBoard } from '../../src/state/postgres/board.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { context, TestSchema } from '../state/test-schema.ts'
import { createPosition } from '../../src/server/leader/position.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

const pollMs = 60_000
const openBoard = () => createBoard(openDatabase(schema.configure(), context), 'w')

/** Creates a replica whose time passes with `wait`. */
function stage(replica: string, term: number | null, board = openBoard()) {
  let nowMs = 0
  const lines: string[] = []
  const position = { ...createPosition(0), term }
  const log = (text: string) => void lines.push(text)
  const handOver = createHandOver({
    board,
    replica,
    pollMs,
    position,
    clock: { monotonic: () => nowMs },
    logger: { error: log, debug: log },
    end: () => void lines.push('end'),
  })
  const fail = async () => {
    nowMs += 2 * pollMs
    await handOver.noteFailed()
  }
  return { ...handOver, fail, position, lines }
}

it('a leader that misses two fetches hands over, once another replica can fetch', async () => {
  const [leader, other] = [stage('a', 1), stage('b', null)]
  await leader.noteFetched('c1')
  await leader.noteFailed()
  expect(leader.position.isCutOff).toBe(false)
  // Nobody else has fetched: the remote may be down for all.
  await leader.fail()
  expect(leader.position.isCutOff).toBe(false)
  await other.noteFetched('c2')
  await leader.fail()
  expect(leader.position).toMatchObject({ isCutOff: true, hasHandedOver: true })
  expect(leader.lines).toEqual([expect.stringContaining('hands over'), 'end'])
})

it('a standby that is cut off only knows it, until it can fetch again', async () => {
  const [standby, other] = [stage('a', null), stage('b', 1)]
  await other.noteFetched('c1')
  await standby.fail()
  expect(standby.position).toMatchObject({ isCutOff: true, hasHandedOver: false })
  expect(standby.lines).toEqual([])
  await standby.noteFetched('c1')
  expect(standby.position.isCutOff).toBe(false)
})

it('a workspace has at most one hand-over in ten minutes', async () => {
  await stage('c', null).noteFetched('c1')
  const [first, second] = [stage('a', 1), stage('b', 2)]
  await first.fail()
  await second.fail()
  expect([first, second].map(({ lines }) => lines.includes('end'))).toEqual([true, false])
  await schema.query(`update "${schema.name}".board set at = at - interval '11 minutes'
    where name = 'hand-over'`)
  await second.fail()
  expect(second.lines).toContain('end')
})

it('what another fetched long ago, or what another workspace has, is no reason', async () => {
  await stage('b', null).noteFetched('c1')
  await schema.query(`update "${schema.name}".board set at = at - interval '3 minutes'`)
  const foreign = createBoard(openDatabase(schema.configure(), context), 'other')
  await foreign.postFetched('c', 'c1')
  const leader = stage('a', 1)
  await leader.fail()
  expect(leader.position.isCutOff).toBe(false)
})

it('a database that is away moves nothing', async () => {
  const away = () => Promise.reject(new EdgewiseError('record-unreachable', 'it is away', ''))
  const board = { ...openBoard(), hasOtherFetched: away, postFetched: away }
  const leader = stage('a', 1, board)
  await leader.noteFetched('c1')
  await leader.fail()
  expect(leader.position.hasHandedOver).toBe(false)
  expect(leader.lines).toEqual(Array(2).fill(expect.stringContaining('it is away')))
})

it('the board is added to tables of an earlier version, and keeps no replica for long', async () => {
  await openBoard().read('drift')
  await schema.query(`drop table "${schema.name}".board`)
  const board = openBoard()
  await board.postFetched('a', 'c1')
  await board.post('drift', 'found')
  await schema.query(`update "${schema.name}".board set at = at - interval '2 days'`)
  await board.postFetched('b', 'c1')
  const names = ['drift', 'fetch a', 'fetch b', 'other']
  const texts = await Promise.all(names.map((each) => board.read(each)))
  expect(texts).toEqual(['found', null, 'c1', null])
})
