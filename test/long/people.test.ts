// @module-tag often
// @module-tag nightly

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import type { ChainFile } from '../../src/core/model/generated/state-types.ts'
import type { Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  getDatabase,
  git,
  listSent,
  name,
  runSql,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'
import { Browser } from '../people/browser.ts'
import { clientSecret, createKey, startProvider } from '../people/provider-stage.ts'
import { setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage()
setServeStage()

const auth = 'serve: {auth: {proxy: {from: [127.0.0.0/8], user: X-User}}}\n'
const file = () => join(place.root, 'edgewise.yaml')

/** Replaces the roles of the workspace file, which are its last line. */
function give(users: Record<string, string[]>): void {
  const roles = Object.entries(users).map(([role, names]) => ({ role, users: names }))
  const text = readFileSync(file(), 'utf8').replace(/^roles: .*\n/m, '')
  writeFileSync(file(), `${text}roles: ${JSON.stringify(roles)}\n`)
}

/** Returns the overview as a user sees it. */
async function look(replica: Replica, user: string): Promise<string> {
  return (await replica.get('/', { headers: { 'x-user': user } })).text()
}

/** Finds the rollout of a commit once its wave waits. */
async function findWaiting(replica: Replica, commitId: string): Promise<string> {
  let id = ''
  await until(async () => {
    const { rollouts } = (await (await replica.get('/api/rollouts')).json()) as {
      rollouts: { id: string; state: string; commit: string }[]
    }
    const found = rollouts.find((each) => each.commit === commitId)
    id = found?.id ?? ''
    return found?.state === 'waiting-for-approval'
  })
  return id
}

/** Approves by a form of a page as a user; returns the status, and why it is refused. */
async function approve(replica: Replica, id: string, user: string): Promise<[number, string]> {
  const page = await look(replica, user)
  const read = (field: string) =>
    new RegExp(`name="${field}" value="([^"]*)"`).exec(page)?.[1] ?? 'x'
  const answer = await replica.get(`/rollouts/${id}/approve`, {
    method: 'POST',
    headers: { 'x-user': user },
    body: new URLSearchParams({ token: read('token'), step: read('step') }),
    redirect: 'manual',
  })
  const text = await answer.text()
  return [answer.status, /class="message">([^<]*)</.exec(text)?.[1] ?? '']
}

/** Lists the entries of the history, first to last. */
async function listEntries(files: string): Promise<ChainFile[]> {
  const rows = await runSql(`select text from ${files} where path like '%/chain-0/%.json'`)
  return (rows as { text: string }[])
    .map(({ text }) => JSON.parse(text) as ChainFile)
    .toSorted((a, b) => a.number - b.number)
}

it('a role counts once it was on the branch before the commit of the rollout', async () => {
  enterServed(`rollout: {approval: [1]}\n${auth}`)
  give({ approver: ['ada@example.com'], operator: ['eve@example.com', 'ada@example.com'] })
  configure(2, 60)
  const first = commit()
  give({ approver: ['ada@example.com', 'eve@example.com'], operator: ['eve@example.com'] })
  configure(2, 61)
  const second = commit()
  expect(second).not.toBe(first)
  const replica = await start()
  const id = await findWaiting(replica, second)
  expect(await approve(replica, id, 'eve@example.com')).toEqual([
    403,
    'eve@example.com may not approve: that needs the role approver.',
  ])
  const page = await look(replica, 'eve@example.com')
  expect(page).toContain('<span data-who>eve@example.com</span>')
  expect(page).toMatch(/disabled aria-describedby="why-rollouts-[\w-]+-approve">/)
  expect((await replica.waitFor('action refused')).level).toBe('warn')
  expect(await (await replica.get('/metrics')).text()).toMatch(
    /denied_total\{.*action="approve".*\} [1-9]/,
  )
  expect(await listSent()).toEqual([])
  expect((await approve(replica, id, 'ada@example.com'))[0]).toBe(303)
  await until(async () => (await listSent()).length > 0)
  const files = `${getDatabase().schema}.files`
  await until(async () => (await listEntries(files)).some(({ kind }) => kind === 'apply'))
  const acts = (await listEntries(files)).map(({ kind, by }) => [kind, by.knownBy])
  expect(acts).toEqual([
    ['approval', 'proxy'],
    ['apply', 'serve'],
  ])
  // Eve may approve what comes after, and whoever lost a role lost it at once.
  configure(2, 62)
  const third = commit()
  const next = await findWaiting(replica, third)
  give({ approver: ['eve@example.com'], operator: ['ada@example.com'] })
  const last = commit()
  await until(async () => {
    const { commit: tip } = (await (await replica.get('/api/status')).json()) as { commit: string }
    return tip === last
  })
  expect((await approve(replica, next, 'ada@example.com'))[1]).toContain('the role approver')
  expect((await approve(replica, next, 'eve@example.com'))[0]).toBe(303)
})

it('an author does not approve, and two others have to', async () => {
  enterServed(`rollout: {approval: {wave: 1, by: 2, notAuthor: true}}\n${auth}`)
  const approvers = ['test@example.com', 'ada@example.com', 'bob@example.com', 'carl']
  give({ approver: approvers })
  configure(1, 60)
  commit()
  configure(1, 61)
  const second = commit()
  const replica = await start()
  const id = await findWaiting(replica, second)
  expect(await approve(replica, id, 'Test@Example.com')).toEqual([
    403,
    expect.stringMatching(
      /^test@example.com wrote a part of the change\. .* not for its authors\.$/,
    ),
  ])
  expect((await approve(replica, id, 'carl'))[1]).toContain('nothing proves an e-mail address')
  const byToken = await replica.get(`/api/rollouts/${id}/approve`, { method: 'POST' })
  expect(byToken.status).toBe(403)
  expect((await approve(replica, id, 'ada@example.com'))[0]).toBe(303)
  expect((await approve(replica, id, 'ada@example.com'))[1]).toContain('already approved')
  expect(await look(replica, 'bob@example.com')).toContain('ada@example.com approved')
  expect(await listSent()).toEqual([])
  const byCommand = await place.cli('rollout', 'approve', id)
  expect([byCommand.code, byCommand.err]).toEqual([1, expect.stringContaining('may not approve')])
  expect((await approve(replica, id, 'bob@example.com'))[0]).toBe(303)
  await until(async () => (await listSent()).length > 0)
})

it('the first commit with roles is approved by others than who adds himself', async () => {
  enterServed(auth)
  configure(1, 60)
  commit()
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  give({ approver: ['eve@example.com', 'ada@example.com'] })
  const waves = 'rollout: {approval: {wave: 1, by: 1, notAuthor: false}}\n'
  writeFileSync(file(), readFileSync(file(), 'utf8') + waves)
  configure(1, 61)
  git('add', '--all')
  git('commit', '--quiet', '--author', 'Eve <Eve@example.com>', '--message', 'Change')
  const first = git('rev-parse', 'HEAD')
  const replica = await start()
  const id = await findWaiting(replica, first)
  const [status, why] = await approve(replica, id, 'eve@example.com')
  expect([status, why]).toEqual([
    403,
    expect.stringMatching(/^eve@example.com wrote a part.*roles/),
  ])
  expect(await listSent()).toEqual([1])
  expect((await approve(replica, id, 'ada@example.com'))[0]).toBe(303)
  await until(async () => (await listSent()).length > 1)
  // Once they are taken away again, who adds himself is told that the token decides.
  give({})
  writeFileSync(file(), readFileSync(file(), 'utf8').replace(/^roles: .*\n/m, ''))
  const none = commit()
  await until(async () => {
    const { applied } = (await (await replica.get('/api/status')).json()) as {
      applied: { commit: string; status: string } | null
    }
    return applied?.commit === none && applied.status === 'done'
  })
  give({ approver: ['eve@example.com'] })
  configure(1, 62)
  const again = await findWaiting(replica, commit())
  expect((await approve(replica, again, 'eve@example.com'))[1]).toContain('only the token decides')
  const byToken = await replica.get(`/api/rollouts/${again}/approve`, { method: 'POST' })
  expect(byToken.status).toBe(200)
})

it('who wrote what was left by an apply of something else does not approve it', async () => {
  enterServed(`rollout: {approval: {wave: 1, notAuthor: true}}\n${auth}`)
  give({ approver: ['eve@example.com', 'ada@example.com'] })
  configure(2, 60)
  commit()
  configure(1, 61)
  git('add', '--all')
  git('commit', '--quiet', '--author', 'Eve <Eve@example.com>', '--message', 'Change')
  // Somebody else applies the other domain alone, without an approval, and the branch moves on.
  const guarded = readFileSync(file(), 'utf8')
  writeFileSync(file(), guarded.replace(/^rollout: .*\n/m, ''))
  commit()
  expect((await place.cli('apply', '--yes', '--target', name(1))).code).toBe(0)
  writeFileSync(file(), guarded)
  commit()
  const last = commit()
  const replica = await start()
  const id = await findWaiting(replica, last)
  expect(await approve(replica, id, 'eve@example.com')).toEqual([
    403,
    'eve@example.com wrote a part of the change.',
  ])
  expect((await approve(replica, id, 'ada@example.com'))[0]).toBe(303)
  await until(async () => (await listSent()).length > 1)
})

it('a refused item leaves an approved rollout open, until another value is committed', async () => {
  enterServed(`rollout: {approval: [1]}\n${auth}`)
  give({ approver: ['ada@example.com'] })
  configure(2, 60)
  commit()
  await setFaults(emulator, { kind: 'refuse', domain: name(1), item: 'timeout', probability: 1 })
  const replica = await start()
  const id = await findWaiting(replica, git('rev-parse', 'HEAD'))
  const approveByToken = (each: string) =>
    replica.get(`/api/rollouts/${each}/approve`, { method: 'POST' })
  expect((await approveByToken(id)).status).toBe(200)
  const list = async () =>
    (await (await replica.get('/api/rollouts')).json()) as {
      rollouts: { id: string; state: string }[]
    }
  await until(async () => (await list()).rollouts[0]?.state === 'incomplete')
  expect((await list()).rollouts).toMatchObject([{ id, approvedBy: ['token'] }])
  place.manifest(name(1), { timeout: { time: 61 } })
  const mended = commit()
  await setFaults(emulator)
  const next = await findWaiting(replica, mended)
  expect((await list()).rollouts.map((each) => each.id)).toEqual([next])
  expect((await approveByToken(next)).status).toBe(200)
  await until(async () => (await list()).rollouts.length === 0)
})

it('the program logs somebody in at a provider, and refuses a foreign job', async () => {
  let redirect = 'http://127.0.0.1:1/login/callback'
  const provider = await startProvider(() => redirect)
  onTestFinished(() => provider.close())
  provider.accounts.set('u1', { email: 'ada@example.com', groups: ['ops'] })
  provider.user = 'u1'
  const settings = {
    issuer: provider.issuer,
    clientId: 'edgewise',
    clientSecret: '${env:CLIENT_SECRET}',
    ci: [{ issuer: provider.issuer, audience: 'https://edgewise', claims: { a: 'b' } }],
  }
  enterServed(`serve: ${JSON.stringify({ auth: settings })}\n`)
  place.env['CLIENT_SECRET'] = clientSecret
  writeFileSync(file(), `${readFileSync(file(), 'utf8')}roles: [{role: operator, groups: [ops]}]\n`)
  configure(1, 60)
  commit()
  const replica = await start()
  redirect = `${replica.url}/login/callback`
  await provider.rotate()
  const browser = new Browser()
  const back = await browser.follow(`${replica.url}/login/provider`, redirect)
  const answer = await browser.send(back)
  expect(await answer.text()).toContain('Logged in as ada@example.com')
  const page = await (await browser.send(`${replica.url}/`)).text()
  expect(page).toContain('<span data-who>ada@example.com</span>')
  const token = await new SignJWT({ a: 'b', iss: provider.issuer, aud: 'https://edgewise' })
    .setProtectedHeader({ alg: 'RS256', kid: 'key-1' })
    .setSubject('job')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign((await createKey('key-1')).key)
  const headers = { authorization: `Bearer ${token}` }
  expect((await replica.get('/api/status', { headers })).status).toBe(401)
  const line = await replica.waitFor('token of a CI job refused')
  expect(line['error']).toContain('no applicable key')
  expect(replica.err).not.toContain(clientSecret)
  expect(replica.err).not.toContain(token)
})
