// @module-tag often
// @module-tag nightly

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { place, setStage } from '../steps/stage.ts'
import { serveToken, type Replica, ended } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  listSent,
  name,
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
  expect((await read('/drift'))[1]).toContain('Drift was not looked for yet.')
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
  await replica.waitFor('term begun')
  const read = async (path: string) => {
    const answer = await replica.get(path)
    return [answer.status, await answer.text()] as const
  }
  await until(async () => (await read('/domains'))[1].includes('3 domains as recorded.'))
  const [, list] = await read('/domains')
  const [, domain = ''] = /<a href="\/domains\/([\w.]+)">/.exec(list) ?? []
  const [status, page] = await read(`/domains/${domain}`)
  expect([status, page]).toEqual([200, expect.stringContaining(`<h1>${domain}</h1>`)])
  expect(page).toContain('<dt>time<dd>60')
  expect(page).toContain('confirmed: ')
  expect(page).toContain(`commit <code>${head.slice(0, 12)}</code>`)
  const [, tried] = await read(`/domains/${domain}?url=${encodeURIComponent(`http://${domain}/a`)}`)
  expect(tried).toMatch(/Now, as recorded.*outcome +\w+.*An apply/s)
  expect(tried).toContain('An apply of the manifests changes nothing of it.')
  const [, refused] = await read(`/domains/${domain}?url=--help`)
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
  await replica.waitFor('commit not applied')
  await until(async () => (await replica.get('/plan')).status !== 202)
  const answer = await replica.get('/plan')
  const html = await answer.text()
  expect([answer.status, /<p class="message">.*<\/p>/.exec(html)?.[0]]).toEqual([
    409,
    expect.stringContaining('domains/bad.yaml:2: '),
  ])
})

it('a standby keeps the files of the tip, and of the commit that the leader goes by', async () => {
  enterServed()
  configure(1, 60)
  commit()
  const leader = await start()
  await leader.waitFor(ended('', 'done'))
  const data = join(place.root, '..', `data-${place.root.slice(-6)}`)
  const standby = await start('--data', data)
  await standby.waitFor('pages of domains made')
  const listCommits = () =>
    readdirSync(data, { recursive: true, encoding: 'utf8' })
      .filter((path) => /^\w+\/run-[^/]+\/[\da-f]{40}$/.test(path))
      .map((path) => path.slice(-40))
  for (const path of ['/plan', '/history']) {
    const head = commit()
    await until(async () => listCommits().includes(head))
    await until(async () => (await standby.get(path)).status === 200)
    expect(listCommits()).toContain(head)
    expect(listCommits().length).toBeLessThan(3)
  }
})

it('each page of two replicas says the same', async () => {
  enterServed(
    'serve: {drift: {schedule: "* * * * *", observed: live.json}}\n' +
      'rollout: {waves: [1, 100%], approval: [2]}\n',
  )
  configure(3, 60)
  const seen = { timeout: { time: 99 } }
  place.write('live.json', JSON.stringify({ [name(0)]: seen, [name(1)]: seen }))
  commit()
  const leader = await start()
  await leader.waitFor('term begun')
  const standby = await start()
  const loadStatus = async (replica: Replica) =>
    (await (await replica.get('/api/status')).json()) as Record<string, unknown>
  await until(async () => {
    const { drift, applied } = await loadStatus(standby)
    return drift !== null && applied !== null
  })
  const { rollouts } = (await (await leader.get('/api/rollouts')).json()) as {
    rollouts: { id: string }[]
  }
  // The overview counts the domains once their pages are made.
  const paths = ['/domains', `/domains/${name(0)}`, '/', '/plan', '/history', '/drift', '/rollouts']
  const own = /role|term|fetchedAt/
  const pick = (status: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(status).filter(([key]) => !own.test(key)))
  await until(async () => {
    const [one, other] = await Promise.all([leader, standby].map(loadStatus))
    return one?.['working'] === null && other?.['working'] === null
  })
  expect(pick(await loadStatus(standby))).toEqual(pick(await loadStatus(leader)))
  for (const path of [...paths, `/rollouts/${rollouts[0]?.id}`]) {
    const load = async (replica: Replica) => {
      let html = ''
      await until(async () => {
        const answer = await replica.get(path)
        html = await answer.text()
        // What is not made yet says so, and from when what is shown is.
        return answer.status !== 202 && !html.includes(' As of ')
      })
      return withoutTimes(html)
    }
    // Each replica makes its pages of domains anew some seconds after news.
    let [one, other]: string[][] = [[], ['none']]
    for (let i = 0; i < 10 && one?.join() !== other?.join(); i++) {
      if (i > 0) await new Promise((resolve) => setTimeout(resolve, 1000))
      ;[one, other] = [(await load(leader)).split('\n'), (await load(standby)).split('\n')]
    }
    const differs = other?.findIndex((line, i) => line !== one?.[i]) ?? 0
    expect([path, other?.[differs]]).toEqual([path, one?.[differs]])
  }
})

/** Leaves out what is of one replica: its role, times of loading, and tokens. */
function withoutTimes(html: string): string {
  return html
    .replaceAll(/<dt>(?:Role|Last fetch)<\/dt><dd>.*?<\/dd>/g, '')
    .replaceAll(/ data-revision="\w*"/g, '')
    .replaceAll(/<time [^>]*>[^<]*<\/time>/g, '')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '')
    .replaceAll(/\b\d+ s\b/g, '')
}
