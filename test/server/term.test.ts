import { afterEach, beforeEach, expect } from 'vitest'
import { createLogger } from '../../src/server/logger.ts'
import { keepTerm } from '../../src/server/leader/term.ts'
import { createLeadership } from '../../src/state/postgres/leadership.ts'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { context, TestSchema } from '../state/test-schema.ts'
import { buildMachine } from './followed.ts'
import { itLong } from '../runs.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

const onTick = () => undefined
const logger = createLogger({
  clock: { now: () => 0 },
  out: () => undefined,
  format: 'json',
  level: 'error',
})

itLong('a leader notices a wake before its first sign of life, but not earlier ones', async () => {
  const open = () => createLeadership(openDatabase(schema.configure(), context), 'w')
  const [leader, other] = [open(), open()]
  const machine = buildMachine(1)
  await leader.resign((await leader.campaign('one', machine))?.number ?? 0)
  await other.wake()
  const term = await leader.campaign('two', machine)
  if (term === null) throw new Error('expected a term')
  const noticed: number[] = []
  const ended = new AbortController()
  // Before the second sign of life, somebody wakes it; after the third one, the term ends.
  let beats = 0
  const clock = {
    ...context.clock,
    now: () => 0,
    sleep: async () => {
      beats++
      if (beats === 2) await other.wake()
      if (beats === 4) ended.abort()
    },
  }
  const outside = { clock, signal: ended.signal }
  const onWake = () => void noticed.push(beats)
  expect(await keepTerm(leader, term, outside, { logger, onTick, onWake })).toBe(false)
  expect(noticed).toEqual([2])
  await other.wake()
  const again = new AbortController()
  const soon = { ...clock, sleep: async () => void (noticed.length > 1 && again.abort()) }
  const endless = { clock: soon, signal: again.signal }
  await keepTerm(leader, term, endless, { logger, onTick, onWake: () => void noticed.push(0) })
  expect(noticed).toEqual([2, 0])
})
