// @module-tag often
// @module-tag nightly

import { ended, notApplied } from '../server/replica.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import {
  commit,
  configure,
  enterServed,
  git,
  listSent,
  name,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

/** Fills the memory of each process that plans a workspace with this file. */
const heavy = 'domains/heavy.yaml'
const preload = `
import { existsSync } from 'node:fs'
const root = process.argv[process.argv.indexOf('-C') + 1]
if (process.argv.includes('plan') && existsSync(root + '/${heavy}')) {
  const all = []
  for (;;) all.push({ a: [all.length] })
}`

it('a commit that takes too much to load is refused, and the leader lives on', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 20s}\n')
  configure(5, 60)
  commit()
  place.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(preload)}`
  const replica = await start()
  const { url, healthUrl } = replica
  const loadApplied = async () => {
    const status = (await (await replica.get('/api/status')).json()) as {
      role: string
      applied: { commit: string; status: string }
    }
    expect(status.role).toBe('leader')
    return status.applied
  }
  await replica.waitFor(ended('', 'waiting'))
  writeFileSync(join(place.root, heavy), 'domain: heavy.example.com\nconfig: {https: {}}\n')
  const bad = commit()
  let isOver = false
  const watch = async () => {
    while (!isOver) {
      const signal = AbortSignal.timeout(10_000)
      for (const each of [url, healthUrl])
        expect((await fetch(`${each}/healthz`, { signal })).status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const watching = watch()
  const refused = await replica.waitFor(notApplied(bad))
  // Which limit is reached first depends on the machine.
  expect(refused['error']).toMatch(/takes more than (1024 MB of memory|60 seconds)/)
  // The rollout of the commit before it goes on to its end.
  await until(async () => (await listSent()).length === 2)
  await until(async () => (await loadApplied()).status === 'failed')
  const metrics = await (await replica.get('/metrics')).text()
  expect(metrics).toMatch(/edgewise_invalid_commits_total\{.*\} 1\n/)
  git('rm', '--quiet', heavy)
  place.manifest(name(1), { timeout: { time: 70 } })
  const last = commit()
  await until(async () => {
    const applied = await loadApplied()
    return applied.commit === last && applied.status === 'done'
  })
  isOver = true
  await watching
  expect(replica.process.exitCode).toBe(null)
}, 300_000)
