// @module-tag often
import { setImmediate as tick } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import { openDatabase } from '../../../src/state/postgres/open-database.ts'
import { context, findServer, TestSchema } from '../../state/test-schema.ts'
import { Chance } from '../chance.ts'
import { SqlServer } from './server.ts'

/** A statement of one of two sessions, without the schema, and its values. */
type Step = [session: number, statement: string, values: unknown[]]

/** Two sessions of a server, and whether one of them waits for the other one. */
interface Sessions {
  query(session: number, statement: string, values: unknown[]): Promise<{ rows: unknown[] }>
  isWaiting(session: number): Promise<boolean>
}

const begin = 'begin isolation level read committed'
/** Sent before all others: the simulation does not know when a second one has to wait. */
const insert = 'insert into @.leaders (workspace) values ($1) on conflict do nothing'
const sessions = [0, 1]

/** Draws statements of two transactions at a time on few rows. */
function drawSteps(chance: Chance): Step[] {
  const drawPath = () => chance.pick(['a', 'b', 'b/c'])
  let tokens = 0
  const drawToken = () => `${chance.between(1, Math.min(tokens, 2) + 1)}`
  const drawStatement = (): [string, unknown[]] =>
    chance.pick<() => [string, unknown[]]>([
      () => ['select text from @.files where path = $1', [drawPath()]],
      () => ['select path from @.files where path > $1 and path < $2 order by path', ['b/', 'b0']],
      () => [
        `insert into @.files (path, text) select * from unnest($1::text[], $2::text[])
         on conflict (path) do update set text = excluded.text`,
        [[drawPath()], [`${chance.between(1, 99)}`]],
      ],
      () => [
        `delete from @.files using unnest($1::text[]) as gone
         where path = gone or (path > gone || '/' and path < gone || '0')`,
        [[drawPath()]],
      ],
      () => ['lock table @.guards in exclusive mode', []],
      () => ['select pg_advisory_xact_lock($1)', [7]],
      () => ['select version, text from @.locks where token = $1 for share', [drawToken()]],
      () => ['select text from @.locks where token = $1 for update', [drawToken()]],
      () => ['delete from @.locks where token = any($1)', [[drawToken()]]],
      () => ['update @.locks set held = true where token = $1', [drawToken()]],
      () => [
        `insert into @.locks (account, workspace, domains, token, text)
         values ($1, $2, $3, $4, $5) returning version`,
        ['lock', 'w', null, `${++tokens}`, 'text'],
      ],
      () => [
        `select number, token, process, wakes,
           seen_at < clock_timestamp() - $2 * interval '1 millisecond' as ended
         from @.leaders where workspace = $1 for update`,
        // Before 1970: the clocks of the two servers differ.
        ['w', 1e14],
      ],
      () => [
        `update @.leaders set number = $2, token = $3, process = $4, seen_at = clock_timestamp()
         where workspace = $1`,
        ['w', chance.between(1, 3), drawToken(), '{}'],
      ],
      () => [
        `update @.leaders set seen_at = clock_timestamp()
         where workspace = $1 and number = $2 returning wakes`,
        ['w', chance.between(1, 3)],
      ],
      () => ['select number from @.leaders where workspace = $1', ['w']],
      () => [
        `update @.leaders set token = null, process = '{}', seen_at = 'epoch'
         where workspace = $1 and number = $2`,
        ['w', chance.between(1, 3)],
      ],
      () => ['update @.leaders set wakes = wakes + 1 where workspace = $1', ['w']],
      () => [
        `update @.locks set version = $2, text = $3, change = $4
         where token = $1 and (version = $2 - 1 or change = $4) returning version`,
        [drawToken(), chance.between(1, 4), `${chance.between(1, 99)}`, chance.pick(['x', 'y'])],
      ],
    ])()
  const random = Array.from({ length: 60 }, (): Step[] => {
    const session = chance.pick(sessions)
    if (chance.happens(0.7)) return [[session, ...drawStatement()]]
    return [
      [session, 'commit', []],
      [session, begin, []],
    ]
  })
  const commit = (session: number): Step => [session, 'commit', []]
  const first: Step[] = [
    [0, begin, []],
    [0, insert, ['w']],
    commit(0),
    ...sessions.map((session): Step => [session, begin, []]),
  ]
  return [...first, ...random.flat(), commit(0), commit(1), commit(0)]
}

