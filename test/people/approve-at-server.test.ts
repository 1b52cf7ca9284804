import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { identifyMachine } from '../../src/core/model/people/identity.ts'
import type { Controller } from '../../src/server/controller.ts'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { digestPlan } from '../../src/operations/people/plan-approval.ts'
import { openPeople } from '../../src/server/people/people.ts'
import { approval, closeHttp, startHttp } from '../server/http-stage.ts'
import { place, setStage } from '../steps/stage.ts'

setStage()
afterEach(closeHttp)

/** Starts a server whose controller approves so, saves a plan, and asks for its approval. */
async function ask(approvePlan?: Controller['approvePlan'], address?: string) {
  const auth = { provider: null, proxy: null, ci: [], variables: [] }
  const ports = { clock: { now: () => 0, monotonic: () => 0 }, env: {}, onFault: () => undefined }
  const identifyJob = async (token: string) =>
    token === 'job-1' ? identifyMachine('ci', 'job-1') : null
  const people = { ...(await openPeople(auth, ports)), identifyJob }
  const http = await startHttp(approvePlan === undefined ? {} : { approvePlan }, { people })
  place.manifest('www.example.com', { timeout: { time: 60 } })
  expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
  const server = ['--server', address ?? `${http.url}/`]
  return place.cli('plan', 'approve', 'plan.json', '--yes', ...server)
}

it('takes the approval of a server', async () => {
  place.env['EDGEWISE_ID_TOKEN'] = 'job-1\n'
  const approve: Controller['approvePlan'] = async (text, { name }) => {
    return { ...approval, plan: digestPlan(text), by: name }
  }
  const { code, out, err } = await ask(approve)
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain('set timeout of www.example.com')
  expect(out).toContain(`Digest: ${digestPlan(place.read('plan.json'))}`)
  const saved: unknown = JSON.parse(readFileSync(join(place.root, 'plan.json.approved'), 'utf8'))
  expect(saved).toMatchObject({ by: 'ci:job-1', format: 'edgewise.approval/1' })
})

it.each<[string, Parameters<typeof ask>, string | undefined, RegExp]>([
  ['another plan', [], 'job-1', /status 200 and no approval/],
  ['a wrong token', [], 'job-2', /token is missing or wrong/],
  ['no token', [], undefined, /EDGEWISE_ID_TOKEN is not set/],
  ['a plain address', [undefined, 'http://edgewise.example.com'], 'job-1', /--server an address/],
  ['a path', [undefined, 'https://edgewise.example.com/x'], 'job-1', /--server an address/],
  ['a user', [undefined, 'https://a:b@edgewise.example.com'], 'job-1', /--server an address/],
  ['a port where nobody listens', [undefined, 'http://127.0.0.1:1'], 'job-1', /gave no answer/],
  [
    'a refusal',
    [() => Promise.reject(new EdgewiseError('not-allowed', 'not you\u202e'))],
    'job-1',
    /approved nothing: not you\\u\{202e\}/,
  ],
])('writes no approval of %s', async (_name, args, token, message) => {
  if (token !== undefined) place.env['EDGEWISE_ID_TOKEN'] = token
  const { code, err } = await ask(...args)
  expect([code, err]).toEqual([1, expect.stringMatching(message)])
  expect(() => place.read('plan.json.approved')).toThrow('ENOENT')
})

it('takes either a key or a server', async () => {
  const words = ['plan', 'approve', 'plan.json', '--server', 'https://a', '--key', 'k']
  const { code, err } = await place.cli(...words)
  expect([code, err]).toEqual([1, expect.stringContaining('cannot be used with')])
})
