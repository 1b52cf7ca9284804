// @module-tag often

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createGuesses, expectNothingLearnt, guessed } from '../guesses.ts'
import type { Replica } from '../server/replica.ts'
import { commit, enterServed, setServeStage, start, until } from '../server/serve-stage.ts'
import { runs } from '../runs.ts'
import { place, setStage } from '../steps/stage.ts'

const www = 'www.example.com'

setStage({ token: guessed, domains: [www] })
setServeStage()

/** Requests with a guess in each part that an answer might quote: method, path and body. */
const requests: ['GET' | 'POST', (guess: string) => string, ((guess: string) => string)?][] = [
  ['GET', (guess) => `/${guess}`],
  ['GET', (guess) => `/?${guess}=${guess}`],
  ['GET', (guess) => `/healthz?${guess}`],
  ['GET', (guess) => `/readyz?${guess}`],
  ['GET', (guess) => `/live?${guess}`],
  ['POST', () => '/webhook', (guess) => JSON.stringify({ ref: guess })],
  ['GET', (guess) => `/api/${guess}`],
  ['GET', (guess) => `/api/plan?${guess}`],
  ['GET', (guess) => `/api/rollouts?${guess}`],
  ['POST', (guess) => `/api/rollouts/${guess}/approve`],
  ['POST', (guess) => `/api/rollouts/one/${guess}`],
  ['POST', (guess) => `/api/rollouts/${guess}/abort`],
  ['POST', () => '/api/rollouts/one/pause', (guess) => guess],
  ['POST', () => '/api/rollouts/all/stop', (guess) => JSON.stringify({ [guess]: guess })],
  ['POST', () => '/api/rollouts/all/stop', (guess) => JSON.stringify({ reason: guess })],
  ['GET', () => '/'],
  ['POST', () => '/api/rollouts/all/resume', (guess) => guess],
  ['POST', () => '/api/rollouts/all/resume'],
  ['GET', (guess) => `/domains/${guess}`],
  ['GET', (guess) => `/domains/${guess}.example.com`],
  ['GET', (guess) => `/domains/${www}/${guess}`],
  ['GET', (guess) => `/domains/${www}?url=${guess}&ip=192.0.2.1`],
  ['GET', (guess) => `/domains/${www}?url=https://${www}/${guess}&ip=${guess}`],
  ['GET', (guess) => `/plan?${guess}`],
  ['GET', (guess) => `/drift?${guess}`],
  ['GET', (guess) => `/history?${guess}`],
  ['GET', (guess) => `/rollouts?${guess}`],
  ['GET', (guess) => `/rollouts/${guess}`],
  ['GET', (guess) => `/rollouts/${guess}/abort`],
  ['POST', (guess) => `/rollouts/${guess}/approve`, (guess) => `step=${guess}&token=${guess}`],
  ['POST', (guess) => `/rollouts/${guess}/pause`, (guess) => `step=${guess}`],
  ['POST', () => '/rollouts/all/stop', (guess) => `step=x&reason=${guess}`],
  ['POST', () => '/rollouts/all/resume', (guess) => `step=${guess}`],
  ['POST', () => '/api/rollouts/all/resume'],
  ['POST', () => '/logout', (guess) => `token=${guess}`],
  ['GET', (guess) => `/login/provider?to=/${guess}`],
  ['GET', (guess) => `/login/callback?error=${guess}&error_description=${guess}`],
]

async function ask(replica: Replica, at: number, guess: string): Promise<string> {
  const [method = 'GET', path, body] = requests[at] ?? []
  const isForm = body !== undefined && !(path?.('') ?? '').startsWith('/api')
  const answer = await replica.get(path?.(guess) ?? '/', {
    method,
    redirect: 'manual',
    headers: {
      cookie: `other=${guess}`,
      ...(isForm ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
    ...(body === undefined ? {} : { body: body(guess) }),
  })
  const headers = [...answer.headers].filter(([name]) => !/^(?:date|content-length)$/.test(name))
  return `${answer.status} ${JSON.stringify(headers)} ${await answer.text()}`
}

it('no route says whether a text has a part of a secret', async () => {
  enterServed()
  place.env = { ...place.env, EDGEWISE_TOKEN: guessed }
  place.manifest(www, { timeout: { time: 60 } })
  commit()
  const replica = await start('--poll', '86400')
  await replica.waitFor('term begun')
  const load = async (path: string) => (await replica.get(path)).text()
  await until(async () => (await load('/domains')).includes('1 domain as recorded.'))
  await until(async () => (await replica.get('/history')).status === 200)
  const traced = await load(`/domains/${www}?url=https://${www}/`)
  expect(traced).toContain('Now, as recorded')
  for (let number = 0; number < runs(1, 10); number++)
    for (const guess of createGuesses(number))
      for (let at = 0; at < requests.length; at++) {
        const [method, path] = requests[at] ?? ['GET', () => '/']
        const where = `${method} ${path('GUESS')}`
        await expectNothingLearnt(where, guess, (text) => ask(replica, at, text))
      }
  // It knows the token, and replaces it where it is whole.
  const body = JSON.stringify({ reason: `not ${guessed}` })
  const stopped = await replica.get('/api/rollouts/all/stop', { method: 'POST', body })
  expect(await stopped.text()).toContain('not (token)')
  expect(replica.err).not.toContain(guessed)
})

it('each route that the guide lists is asked', () => {
  const guide = readFileSync(new URL('../../docs/guides/serve.md', import.meta.url), 'utf8')
  const rows = guide.split('\n').filter((line) => /^\| `(?:GET|POST) \//.test(line))
  const listed = rows.flatMap((row) => {
    const [, cell = ''] = row.split('|')
    const paths = [...cell.matchAll(/`(?:GET |POST )?(\/[\w/]*)/g)].map(([, path = '']) => path)
    const [first = ''] = paths
    // A name such as /pause continues the first path of its row.
    return paths.map((path) =>
      /^\/(?:pause|resume|abort)$/.test(path) ? first.replace(/\w+$/, path.slice(1)) : path,
    )
  })
  expect(listed.length).toBeGreaterThan(15)
  const asked = requests.map(([, path]) => path('ID').split('?')[0] ?? '')
  const isAsked = (path: string) =>
    asked.some((each) =>
      each.replace(/\/(?:one|all)\//, '/ID/').startsWith(path.replace('/all/', '/ID/')),
    )
  const exempt = ['/metrics', '/api/status', '/login']
  expect(listed.filter((path) => !exempt.includes(path) && !isAsked(path))).toEqual([])
})
