import { beforeEach, expect, it } from 'vitest'
import { identify, unidentified } from '../../src/core/model/people/identity.ts'
import { Place } from '../steps/cli.ts'
import { emulator, enterPlace, place, setStageInTime } from '../steps/stage.ts'
import { itLong } from '../runs.ts'

setStageInTime()
const asked: string[] = []

beforeEach(async () => {
  const roles = 'roles: [{role: approver, users: ["ci:deploy"]}]\n'
  enterPlace(new Place(emulator.url, `rollout: {waves: [1, 100%], approval: [2]}\n${roles}`))
  for (const name of ['a', 'b', 'c'])
    place.manifest(`${name}.example.com`, { timeout: { time: 60 } })
  asked.splice(0)
  place.identifyToken = async (_auth, token) => {
    asked.push(token)
    if (token === 'deploy') return identify('ci', 'deploy') ?? unidentified
    if (token === 'other') return identify('ci', 'other') ?? unidentified
    return { fault: 'its signature is wrong' }
  }
  expect((await place.cli('apply', '--yes')).code).toBe(0)
})

const approve = async (token?: string) => {
  place.env = { ...place.env, EDGEWISE_ID_TOKEN: token }
  return place.cli('rollout', 'approve', place.loadRollouts()[0]?.id ?? '')
}

itLong('a command counts as who has the token of OpenID Connect', async () => {
  const unknown = await approve()
  expect([unknown.code, unknown.err]).toEqual([
    1,
    expect.stringContaining('may not approve: that needs the role approver.'),
  ])
  const other = await approve('other')
  expect(other.err).toContain('the CI job other may not approve: that needs the role approver.')
  const bad = await approve('bad-token')
  expect(bad.err).toContain('The token in EDGEWISE_ID_TOKEN is refused: its signature is wrong.')
  expect(bad.err + bad.out).not.toContain('bad-token')
  expect(place.loadRollouts()[0]?.waves[1]?.approval?.approved).toBeNull()
  expect((await approve('deploy\n')).code).toBe(0)
  expect(asked).toEqual(['other', 'bad-token', 'deploy'])
  const { rollouts } = await place.json('rollout', 'list')
  expect(rollouts).toMatchObject([{ state: 'approved', approvedBy: ['ci:deploy'] }])
})

it('receivers hear who has decided, once, and not of what was decided before', async () => {
  const settings = place.read('edgewise.yaml')
  const receiver = 'notify: [{kind: webhook, url: "https://hook.example.net/", on: [approval]}]\n'
  place.write('edgewise.yaml', settings + receiver)
  const titles: unknown[] = []
  const hashes: unknown[] = []
  place.transport = async ({ body }) => {
    const { title, history } = JSON.parse(body ?? '{}') as Record<string, unknown>
    titles.push(title)
    hashes.push(history)
    return { status: 200, headers: new Headers(), body: '' } as never
  }
  await approve('other')
  expect((await approve('deploy')).code).toBe(0)
  // The entry of the approval is the newest one.
  expect(await place.json('state', 'verify')).toMatchObject({ newest: hashes[0] })
  expect((await approve('deploy')).out).toContain('already approved')
  expect(titles).toEqual([
    expect.stringMatching(/^Approved wave 2 of 2 of rollout .*\. Decided by ci:deploy\.$/),
  ])
})

it('a commit that gives somebody a role gives nobody an approval of its own rollout', async () => {
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace('ci:deploy', 'ci:other'))
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  for (const token of ['other', 'deploy']) {
    const { code, err } = await approve(token)
    expect([code, err]).toEqual([1, expect.stringContaining('that needs the role approver')])
  }
})

it('a commit that takes all roles away lets nobody else approve', async () => {
  const settings = place.read('edgewise.yaml')
  place.write('edgewise.yaml', settings.replace(/roles: .*/, ''))
  expect((await approve('other')).code).toBe(1)
  expect((await approve('deploy')).code).toBe(0)
})
