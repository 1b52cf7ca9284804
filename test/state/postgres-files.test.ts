// @module-tag often
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { createPostgresFiles } from '../../src/state/postgres/postgres-files.ts'
import { PostgresLocks } from '../../src/state/postgres/postgres-locks.ts'
import { acquireAccount, machine } from './contender.ts'
import { context, TestSchema } from './test-schema.ts'

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

/** Opens files and a lock of an account, like a process of its own. */
function open(account: string, options = '') {
  const config = schema.configure((url) => url.searchParams.set('options', options))
  const database = openDatabase(config, context)
  const locks = new PostgresLocks(database, `lock/${account}`)
  return { locks, files: createPostgresFiles(database, locks) }
}

/** Creates a promise with its resolution. */
function createGate() {
  let release: () => void = () => undefined
  const opened = new Promise<void>((resolve) => (release = resolve))
  return { opened, open: release }
}

/** Waits until a process waits for a lock of the database. */
async function waitForWaiter(): Promise<void> {
  for (;;) {
    const [row] = await schema.query(
      `select count(*)::int as n from pg_stat_activity
       where application_name = $1 and wait_event_type = 'Lock'`,
      [schema.name],
    )
    if (row?.['n'] === 1) return
  }
}

const file = (path: string, text: string | null) => [new Map([[path, text]])]

describe('a change with a guard', () => {
  it.each(['read committed', 'repeatable read', 'serializable'])(
    'sees what another one has written before, if the default isolation is %s',
    async (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const [mine, theirs] = [open('mine', options), open('theirs', options)]
      await acquireAccount(mine, 'mine')
      await acquireAccount(theirs, 'theirs')
      const [checked, checking] = [createGate(), createGate()]
      const first = mine.files.publish(file('w/mine', 'text'), '', async () => {
        checking.open()
        await checked.opened
      })
      await checking.opened
      const seen: string[] = []
      const second = theirs.files.publish(file('w/theirs', 'text'), '', async (files) => {
        seen.push(...(await files.listPaths('w')))
      })
      await waitForWaiter()
      expect(seen).toEqual([])
      checked.open()
      await Promise.all([first, second])
      expect(seen).toEqual(['w/mine'])
    },
  )

  it('writes nothing if the guard refuses, and the next change does', async () => {
    const { files } = open('mine')
    const refuse = () => Promise.reject(new Error('no'))
    await expect(files.publish(file('w/a', '1'), '', refuse)).rejects.toThrow('no')
    expect(await files.load('w')).toEqual(new Map())
    await files.publish(file('w/a', '2'), '')
    expect(await files.load('w')).toEqual(new Map([['w/a', '2']]))
  })
})

it('a change under way keeps the lock from being taken over until it is written', async () => {
  const [mine, theirs] = [open('one'), open('one')]
  await acquireAccount(mine, 'mine')
  const [checked, checking] = [createGate(), createGate()]
  const writing = mine.files.publish(file('w/a', 'mine'), '', async () => {
    checking.open()
    await checked.opened
  })
  await checking.opened
  const seen = (async () => {
    await theirs.locks.revoke('mine', machine)
    await acquireAccount(theirs, 'theirs')
    return theirs.files.load('w')
  })()
  await waitForWaiter()
  checked.open()
  await writing
  expect(await seen).toEqual(new Map([['w/a', 'mine']]))
  await expect(mine.files.write(file('w/a', 'late'), '')).rejects.toMatchObject({
    code: 'record-moved',
  })
})

it('a folder has the files below it only, whatever characters their names have', async () => {
  const { files } = open('mine')
  const names = ['a/b', 'a/b/c', 'a/é', 'a/_%\\', 'a-b/c', 'a.b/c', 'a0/c', 'A/c', 'ab/c']
  await files.write([new Map(names.map((name) => [name, `text of ${name}`]))], '')
  expect(await files.listPaths('a')).toEqual(['a/_%\\', 'a/b', 'a/b/c', 'a/é'])
  expect((await files.load('a/b')).get('a/b/c')).toBe('text of a/b/c')
  expect(await files.listTopFolders()).toEqual(['A', 'a-b', 'a.b', 'a', 'a0', 'ab'])
  await files.write(file('a', null), '')
  expect(await files.listPaths('a')).toEqual([])
  expect(await files.listTopFolders()).toHaveLength(5)
})