/** Sends the steps of each session that does not wait; returns all rows, failures and waits. */
async function play(steps: Step[], server: Sessions): Promise<string[]> {
  const heard: string[] = []
  const pending = new Map<number, { outcome: string | null }>()
  for (const [session, statement, values] of steps) {
    if (!pending.has(session)) {
      const sent: { outcome: string | null } = { outcome: null }
      pending.set(session, sent)
      void server.query(session, statement, values).then(
        ({ rows }) => (sent.outcome = JSON.stringify(rows)),
        (error: Error) => (sent.outcome = 'code' in error ? String(error.code) : error.message),
      )
    }
    // What it sends may be what the other one waits for.
    for (const other of [session, 1 - session]) {
      const sent = pending.get(other)
      if (sent === undefined) continue
      while (sent.outcome === null && !(await server.isWaiting(other))) await tick()
      heard.push(`${statement}: ${other} ${sent.outcome ?? 'waits'}`)
      if (sent.outcome !== null) pending.delete(other)
    }
  }
  return heard
}

async function playSimulated(steps: Step[]): Promise<string[]> {
  const server = new SqlServer({ now: () => 0, after: () => undefined })
  const connect = () => {
    const session = server.connect()
    const query = (text: string, values?: unknown[]) => session.query(text, values)
    const ignore = () => undefined
    return { query, on: ignore, off: ignore, release: () => session.lose() }
  }
  const config = { url: 'postgres://simulated/database', schema: 'edgewise' }
  const createPool = () => ({ connect: async () => connect() })
  await openDatabase(config, { ...context, createPool }).transact(async () => undefined)
  const opened = sessions.map(() => server.connect())
  return play(steps, {
    query: async (session, statement, values) => {
      const found = opened[session]
      if (found === undefined) throw new TypeError('expected a session')
      return found.query(statement.replace('@', '"edgewise"'), values)
    },
    isWaiting: async () => {
      await tick()
      return server.engine.locks.waiting > 0
    },
  })
}

async function playReal(steps: Step[], schema: TestSchema): Promise<string[]> {
  await schema.query(`drop schema if exists ${schema.name} cascade`)
  await openDatabase(schema.configure(), context).transact(async () => undefined)
  const clients = sessions.map(() => new pg.Client({ connectionString: findServer() }))
  for (const client of clients) await client.connect()
  const pids: unknown[] = []
  for (const client of clients)
    pids.push((await client.query('select pg_backend_pid() as pid')).rows[0]?.pid)
  const heard = await play(steps, {
    query: async (session, statement, values) => {
      const client = clients[session]
      if (client === undefined) throw new TypeError('expected a session')
      return client.query(statement.replace('@', schema.name), values)
    },
    isWaiting: async (session) => {
      const [row] = await schema.query('select cardinality(pg_blocking_pids($1)) as blocking', [
        pids[session],
      ])
      return Number(row?.['blocking']) > 0
    },
  })
  for (const client of clients) await client.end()
  return heard
}

it('two open transactions see and await each other as in PostgreSQL', async () => {
  const schema = await TestSchema.make()
  let waits = 0
  for (let seed = 1; seed <= 25; seed++) {
    const steps = drawSteps(new Chance(`interleaving ${seed}`))
    const simulated = await playSimulated(steps)
    waits += simulated.filter((line) => line.endsWith('waits')).length
    // PostgreSQL looks for a deadlock after a second only, and may then choose the other one.
    if (simulated.some((line) => line.endsWith('40P01'))) continue
    expect(simulated, `seed ${seed}`).toEqual(await playReal(steps, schema))
  }
  expect(waits).toBeGreaterThan(20)
  await schema.remove()
})
