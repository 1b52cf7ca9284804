import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { tokenHolder, type Identity } from '../../src/core/model/people/identity.ts'
import type { RoleRule } from '../../src/core/model/people/roles.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { explainPlanApproval } from '../../src/operations/people/decide.ts'
import { checkApproval, digestPlan } from '../../src/operations/people/plan-approval.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { openState } from '../../src/operations/runtime/open-state.ts'
import { createPlanApprovals, readServeKey } from '../../src/server/people/plan-approvals.ts'
import { fetchWrites } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { itLong } from '../runs.ts'

setStage()

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const [a, b] = ['a.example.com', 'b.video.example.com']
const create = (name: string): Identity => ({ name, knownBy: 'oidc', groups: [], email: name })
const [ada, eve, vera] = ['ada@x.com', 'eve@x.com', 'vera@x.com'].map(create) as [
  Identity,
  Identity,
  Identity,
]
const give = (role: RoleRule['role'], { name }: Identity, ...domains: string[]): RoleRule => {
  return { role, users: [name], groups: [], domains: domains.length === 0 ? ['*'] : domains }
}
const roles = [
  give('approver', ada),
  give('approver', eve, '*.video.example.com'),
  give('viewer', vera),
  give('operator', vera),
]

beforeEach(() => {
  for (const domain of [a, b]) place.manifest(domain, { timeout: { time: 60 } })
})

/** Saves a plan of the workspace, and returns its text. */
async function save(...options: string[]): Promise<string> {
  const { code, err } = await place.cli('plan', '--out', 'plan.json', ...options)
  expect(code, err).toBe(0)
  return place.read('plan.json')
}

/** Creates the approvals of a server that follows the workspace, by some sets of roles. */
function serve(sets: RoleRule[][] = [roles], key: typeof privateKey | null = privateKey) {
  const io = place.createIo()
  const needs = { by: 1, notAuthor: false }
  return createPlanApprovals({
    key,
    branch: { fetch: async () => 'c1', hold: (_commit, work) => work(place.root) },
    rights: {
      explainPlan: async (identity, domains) =>
        explainPlanApproval(
          identity,
          domains,
          sets.map((each) => ({ roles: each, needs })),
        ),
    },
    outside: io,
    getTip: () => null,
    loadCommit: async (commit) => ({ ...loadWorkspace(place.root, io, 'none'), commit }),
  })
}

/** Returns the code and the message with which an approval is refused. */
async function refuse(work: Promise<unknown>): Promise<[string, string]> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof EdgewiseError)) throw new TypeError(`not refused: ${String(error)}`)
  return [error.code, error.message]
}

/** Lists the approvals of the chained history. */
async function listApprovals(): Promise<JsonObject[]> {
  const io = place.createIo()
  const { store } = await openState(loadWorkspace(place.root, io, 'none'), io)
  const { texts } = await store.chain.load()
  const entries = [...texts.values()].flatMap((text) =>
    text.startsWith('{') ? [JSON.parse(text) as JsonObject] : [],
  )
  return entries.filter(({ kind }) => kind === 'approval')
}

it('signs for an approver of all domains, and records who it was', async () => {
  const text = await save()
  const approval = await serve()(text, ada)
  const digest = digestPlan(text)
  expect(approval).toMatchObject({ plan: digest, by: ada.name })
  expect(Date.parse(approval.expires) - Date.parse(approval.at)).toBe(86_400_000)
  const check = (now: number, plan = digest) =>
    checkApproval(JSON.stringify(approval), plan, [createPublicKey(privateKey)], now)
  expect(check(Date.parse(approval.at))).toBe(ada.name)
  expect(() => check(Date.parse(approval.expires))).toThrow('has ended')
  expect(() => check(Date.parse(approval.at), digestPlan(`${text} `))).toThrow('another plan')
  expect(await listApprovals()).toMatchObject([
    {
      about: `saved plan ${digest}`,
      by: { name: ada.name, knownBy: 'oidc' },
      outcome: `until ${approval.expires}`,
    },
  ])
  expect((await place.cli('state', 'verify')).code).toBe(0)
  // An answer may be lost: whoever asks again gets another approval, which is recorded, too.
  expect((await serve()(text, ada)).plan).toBe(digest)
  expect(await listApprovals()).toHaveLength(2)
  expect(await fetchWrites(emulator)).toEqual([])
})

