// @module-tag often
// @module-tag nightly

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import { serveToken } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  listSent,
  setServeStage,
  start,
  until,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

it('a reader logs in, approves the wave that was shown, and sees it applied', async () => {
  enterServed('rollout: {waves: [1, 2, 100%], pause: 1s, approval: [2, 3]}\n')
  configure(5, 60)
  const head = commit()
  const replica = await start('--poll', '86400')
  const body = new URLSearchParams({ token: serveToken, to: '/' })
  const login = await replica.get('/login', { method: 'POST', body, redirect: 'manual' })
  expect(login.status).toBe(303)
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const read = async (path: string) => {
    const answer = await replica.get(path, { headers: { cookie } })
    return [answer.status, await answer.text()] as const
  }
  const readSentence = async () => /<h1[^>]*>(.*?)<\/h1>/.exec((await read('/'))[1])?.[1] ?? ''
  await until(async () => (await readSentence()) === 'Wave 2 of 3 waits for approval: 1 domain.')
  const form = /action="(\/rollouts\/[^"]+\/approve)">(.*?)<\/form>/.exec((await read('/'))[1])
  const [, action = '', inputs = ''] = form ?? []
  const pairs = [...inputs.matchAll(/name="(\w+)" value="([^"]*)"/g)]
  const fields = new URLSearchParams()
  for (const [, key = '', value = ''] of pairs) fields.set(key, value)
  const post = async (sent: URLSearchParams) => {
    const headers = { cookie, origin: replica.url }
    return replica.get(action, { method: 'POST', body: sent, headers, redirect: 'manual' })
  }
  await until(async () => (await read('/plan'))[0] === 200)
  const plan = await read('/plan')
  expect(plan[1]).toMatch(/<h1 data-sentence>4 to set on 4 domains/)
  expect(plan[1]).toContain(`commit <code>${head.slice(0, 12)}</code>`)
  expect((await read('/drift'))[1]).toContain('Drift was not looked for since this replica leads.')
  expect((await post(fields)).status).toBe(303)
  await until(async () => (await readSentence()) === 'Wave 3 of 3 waits for approval: 3 domains.')
  expect(await listSent()).toEqual([1, 1])
  // The form is about wave 2, and somebody reads it late.
  const late = await post(fields)
  expect(late.status).toBe(409)
  expect(await late.text()).toContain('no longer as it was shown')
  const page = action.replace('/approve', '')
  expect((await read(page))[1]).toContain('wave 3 of 3')
  expect(await listSent()).toEqual([1, 1])
  expect((await read('/'))[1]).not.toContain(serveToken)
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.err).not.toContain(serveToken)
})

it('a reader finds each domain, also those of the next commit', async () => {
  enterServed()
  configure(3, 60)
  const head = commit()
  const replica = await start('--poll', '5')
  await replica.waitFor('leads')
  const read = async (path: string) => {
    const answer = await replica.get(path)
    return [answer.status, await answer.text()] as const
  }
  await until(async () => (await read('/domains'))[1].includes('3 domains as recorded.'))
  const [, list] = await read('/domains')
  const [, name = ''] = /<a href="\/domains\/([\w.]+)">/.exec(list) ?? []
  const [status, page] = await read(`/domains/${name}`)
  expect([status, page]).toEqual([200, expect.stringContaining(`<h1>${name}</h1>`)])
  expect(page).toContain('<dt>time<dd>60')
  expect(page).toContain('confirmed: ')
  expect(page).toContain(`commit <code>${head.slice(0, 12)}</code>`)
  const [, tried] = await read(`/domains/${name}?url=${encodeURIComponent(`http://${name}/a`)}`)
  expect(tried).toMatch(/Now, as recorded.*outcome +\w+.*An apply/s)
  expect(tried).toContain('An apply of the manifests changes nothing of it.')
  const [, refused] = await read(`/domains/${name}?url=--help`)
  expect(refused).toContain('the trace can&#39;t be made')
  expect(await read('/domains/other.example.com')).toEqual([
    404,
    expect.stringContaining('There is no such domain.'),
  ])
  expect((await read('/'))[1]).toContain('<a href="/domains">3 domains as recorded.</a>')
  configure(4, 60)
  commit()
  await until(async () => (await read('/domains'))[1].includes('4 domains as recorded.'))
})

it('a plan that can not be made is explained', async () => {
  enterServed()
  place.write('domains/bad.yaml', 'domain: bad.example.com\nconfig: {tim: 1}\n')
  commit()
  const replica = await start('--poll', '86400')
  await replica.waitFor('is not applied')
  await until(async () => (await replica.get('/plan')).status !== 202)
  const answer = await replica.get('/plan')
  const html = await answer.text()
  expect([answer.status, /<p class="message">.*<\/p>/.exec(html)?.[0]]).toEqual([
    409,
    expect.stringContaining('domains/bad.yaml:2: '),
  ])
})

it('a standby keeps the files of the commit that it has shown last', async () => {
  enterServed()
  configure(1, 60)
  commit()
  const leader = await start('--poll', '86400')
  await leader.waitFor(/^commit .*: done/)
  const data = join(place.root, '..', `data-${place.root.slice(-6)}`)
  const standby = await start('--poll', '86400', '--data', data)
  await standby.waitFor('made the pages of domains')
  const listCommits = () =>
    readdirSync(data, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^\w+\/run-[^/]+\/[\da-f]{40}$/.test(path))
      .map((path) => path.slice(-40))
  for (const path of ['/plan', '/history']) {
    const head = commit()
    await until(async () => (await standby.get(path)).status === 200)
    expect(listCommits()).toEqual([head])
  }
})
