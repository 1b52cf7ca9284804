// @module-tag often
// @module-tag nightly

import { ended } from '../server/replica.ts'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { it, onTestFinished } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import { findServer } from '../state/test-schema.ts'
import { commit, configure, enterServed, setServeStage, start } from '../server/serve-stage.ts'

setStage()
setServeStage()

/** Reads the statements of the page for an administrator, and replaces the names in them. */
function readStatements(database: string, role: string): string[][] {
  const page = new URL('../../docs/guides/many-repositories.md', import.meta.url)
  const [, block = ''] = /^```sql\n(create role[^]*?)^```/m.exec(readFileSync(page, 'utf8')) ?? []
  return block
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\bcdn\b/g, database)
    .replaceAll(/\bedgewise(?=_reader\b)/g, role)
    .replaceAll(/\b(role|authorization|to) edgewise\b/g, `$1 ${role}`)
    .split(/^\\connect \w+$/m)
    .map((part) => part.split(';').flatMap((statement) => statement.trim() || []))
}

async function run(url: URL, statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

it('serves with the rights that the page grants', async () => {
  const id = randomUUID().replaceAll('-', '')
  const [database, role] = [`cdn_${id}`, `edgewise_${id}`]
  const [first = [], then = []] = readStatements(database, role)
  const admin = new URL(findServer())
  const inside = new URL(admin)
  inside.pathname = `/${database}`
  onTestFinished(() =>
    run(admin, [
      `drop database if exists ${database} with (force)`,
      `drop role if exists ${role}`,
      `drop role if exists ${role}_reader`,
    ]),
  )
  await run(admin, first)
  await run(inside, then)
  const own = new URL(inside)
  Object.assign(own, { username: role, password: 'CHANGE-ME-1' })

  enterServed()
  configure(1, 60)
  commit()
  const text = `state: {store: postgres, url: "\${env:DATABASE_URL}"}`
  place.write('edgewise.yaml', place.read('edgewise.yaml').replace(/^state: .*$/m, text))
  commit()
  place.env['DATABASE_URL'] = own.href
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  await replica.end('SIGTERM')
})
