// @module-tag often
import { beforeEach, expect, it } from 'vitest'
import { identify, unidentified } from '../../src/core/model/people/identity.ts'
import type { Json } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place } from './cli.ts'
import { loadEntries } from './load-chain.ts'
import { lockElsewhere } from './lock-elsewhere.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const www = 'www.example.com'
setStageInTime()
const shown: string[] = []

beforeEach(() => {
  time.now = Date.UTC(2026, 10, 20, 12)
  enter('')
})

function enter(settings: string): void {
  enterPlace(new Place(emulator.url, settings))
  shown.splice(0)
  place.identifyToken = async (_auth, token) => {
    shown.push(token)
    if (token === 'bad') return { fault: 'its signature is wrong' }
    return identify('ci', token) ?? unidentified
  }
}

const apply = (seconds: number, ...more: string[]) => {
  place.manifest(www, { timeout: { time: seconds } })
  return place.cli('apply', '--yes', ...more)
}
const show = (token?: string) => void (place.env = { ...place.env, EDGEWISE_ID_TOKEN: token })
const listActors = () =>
  loadEntries().map(({ kind, by }) => [kind, by.knownBy === 'unidentified' ? by.knownBy : by.name])

it('names who has the token of OpenID Connect, and asks for none without it', async () => {
  expect((await apply(60)).code).toBe(0)
  expect(shown).toEqual([])
  show('deploy')
  for (const seconds of [61, 62]) {
    time.now += 50 * 86_400_000
    expect((await apply(seconds)).code).toBe(0)
  }
  expect((await place.cli('rollback', '--yes')).code).toBe(0)
  place.write('live.json', JSON.stringify({ [www]: { timeout: { time: 70 } } }))
  place.manifest(www, { timeout: { time: 70 } })
  expect((await place.cli('import', 'live.json', '--replace')).code).toBe(0)
  show('admin')
  await lockElsewhere()
  place.otherProcessesDead = true
  expect((await place.cli('state', 'unlock', '--yes', '--force')).code).toBe(0)
  expect((await place.cli('state', 'prune', '--keep', '1d', '--yes')).code).toBe(0)
  show()
  expect((await place.cli('state', 'forget', www, '--yes')).code).toBe(0)
  expect(listActors()).toEqual([
    ['apply', 'unidentified'],
    ['apply', 'ci:deploy'],
    ['apply', 'ci:deploy'],
    ['prune', 'ci:deploy'],
    ['rollback', 'ci:deploy'],
    ['import', 'ci:deploy'],
    ['unlock', 'ci:admin'],
    ['prune', 'ci:admin'],
    ['forget', 'unidentified'],
  ])
  expect(loadEntries()[6]?.outcome).toBe('forced')
  // The journal has also who the machine names.
  const history = await place.json('state', 'history')
  expect(listSchemaErrors('history', history)).toEqual([])
  const [latest] = history['applies'] as Json[]
  const author = expect.stringContaining('@tests') as string
  expect(latest).toMatchObject({ author, by: { name: 'ci:deploy', knownBy: 'ci', sub: 'deploy' } })
  expect(await place.json('state', 'verify')).toMatchObject({ findings: [], pending: 0 })
})

it('refuses a token that can not be verified, and records that', async () => {
  show('bad')
  const refused = await apply(60)
  const reason = 'The token in EDGEWISE_ID_TOKEN is refused: its signature is wrong.'
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(reason)])
  const verified = await place.cli('state', 'verify')
  expect(verified.out).toContain('1 removed lock or refusal to be recorded with the next change.')
  show()
  expect((await apply(60)).code).toBe(0)
  expect(loadEntries()).toMatchObject([
    { kind: 'refusal', about: 'apply', by: { knownBy: 'unidentified' }, outcome: reason },
    { kind: 'apply' },
  ])
})

it('records decisions that roles do not allow', async () => {
  const roles = 'roles: [{role: approver, users: ["ci:deploy"]}]\n'
  enter(`rollout: {waves: [1, 100%], approval: [2]}\n${roles}`)
  place.manifest('api.example.com', { timeout: { time: 60 } })
  expect((await apply(60)).code).toBe(0)
  const id = place.loadRollouts()[0]?.id ?? ''
  show('other')
  expect((await place.cli('rollout', 'approve', id)).code).toBe(1)
  // Those of one instant have no order.
  time.now += 1000
  expect((await place.cli('rollout', 'resume', '--all')).code).toBe(1)
  show('deploy')
  expect((await place.cli('rollout', 'approve', id)).code).toBe(0)
  expect(shown).toEqual(['other', 'other', 'deploy'])
  const other = { name: 'ci:other', knownBy: 'ci', sub: 'other' }
  const why = 'the CI job other may not'
  expect(loadEntries().slice(1)).toMatchObject([
    {
      kind: 'refusal',
      about: `approve ${id}`,
      by: other,
      outcome: `${why} approve: that needs the role approver.`,
    },
    {
      kind: 'refusal',
      about: 'resume-all',
      by: other,
      outcome: `${why} resume all writes: that needs the role operator.`,
    },
    { kind: 'approval', about: id, by: { name: 'ci:deploy', knownBy: 'ci', sub: 'deploy' } },
  ])
  expect(await place.json('state', 'verify')).toMatchObject({ findings: [], entries: 4 })
})

it('records that limits of guards were exceeded with --force, and only then', async () => {
  enter('guards: {maxDomains: 1}\n')
  place.manifest('api.example.com', { timeout: { time: 60 } })
  expect((await apply(60)).code).toBe(1)
  expect((await apply(60, '--force', '--reason', 'all of them')).code).toBe(0)
  expect((await apply(61, '--force')).code).toBe(0)
  expect(loadEntries()).toMatchObject([
    { kind: 'override', about: '--force', reason: 'all of them' },
    { kind: 'apply', reason: 'all of them' },
    { kind: 'apply', reason: null },
  ])
  const { out } = await place.cli('state', 'history')
  expect(out.match(/guard overridden: all of them/g)).toHaveLength(1)
})
