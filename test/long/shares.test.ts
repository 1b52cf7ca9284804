// @module-tag often
// @module-tag nightly

import { ended, notApplied } from '../server/replica.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import {
  commit,
  configure,
  enterServed,
  name,
  setServeStage,
  start,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

const settings = (viewer: string) =>
  'serve: {auth: {proxy: {from: [127.0.0.0/8], user: X-User}}}\n' +
  `roles: [{role: viewer, users: [${viewer}]}]\n`

/** Holds each process that plans a workspace with this file. */
const heavy = 'CODEOWNERS'
const preload = `
import { existsSync } from 'node:fs'
const root = process.argv[process.argv.indexOf('-C') + 1]
if (process.argv.includes('plan') && existsSync(root + '/${heavy}')) {
  const all = []
  for (;;) all.push({ a: [all.length] })
}`

it('a viewer with 120 slow requests keeps a program waiting for a few of them only', async () => {
  enterServed(settings('eve@example.com'))
  configure(3, 60)
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  await replica.waitFor('pages of domains made')
  const statuses: number[] = []
  const countLooks = () => statuses.filter((status) => status === 200).length
  const path = `/domains/${name(1)}?url=https://${name(1)}/`
  const looks = Array.from({ length: 120 }, async () => {
    const answer = await replica.get(path, { headers: { 'x-user': 'eve@example.com' } })
    await answer.text()
    statuses.push(answer.status)
  })
  const begin = performance.now()
  expect((await replica.get('/api/plan')).status).toBe(200)
  const seconds = (performance.now() - begin) / 1000
  const before = countLooks()
  await Promise.all(looks)
  console.log(`/api/plan waited ${seconds.toFixed(1)} s, for ${before} of ${countLooks()} traces`)
  expect([countLooks(), statuses.length]).toEqual([12, 120])
  expect(before).toBeLessThanOrEqual(6)
}, 120_000)

it('the roles of a refused commit are those of the last accepted one', async () => {
  enterServed(settings('eve@example.com'))
  configure(1, 60)
  const good = commit()
  place.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(preload)}`
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  const look = async (user: string) =>
    (await replica.get('/', { headers: { 'x-user': user } })).status
  expect([await look('eve@example.com'), await look('ada@example.com')]).toEqual([200, 403])
  const file = join(place.root, 'edgewise.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('eve@example.com', 'ada@example.com'))
  writeFileSync(join(place.root, heavy), '* @acme/all\n')
  const bad = commit()
  await replica.waitFor(notApplied(bad))
  expect([await look('eve@example.com'), await look('ada@example.com')]).toEqual([200, 403])
  const said = await replica.waitFor('roles of an earlier commit used')
  expect(said['commit']).toBe(good)
  expect(said['error']).toMatch(/takes more than (1024 MB of memory|60 seconds)/)
}, 300_000)
