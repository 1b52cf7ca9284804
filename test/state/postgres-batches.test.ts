import { afterEach, beforeEach, expect } from 'vitest'
import { openDatabase } from '../../src/state/postgres/open-database.ts'
import { createPostgresFiles } from '../../src/state/postgres/postgres-files.ts'
import { PostgresLocks } from '../../src/state/postgres/postgres-locks.ts'
import { formatBatch } from '../../src/state/format/journal.ts'
import { buildItem, buildWave } from './store-contract.ts'
import { context, TestSchema } from './test-schema.ts'
import { itLong } from '../runs.ts'

const [a, b] = ['a.example.com', 'b.example.com']

let schema: TestSchema
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(() => schema.remove())

function open() {
  const database = openDatabase(schema.configure(), context)
  return createPostgresFiles(database, new PostgresLocks(database, 'lock/a'))
}

/** Formats a wave with these domains; the value looks like a line of a wave. */
function format(...domains: string[]): string {
  const item = buildItem('1', { candidates: [`\n    "${a}": {"x\u0000": "y"}`] })
  const before = new Map(domains.map((domain) => [domain, new Map([['timeout', item]])]))
  return formatBatch(buildWave('one', before))
}

const write = (path: string, text: string | null) => open().write([new Map([[path, text]])], '')
const find = async (folder: string, domain: string) => [
  ...((await open().loadNaming?.(folder, domain)) ?? []),
]

itLong('finds the waves that name a domain, in one folder only', async () => {
  const both = format(a, b)
  await write('w/home/batches/one/1.json', both)
  await write('w/home/batches/one/2.json', format(b))
  await write('w/home/batches-2/one/1.json', format(a))
  await write('w/home/domains/1.json', format(a))
  await write('v/home/batches/one/1.json', format(a))
  expect(await find('w/home/batches', a)).toEqual([['w/home/batches/one/1.json', both]])
  expect((await find('w/home/batches', b)).map(([path]) => path).toSorted()).toEqual([
    'w/home/batches/one/1.json',
    'w/home/batches/one/2.json',
  ])
  for (const other of ['example.com', 'a.example', '%'])
    expect(await find('w/home/batches', other)).toEqual([])
})
