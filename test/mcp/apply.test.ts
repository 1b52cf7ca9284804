// @module-tag often
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApplyTool } from '../../src/cli/agents/apply-tool.ts'
import type { CommandContext } from '../../src/cli/io.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { digestPlan } from '../../src/operations/people/plan-approval.ts'
import { plainPaint } from '../../src/outlets/report/text/paint.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { fetchConfig, fetchWrites, setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { connectAgent, type Agent, type Called } from './agent.ts'
import { itLong } from '../runs.ts'

setStage()

const www = 'www.example.com'
const createKeys = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
const [ours, others] = [createKeys(), createKeys()]

let elsewhere: string
let agent: Agent | null = null

beforeEach(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'edgewise-approver-'))
  writeFileSync(join(elsewhere, 'approver.pub'), ours.publicKey)
  place.manifest(www, { timeout: { time: 60 } })
})
afterEach(async () => {
  expect(agent?.defects ?? []).toEqual([])
  await agent?.close()
  agent = null
  rmSync(elsewhere, { recursive: true })
})

/** Creates the tool as the command line does. */
function createTool(approver = join(elsewhere, 'approver.pub')) {
  const nothing = () => undefined
  const context: CommandContext = {
    io: place.createIo(),
    options: {},
    paint: plainPaint,
    errPaint: plainPaint,
    live: { show: nothing, showLater: nothing, draw: nothing, end: nothing },
    phases: { report: nothing, end: nothing },
    note: nothing,
  }
  return createApplyTool(context, place.root, { approver, plans: 'plans' })
}

async function connect(): Promise<Agent> {
  agent = await connectAgent(place, [createTool()])
  return agent
}

/** Saves a plan, and approves it with a key. */
async function approve({ privateKey } = ours, ...options: string[]): Promise<string> {
  place.write('plans/.keep', '')
  expect((await place.cli('plan', '--out', 'plans/plan.json')).code).toBe(0)
  place.env['EDGEWISE_APPROVAL_KEY'] = privateKey
  const { code, out, err } = await place.cli(
    'plan',
    'approve',
    'plans/plan.json',
    '--yes',
    ...options,
  )
  expect([code, err]).toEqual([0, ''])
  expect(out).toContain(digestPlan(place.read('plans/plan.json')))
  delete place.env['EDGEWISE_APPROVAL_KEY']
  return digestPlan(place.read('plans/plan.json'))
}

/** Expects that a call was refused. */
function expectRefused({ isError, data }: Called, code: string, message: RegExp): void {
  expect(data).toMatchObject({ code, message: expect.stringMatching(message) })
  expect(isError).toBe(true)
}