describe('refuses, and records no approval,', () => {
  it.each<[string, Identity, RoleRule[][], RegExp]>([
    ['the token', tokenHolder, [roles], /shows nobody's name/],
    ['a viewer and operator', vera, [roles], /may not approve: that needs the role approver/],
    ['an approver of a part', eve, [roles], /that needs the role approver for a\.example\.com/],
    ['somebody unknown', create('x@x.com'), [roles], /needs the role approver/],
    ['everybody without roles', ada, [[]], /has no roles, so nobody/],
    ['who has the role since the last commit', ada, [roles, []], /has no roles/],
  ])('%s', async (_name, identity, sets, message) => {
    const [code, text] = await refuse(serve(sets)(await save(), identity))
    expect([code, text]).toEqual(['not-allowed', expect.stringMatching(message)])
    expect(await listApprovals()).toEqual([])
  })

  it('not an approver of a part for a plan of that part', async () => {
    expect((await serve()(await save('--target', b), eve)).by).toBe(eve.name)
  })

  it.each<[string, (text: string) => string | Promise<string>, string, RegExp]>([
    ['no plan', () => '{"format": "edgewise.plan/1"}', 'stale-plan', /can't be used/],
    ['no JSON', () => 'x', 'stale-plan', /can't be used/],
    ['nothing', () => '', 'stale-plan', /can't be used/],
    ['a list', () => '[]', 'stale-plan', /can't be used/],
    [
      'other values',
      (text) => text.replaceAll('"60"', '"61"'),
      'stale-plan',
      /changes in the plan/,
    ],
    [
      'other writes',
      (text) => drop(text, 'writes'),
      'stale-plan',
      /writes in the plan file differ/,
    ],
    [
      'a plan of other manifests',
      (text) => {
        place.manifest(a, { timeout: { time: 70 } })
        return text
      },
      'stale-plan',
      /manifests of a\.example\.com changed/,
    ],
    [
      'a plan of another workspace',
      (text) => {
        place.configure('id: other')
        return text
      },
      'stale-plan',
      /was not made for the workspace "other"/,
    ],
    [
      'a plan of another state',
      async (text) => {
        expect((await place.cli('apply', '--yes', '--target', a)).code).toBe(0)
        return text
      },
      'stale-plan',
      /recorded state of a\.example\.com/,
    ],
    [
      'a plan of invalid manifests',
      (text) => {
        place.manifest(a, { no_such_item: 1 })
        return text
      },
      'invalid',
      /1 error/,
    ],
  ])('%s', async (_name, change, code, message) => {
    const text = await change(await save())
    expect(await refuse(serve()(text, ada))).toEqual([code, expect.stringMatching(message)])
    expect(await listApprovals()).toEqual([])
  })

  itLong('a plan that was applied as approved, also if a rollback makes it fit again', async () => {
    await place.settle()
    place.manifest(a, { timeout: { time: 61 } })
    const text = await save()
    await serve()(text, ada)
    place.env['GITHUB_ACTOR'] = `ada (approved plan ${digestPlan(text)})`
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    delete place.env['GITHUB_ACTOR']
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    const [code, message] = await refuse(serve()(text, ada))
    expect([code, message]).toEqual(['not-allowed', expect.stringMatching(/was used by apply/)])
  })

  it('a plan without changes', async () => {
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(await refuse(serve()(await save(), ada))).toEqual([
      'usage',
      expect.stringContaining('has no changes'),
    ])
  })

  it('all plans without a key, and does not start with a wrong one', async () => {
    const [code, message] = await refuse(serve([roles], null)(await save(), ada))
    expect([code, message]).toEqual(['usage', expect.stringContaining('is not set')])
    const name = 'EDGEWISE_SERVE_APPROVAL_KEY'
    expect(readServeKey({ [name]: '' })).toBeNull()
    for (const key of ['x', publicKey.export({ type: 'spki', format: 'pem' }).toString()])
      expect(() => readServeKey({ [name]: key })).toThrow('has no private Ed25519 key')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(readServeKey({ [name]: pem })?.asymmetricKeyType).toBe('ed25519')
  })
})

/** Drops the last entry of a list of a plan file. */
function drop(text: string, key: string): string {
  const plan = JSON.parse(text) as Record<string, unknown[]>
  return JSON.stringify({ ...plan, [key]: plan[key]?.slice(0, -1) })
}
