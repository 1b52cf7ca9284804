// @module-tag often

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

/** A manifest of 2.5 MB whose problems take the parser half a minute, and much memory. */
const heavy = `domain: heavy.example.com\nconfig: {a: 1\n${'b: }\n'.repeat(500_000)}`

it('a commit that takes too long to load is refused, and the leader lives on', async () => {
  enterServed('rollout: {waves: [1, 100%], pause: 20s}\n')
  configure(5, 60)
  commit()
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
  await replica.waitFor(': waiting')
  for (let i = 0; i < 6; i++) writeFileSync(join(place.root, `domains/heavy${i}.yaml`), heavy)
  const bad = commit()
  let [isOver, longestMs] = [false, 0]
  const watch = async () => {
    while (!isOver) {
      const sinceMs = performance.now()
      for (const each of [url, healthUrl]) expect((await fetch(`${each}/healthz`)).status).toBe(200)
      longestMs = Math.max(longestMs, performance.now() - sinceMs)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const watching = watch()
  const refused = await replica.waitFor(`commit ${bad.slice(0, 12)} is not applied`)
  expect(refused.message).toMatch(/takes more than (60 seconds|1024 MB of memory)/)
  // The rollout of the commit before it goes on to its end.
  await until(async () => (await listSent()).length === 2)
  await until(async () => (await loadApplied()).status === 'failed')
  const metrics = await (await replica.get('/metrics')).text()
  expect(metrics).toMatch(/edgewise_invalid_commits_total\{.*\} 1\n/)
  git('rm', '--quiet', 'domains/heavy*.yaml')
  place.manifest(name(1), { timeout: { time: 70 } })
  const last = commit()
  await until(async () => {
    const applied = await loadApplied()
    return applied.commit === last && applied.status === 'done'
  })
  isOver = true
  await watching
  expect(longestMs).toBeLessThan(1000)
  expect(replica.process.exitCode).toBe(null)
}, 300_000)