describe('the tool apply', () => {
  itLong('applies exactly an approved plan, in the name of who approved it', async () => {
    const digest = await approve()
    const { client, call } = await connect()
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(11)
    expect(tools.at(-1)).toMatchObject({
      name: 'apply',
      inputSchema: { required: ['digest'], additionalProperties: false },
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
    })
    const { isError, data } = await call('apply', { digest })
    expect(data).toMatchObject({
      format: 'edgewise.applied/1',
      plan: digest,
      status: 'done',
      writes: { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 },
      problems: [],
    })
    expect(listSchemaErrors('applied', data)).toEqual([])
    expect(isError).toBe(false)
    expect(await fetchConfig(emulator, www)).toEqual({ timeout: { time: '60' } })
    const { applies } = (await call('history')).data as { applies: JsonObject[] }
    expect(applies[0]?.['author']).toBe(`${process.pid}@tests (approved plan ${digest})`)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is not there without --allow-apply', async () => {
    agent = await connectAgent(place)
    const called = await agent.call('apply', { digest: await approve() })
    expectRefused(called, 'usage', /no such tool/)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('takes a digest alone', async () => {
    const digest = await approve()
    const { call } = await connect()
    const calls: JsonObject[] = [
      {},
      { digest: 'x' },
      { digest, file: 'plans/plan.json' },
      { digest, force: true },
    ]
    for (const args of calls)
      expect((await call('apply', args)).data).toMatchObject({ code: 'usage' })
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it.each<[name: string, change: () => Promise<unknown> | void, code: string, message: RegExp]>([
    [
      'no approval',
      () => rmSync(join(place.root, 'plans/plan.json.approved')),
      'not-allowed',
      /no approved plan/,
    ],
    [
      'the approval of somebody else',
      () => approve(others),
      'not-allowed',
      /not signed with a key of --approver/,
    ],
    [
      'an altered plan',
      () => alter('plans/plan.json', (plan) => ({ ...plan, warnings: ['another'] })),
      'not-allowed',
      /no approved plan/,
    ],
    [
      'an approval with another end',
      () =>
        alter('plans/plan.json.approved', (file) => ({
          ...file,
          expires: '2999-01-01T00:00:00.000Z',
        })),
      'not-allowed',
      /not signed/,
    ],
    [
      'an approval that names somebody else',
      () => alter('plans/plan.json.approved', (file) => ({ ...file, by: 'lena@ops' })),
      'not-allowed',
      /not signed/,
    ],
    [
      'a damaged approval',
      () => alter('plans/plan.json.approved', () => ({})),
      'not-allowed',
      /can't be used/,
    ],
    [
      'a changed manifest',
      () => void place.manifest(www, { timeout: { time: 61 } }),
      'stale-plan',
      /manifests of www.example.com changed/,
    ],
    [
      'a changed workspace file',
      () => void place.configure('guards: {maxDomains: 100%}'),
      'usage',
      /edgewise.yaml or a policy differs/,
    ],
    [
      'another service',
      () =>
        void place.write(
          'edgewise.yaml',
          place.read('edgewise.yaml').replace('127.0.0.1', '127.0.0.2'),
        ),
      'usage',
      /differ from when this server started/,
    ],
  ])('sends nothing with %s', async (_name, change, code, message) => {
    const digest = await approve()
    const { call } = await connect()
    await change()
    expectRefused(await call('apply', { digest }), code, message)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('sends nothing for an approval that belongs to another plan', async () => {
    await approve()
    const approval = place.read('plans/plan.json.approved')
    place.manifest(www, { timeout: { time: 61 } })
    const digest = await approve()
    place.write('plans/plan.json.approved', approval)
    const { call } = await connect()
    expectRefused(await call('apply', { digest }), 'not-allowed', /for another plan/)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('sends nothing after the end of an approval', async () => {
    const digest = await approve(ours, '--hours', '1')
    place.time = { now: Date.now() + 3_600_000 }
    const { call } = await connect()
    expectRefused(await call('apply', { digest }), 'not-allowed', /has ended/)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('uses an approval once, also if a rollback makes the plan fit again', async () => {
    await place.settle()
    place.manifest(www, { timeout: { time: 61 } })
    const digest = await approve()
    const { call } = await connect()
    expect((await call('apply', { digest })).data).toMatchObject({ status: 'done' })
    const before = await fetchWrites(emulator)
    expectRefused(await call('apply', { digest }), 'not-allowed', /was used by apply/)
    expect(await fetchWrites(emulator)).toEqual(before)
    const { code, err } = await place.cli('rollback', '--yes')
    expect(code, err).toBe(0)
    const { length } = await fetchWrites(emulator)
    expectRefused(await call('apply', { digest }), 'not-allowed', /was used by apply/)
    place.time = { now: Date.now() + 2 * 86_400_000 }
    expect((await place.cli('state', 'prune', '--keep', '1d', '--yes')).code).toBe(0)
    place.time = null
    expectRefused(await call('apply', { digest }), 'not-allowed', /was used by apply/)
    expect(await fetchWrites(emulator)).toHaveLength(length)
  })

  it('obeys the guards, and consents to no older values', async () => {
    place.configure('guards: {protect: ["*.example.com"]}')
    const digest = await approve()
    const { call } = await connect()
    const { isError, data } = await call('apply', { digest })
    expect([isError, data['code']]).toEqual([true, 'guarded'])
    expect(await fetchWrites(emulator)).toEqual([])
  })

  itLong('sends nothing after a change of a policy, nor if one is a program', async () => {
    const policy = 'policy: known\nlevel: soft\non: domain\ndeny: "false"\nmessage: m\n'
    place.write('policies/known.yaml', policy)
    const digest = await approve()
    const { call } = await connect()
    place.write('policies/known.yaml', policy.replace('known', 'other'))
    expectRefused(await call('apply', { digest }), 'usage', /or a policy differs/)
    place.write('policies/known.yaml', 'policy: check\nlevel: hard\ncommand: [./check.sh]\n')
    await agent?.close()
    const again = await connect()
    const refused = await again.call('apply', { digest })
    expectRefused(refused, 'not-allowed', /policies of this workspace are programs/)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('loads no plan through a link out of the checkout', async () => {
    const digest = await approve()
    const { call } = await connect()
    renameSync(join(place.root, 'plans/plan.json'), join(elsewhere, 'plan.json'))
    symlinkSync(join(elsewhere, 'plan.json'), join(place.root, 'plans/plan.json'))
    expectRefused(await call('apply', { digest }), 'not-allowed', /no approved plan/)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('records who approved also where the CI names an actor', async () => {
    place.env['GITHUB_ACTOR'] = 'a-bot'
    const digest = await approve()
    const { call } = await connect()
    expect((await call('apply', { digest })).data).toMatchObject({ status: 'done' })
    const { applies } = (await call('history')).data as { applies: JsonObject[] }
    expect(applies[0]?.['author']).toMatch(/@tests \(approved plan [0-9a-f]{64}\)$/)
  })

  it('starts a rollout, and leaves the rest to people', async () => {
    place.configure('rollout: {waves: [1, 100%], pause: 1h}')
    place.manifest('a.example.com', { timeout: { time: 60 } })
    const digest = await approve()
    const { call } = await connect()
    const { data } = await call('apply', { digest })
    expect(data).toMatchObject({ status: 'pausing', writes: { confirmed: 1 } })
    expect(await fetchWrites(emulator)).toHaveLength(1)
    expectRefused(await call('apply', { digest }), 'not-allowed', /A rollout|was used by/)
  })

  it('answers what was refused by the service', async () => {
    const digest = await approve()
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    const { call } = await connect()
    const { data } = await call('apply', { digest })
    expect(data).toMatchObject({ status: 'incomplete' })
    expect(data['problems']).not.toEqual([])
    expect(listSchemaErrors('applied', data)).toEqual([])
  })
})

/** Changes a JSON file, as an assistant that may edit files could. */
function alter(path: string, change: (content: JsonObject) => JsonObject): void {
  place.write(path, JSON.stringify(change(JSON.parse(place.read(path)) as JsonObject)))
}

describe('a server with --allow-apply', () => {
  it.each(['EDGEWISE_APPROVAL_KEY', 'ANY_NAME'])('does not start with the key in %s', (name) => {
    place.env[name] = ours.privateKey
    expect(() => createTool()).toThrow(`the variable ${name} has a private key`)
  })

  itLong('does not start with public keys in the checkout, nor with other keys', () => {
    place.write('approver.pub', ours.publicKey)
    expect(() => createTool(join(place.root, 'approver.pub'))).toThrow('lies in the checkout')
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    for (const text of [
      '',
      ours.privateKey,
      rsa.export({ type: 'spki', format: 'pem' }).toString(),
    ]) {
      writeFileSync(join(elsewhere, 'approver.pub'), text)
      expect(() => createTool()).toThrow('has no public Ed25519 key')
    }
  })

  it('takes its three options together', async () => {
    const { code, err } = await place.cli('mcp', '--allow-apply')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/--approver FILE and --plans DIR together/),
    ])
  })
})

describe('plan approve', () => {
  it('shows each change, and asks', async () => {
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    writeFileSync(join(elsewhere, 'key.pem'), ours.privateKey)
    const line = ['plan', 'approve', 'plan.json', '--key', join(elsewhere, 'key.pem')]
    expect((await place.cli(...line)).err).toMatch(/cannot prompt for the approval/)
    place.ask = async () => false
    const declined = await place.cli(...line)
    expect(declined.code).toBe(1)
    expect(declined.out).toContain(`  set timeout of ${www}: null → {"time":"60"}`)
    expect(() => place.read('plan.json.approved')).toThrow('ENOENT')
    place.ask = async () => true
    expect((await place.cli(...line)).code).toBe(0)
    expect(JSON.parse(place.read('plan.json.approved'))).toMatchObject({
      by: `${process.pid}@tests`,
    })
  })

  it.each<[name: string, line: string[], message: RegExp]>([
    ['no key', [], /there is no key to approve with/],
    ['a key in the checkout', ['--key', 'key.pem'], /lies beside the manifests/],
    [
      'a key that is none',
      ['--key', fileURLToPath(import.meta.url)],
      /no private Ed25519 key in PEM/,
    ],
    ['too long a time', ['--hours', '169'], /hours from 1 to 168/],
  ])('refuses %s', async (_name, line, message) => {
    place.write('key.pem', ours.privateKey)
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    const { code, err } = await place.cli('plan', 'approve', 'plan.json', '--yes', ...line)
    expect([code, err]).toEqual([1, expect.stringMatching(message)])
    expect(() => place.read('plan.json.approved')).toThrow('ENOENT')
  })

  it('refuses what is no plan', async () => {
    place.env['EDGEWISE_APPROVAL_KEY'] = ours.privateKey
    place.write('other.json', '{}')
    const { code, err } = await place.cli('plan', 'approve', 'other.json', '--yes')
    expect([code, err]).toEqual([1, expect.stringMatching(/plan file can't be used/)])
  })
})
