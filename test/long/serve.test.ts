// @module-tag often

import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { token } from '../steps/cli.ts'
import { signed } from '../stories/secrets-through-ci.ts'
import { place, setStage } from '../steps/stage.ts'
import { serveToken, ended } from '../server/replica.ts'
import {
  commit,
  enterServed,
  git,
  listSent,
  name,
  setServeStage,
  start,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

it('applies each new commit, and stops on SIGTERM', async () => {
  enterServed()
  place.manifest(name(1), { timeout: { time: 60 } })
  const first = commit()
  const replica = await start()
  await replica.waitFor(ended(first, 'done'))
  place.manifest(name(1), { timeout: { time: 70 } })
  const second = commit()
  await replica.waitFor(ended(second, 'done'))
  expect(await listSent()).toEqual([1, 1])
  const status = (await (await replica.get('/api/status')).json()) as Record<string, unknown>
  expect(status).toMatchObject({ role: 'leader', commit: second, applied: { status: 'done' } })
  expect((await replica.get('/readyz')).status).toBe(200)
  const metrics = await (await replica.get('/metrics')).text()
  expect(metrics).toMatch(/edgewise_writes_total\{outcome="confirmed",.*\} 2/)
  const probe = async (path: string) => (await fetch(replica.healthUrl + path)).status
  expect(await Promise.all(['/healthz', '/readyz', '/metrics', '/'].map(probe))).toEqual([
    200, 200, 200, 404,
  ])
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.log.at(-1)?.message).toBe('replica stopped')
  expect(replica.err).not.toContain(token)
  // Each line says whose it is, the first one as soon as the commit is known.
  const [begin, ...others] = replica.log
  expect(begin).toMatchObject({ commit: first, replica: expect.stringMatching(/-\d+$/) as string })
  for (const line of others)
    expect(line).toMatchObject({ workspace: 'default', replica: begin?.['replica'] })
  expect(replica.log.at(-1)?.['commit']).toBe(second)
})

it('without a token of the service says so, and leaves the lead to others', async () => {
  enterServed()
  place.manifest(name(1), { timeout: { time: 60 } })
  const tip = commit()
  delete place.env['EDGEWISE_TOKEN']
  const without = await start()
  const { error, level } = await without.waitFor('replica unable to lead')
  expect([error, level]).toEqual([expect.stringContaining('EDGEWISE_TOKEN'), 'error'])
  place.env['EDGEWISE_TOKEN'] = token
  const leader = await start()
  await leader.waitFor(ended(tip, 'done'))
  const { role } = (await (await without.get('/api/status')).json()) as { role: string }
  expect(role).toBe('standby')
  expect(await without.end('SIGTERM')).toBe(143)
})

it('judges guards once the secrets of commands are compared', async () => {
  enterServed()
  // In no commit.
  const file = '.git/signing'
  place.write(file, 'first-signing-key\n')
  const source = `secrets: {signing: {command: [cat, "${join(place.root, file)}"]}}\n`
  place.write('edgewise.yaml', place.read('edgewise.yaml') + source)
  place.manifest(name(1), signed()).manifest(name(2), { timeout: { time: 60 } })
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  place.write('edgewise.yaml', `${place.read('edgewise.yaml')}guards: {protect: ["${name(1)}"]}\n`)
  place.manifest(name(2), { timeout: { time: 70 } })
  const same = commit()
  await replica.waitFor(ended(same, 'done'))
  const before = await listSent()
  place.write(file, 'second-signing-key\n')
  place.manifest(name(2), { timeout: { time: 80 } })
  const other = commit()
  await replica.waitFor(ended(other, 'failed'))
  expect(replica.err).toContain(`protect: ${name(1)} is protected`)
  expect(await listSent()).toEqual(before)
})

it('names what is wrong with a commit, and applies the next one', async () => {
  enterServed()
  place.manifest(name(1), { timeout: { time: 60 } })
  commit()
  const replica = await start()
  await replica.waitFor(ended('', 'done'))
  writeFileSync(join(place.root, 'domains/bad.yaml'), 'domain: bad.example.com\nconfig: {tim: 1}\n')
  commit()
  expect((await replica.waitFor('commit not applied'))['error']).toContain('domains/bad.yaml:2:')
  place.manifest('bad.example.com', { timeout: { time: 61 } })
  git('rm', '--quiet', '--force', '--ignore-unmatch', 'domains/bad.yaml')
  const last = commit()
  await replica.waitFor(ended(last, 'done'))
})

it('wakes for a signed webhook, and for no other', async () => {
  enterServed()
  place.manifest(name(1), { timeout: { time: 60 } })
  commit()
  const key = 'key-of-the-webhook-of-the-host'
  place.env['EDGEWISE_WEBHOOK_SECRET'] = key
  const replica = await start('--poll', '86400')
  await replica.waitFor(ended('', 'done'))
  place.manifest(name(1), { timeout: { time: 70 } })
  const second = commit()
  const body = '{"ref":"refs/heads/main"}'
  const post = async (secret: string) => {
    const signature = createHmac('sha256', secret).update(body).digest('hex')
    const headers = { 'x-hub-signature-256': `sha256=${signature}` }
    return (await replica.get('/webhook', { method: 'POST', body, headers })).status
  }
  expect(await post('another-key-than-that-one')).toBe(401)
  expect(await post(key)).toBe(202)
  await replica.waitFor(ended(second, 'done'))
  expect(replica.err).not.toContain(key)
})

it('refuses to begin with state that is not in PostgreSQL', async () => {
  enterServed()
  place.write('edgewise.yaml', 'version: 1\n')
  commit()
  await expect(start()).rejects.toThrow(/serve needs its state in PostgreSQL/)
})

it('names the variable of the address of the database that has no value', async () => {
  enterServed()
  commit()
  delete place.env['DATABASE_URL']
  await expect(start()).rejects.toThrow(/no address of the database .*DATABASE_URL/)
})

it('accepts secrets with a line end after them, and refuses other blanks', async () => {
  enterServed()
  place.manifest(name(1), { timeout: { time: 60 } })
  commit()
  place.env['EDGEWISE_SERVE_TOKEN'] = `${serveToken}\n`
  place.env['EDGEWISE_WEBHOOK_SECRET'] = ' key-of-the-webhook-of-the-host'
  await expect(start()).rejects.toThrow(/EDGEWISE_WEBHOOK_SECRET has blanks/)
  place.env['EDGEWISE_WEBHOOK_SECRET'] = 'key-of-the-webhook-of-the-host\n'
  const replica = await start()
  expect((await replica.get('/api/status')).status).toBe(200)
  const headers = { 'x-gitlab-token': 'key-of-the-webhook-of-the-host' }
  expect((await replica.get('/webhook', { method: 'POST', headers })).status).toBe(202)
})
