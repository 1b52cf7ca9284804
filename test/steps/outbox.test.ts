// @module-tag often
// @module-tag nightly
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Drift, DriftItem } from '../../src/core/model/drift.ts'
import {
  describeNotApplied,
  nothingLeft,
  type Content,
} from '../../src/outlets/notify/notification.ts'
import { openOutbox, type Outbox } from '../../src/outlets/notify/outbox.ts'
import { loadWorkspace, type LoadedWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { createNodeOutside } from '../../src/operations/runtime/node-outside.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import { createLogger } from '../../src/server/logger.ts'
import { createNotifications, type Notifications } from '../../src/server/notifications.ts'
import { EdgewiseError, type ErrorCode } from '../../src/core/model/edgewise-error.ts'
import type { Ports } from '../../src/operations/runtime/ports.ts'
import type { Executed } from '../../src/operations/submission/executed.ts'
import { findProgram } from '../program.ts'
import { TestSchema } from '../state/test-schema.ts'
import { Place, token } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const www = 'www.example.com'
const secretPath = '/services/T0/B0/secret-of-the-hook'
const received: {
  id: string
  title: string
  events: string[]
  text?: string
  history?: string
}[] = []
/** Status of all answers. */
let status = 200
/** Called instead of an answer with each request; null answers. */
let onRequest: (() => void) | null = null
let server: Server
let url = ''
let schema: TestSchema

setStage()
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (onRequest !== null) return onRequest()
      if (status === 200) received.push(JSON.parse(Buffer.concat(chunks).toString()) as never)
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${secretPath}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(async () => {
  schema = await TestSchema.make()
  const all = '[applied, refused, in-doubt, failed, drift, rollout, approval]'
  enter(`  - {kind: webhook, url: "\${env:HOOK}", on: ${all}}`)
})
afterEach(async () => {
  received.length = 0
  status = 200
  onRequest = null
  await schema.remove()
})

function enter(receivers: string): void {
  const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
  enterPlace(new Place(emulator.url, `notify:\n${receivers}\n`, { state }))
  const { url: address } = schema.configure((to) => to.searchParams.delete('application_name'))
  const key = 'key-of-the-receiver-long-enough'
  place.env = { EDGEWISE_TOKEN: token, DATABASE_URL: address, HOOK: url, KEY: key }
  place.transport = createNetworkTransport()
}

function loadPlace(): LoadedWorkspace {
  const outside = { ...createNodeOutside(new AbortController().signal), env: place.env }
  return loadWorkspace(place.root, outside, 'none')
}

/** Creates the notifications of a controller. */
function createServed(): Notifications {
  const outside = { ...createNodeOutside(new AbortController().signal), env: place.env }
  const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
  const out = () => undefined
  const logger = createLogger({ clock: outside.clock, out, format: 'json', level: 'info' })
  return createNotifications(outside, metrics, logger)
}

/** Opens the notifications of the place in another process, with this start. */
function open(started?: string): Outbox {
  const outside = { ...createNodeOutside(new AbortController().signal), env: place.env }
  const clock = { ...outside.clock, sleep: () => Promise.resolve() }
  const beating = { ...outside.clock, sleep: sleepUntilAborted }
  const machine = started === undefined ? outside.machine : { ...outside.machine, started }
  const opened = openOutbox(loadPlace(), {
    ...outside,
    machine,
    clock: started === undefined ? clock : beating,
  })
  if (opened === null) throw new TypeError('expected an outbox')
  return opened
}

function sleepUntilAborted(_ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal?.addEventListener('abort', () => resolve()))
}

/** Runs an apply in a process of its own, and kills it. */
async function killApply(hook: string, prepare: (kill: () => void) => void): Promise<void> {
  const child = spawn(process.execPath, [...findProgram(), 'apply', '--yes'], {
    cwd: place.root,
    env: { PATH: process.env['PATH'], ...place.env, HOOK: hook },
    stdio: 'ignore',
  })
  prepare(() => void child.kill('SIGKILL'))
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
}

const makeDue = () => schema.query(`update ${schema.name}.outbox set due = 'epoch'`)
const titles = () => received.map(({ title }) => title)

function describeTest(title: string): Content {
  return { ...nothingLeft, events: ['applied'], title }
}

function createDrift(...domains: string[]): Drift {
  const items = domains.map((domain): DriftItem => {
    const about = { domain, item: 'timeout', confidence: 'assumed' as const, recordedAt: null }
    return { ...about, kinds: ['pending'], pending: [], live: [], notVerifiable: [], held: false }
  })
  return { items, pending: [], live: [], inDoubt: [] }
}

describe('notifications in a database', () => {
  it('wait for a receiver that is down, in its order, with the same id', async () => {
    status = 500
    place.manifest(www, { timeout: { time: 60 } })
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err.replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('1 notification waits in the database; the next command'),
    ])
    const outbox = open()
    await outbox.finish(null, [describeTest('second')])
    expect(await outbox.deliverDue()).toMatchObject({ sent: 0, postponed: 0 })
    const stored = await schema.query(`select * from ${schema.name}.outbox order by number`)
    expect(stored).toHaveLength(2)
    expect(JSON.stringify(stored)).not.toMatch(/secret-of-the-hook|127\.0\.0\.1:\d+\/serv/)
    expect(stored[0]).toMatchObject({ attempts: 1, failure: 'HTTP 500' })
    status = 200
    await makeDue()
    expect(await outbox.deliverDue()).toMatchObject({ sent: 2, failures: [] })
    expect(titles()).toEqual(['Applied; writes: 1 confirmed.', 'second'])
    // The second one has no entry of its own.
    const { newest } = await place.json('state', 'verify')
    expect(received.map(({ history }) => history)).toEqual([newest, newest])
    expect(received[0]?.id).toBe(stored[0]?.['id'])
    expect(await outbox.count()).toEqual({ pending: 0, givenUp: 0, oldestSeconds: 0 })
  })

  it('are sent once by two processes at once', async () => {
    const outbox = open()
    await outbox.finish(null, ['a', 'b', 'c', 'd'].map(describeTest))
    await Promise.all([open().deliverDue(), open().deliverDue(), outbox.deliverDue()])
    expect(titles()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('report an apply whose process is gone, and its outcome if it wakes up', async () => {
    const killed = open('another start')
    const begun = await killed.begin('apply')
    await open().deliverDue()
    expect(titles()).toEqual([expect.stringMatching(/^An apply that began at .* ended without/)])
    await killed.finish(begun, [describeTest('late')])
    await open().deliverDue()
    expect(titles().slice(1)).toEqual(['late'])
    expect(await schema.query(`select from ${schema.name}.outbox_begun`)).toEqual([])
  })

  it('report no apply that still runs, until it shows no sign of life', async () => {
    const running = open()
    const outside = createNodeOutside(new AbortController().signal)
    await open(outside.machine.started).begin('apply')
    await running.deliverDue()
    expect(received).toEqual([])
    await schema.query(
      `update ${schema.name}.outbox_begun set seen_at = seen_at - interval '91 seconds'`,
    )
    await running.deliverDue()
    expect(received).toHaveLength(1)
  })

  it('are given up after a day, counted, and reported once', async () => {
    status = 500
    const outbox = open()
    await outbox.finish(null, [describeTest('old')])
    await schema.query(`update ${schema.name}.outbox set created = created - interval '1 day'`)
    expect(await outbox.deliverDue()).toMatchObject({ givenUp: 1, postponed: 0 })
    await makeDue()
    expect(await outbox.deliverDue()).toMatchObject({ givenUp: 0, postponed: 0 })
    expect(await outbox.count()).toMatchObject({ pending: 0, givenUp: 1 })
  })

  it('are dropped when their receiver is removed', async () => {
    await open().finish(null, [describeTest('gone')])
    const file = place.read('edgewise.yaml')
    place.write('edgewise.yaml', file.replace('kind: webhook', 'kind: slack'))
    expect(await open().deliverDue()).toMatchObject({ sent: 0, dropped: 1 })
    expect(received).toEqual([])
  })

  it('are sent by the next command after a kill before the receiver answered', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    await killApply(url, (kill) => (onRequest = kill))
    expect(received).toEqual([])
    onRequest = null
    // The claim of the killed process ends, and what failed is due again.
    await schema.query(`update ${schema.name}.outbox set claimed_until = 'epoch'`)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(titles()).toEqual(['Applied; writes: 1 confirmed.'])
  })

  it('report an apply that was killed while it sent', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const home = place.read('edgewise.yaml')
    const port = (silent.address() as AddressInfo).port
    place.write('edgewise.yaml', home.replace(emulator.url, `http://127.0.0.1:${port}`))
    place.manifest(www, { timeout: { time: 60 } })
    await killApply(url, (kill) => silent.on('request', kill))
    expect(await schema.query(`select from ${schema.name}.outbox_begun`)).toHaveLength(1)
    await open().deliverDue()
    expect(titles()).toEqual([expect.stringContaining('ended without reporting its outcome')])
    await new Promise((resolve) => silent.close(resolve))
  })

  it('report an apply that failed after it began', async () => {
    const outbox = open('another start')
    await outbox.abandon(await outbox.begin('apply'))
    await open().deliverDue()
    expect(titles()).toEqual([expect.stringMatching(/^An apply that began at .* ended without/)])
  })

  it('a wait is announced once, by whoever comes after a process that died', async () => {
    const settings = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${settings}rollout: {approval: [1]}\n`)
    place.manifest(www, { timeout: { time: 60 } })
    // It dies before it announces anything: only the state has the wait.
    const quiet = place.read('edgewise.yaml').replace(/^notify:\n.*\n/m, '')
    const loud = place.read('edgewise.yaml')
    place.write('edgewise.yaml', quiet)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(received).toEqual([])
    place.write('edgewise.yaml', loud)
    for (let i = 0; i < 2; i++) {
      await open().deliverDue()
      await createServed().deliver(loadPlace())
      expect((await place.cli('apply', '--yes')).code).toBe(0)
    }
    expect(received.map(({ title, events }) => [title, events])).toEqual([
      ['Wave 1 of 1 waits for approval.', ['approval']],
    ])
    const { rollouts } = await place.json('rollout', 'list')
    const [{ id }] = rollouts as [{ id: string }]
    expect((await place.cli('rollout', 'approve', id)).code).toBe(0)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(titles().slice(1)).toEqual([
      expect.stringMatching(/^Approved wave 1 of 1/),
      'Applied; writes: 1 confirmed.',
    ])
  })

  it('an invalid commit is reported once, by whatever process', async () => {
    for (const commit of ['a', 'a', 'b']) {
      const outbox = open()
      const content = describeNotApplied(`Commit ${commit} is not applied`, 'invalid')
      if (content === null) throw new TypeError('expected a content')
      await outbox.reportOnce('invalid commit', commit, content)
      await outbox.deliverDue()
    }
    expect(received.map(({ title, events }) => [title.slice(0, 33), events])).toEqual([
      ['Commit a is not applied (invalid)', ['failed']],
      ['Commit b is not applied (invalid)', ['failed']],
    ])
  })

  it('a commit or a rollout that is not applied is reported once, unless it soon is', async () => {
    const { aboutFailure } = createServed()
    const error = (code: ErrorCode) => new EdgewiseError(code, 'it quotes a value')
    const commit = (id: string, thrown: unknown) =>
      aboutFailure(loadPlace(), { kind: 'commit', id: id.repeat(40), error: thrown })
    for (const code of ['locked', 'guarded', 'guarded', 'access'] as const)
      await commit('a', error(code))
    await commit('b', new TypeError('a defect'))
    for (const id of ['r1', 'r2', 'r1', 'r2'])
      await aboutFailure(loadPlace(), { kind: 'rollout', id, error: error('guarded') })
    await open().deliverDue()
    const guarded = '(guarded): A guard, a freeze window or a destructive change forbids the plan.'
    expect(titles().map((title) => title.replace(' Nothing was sent.', ''))).toEqual([
      `Commit aaaaaaaaaaaa is not applied ${guarded}`,
      'Commit bbbbbbbbbbbb is not applied (defect): an internal error occurred.',
      `Rollout r1 waits ${guarded}`,
      `Rollout r2 waits ${guarded}`,
    ])
  })

  it('an apply that sends nothing is reported once for a commit', async () => {
    const { aboutRun } = createServed()
    const workspace = Object.assign(loadPlace(), { commit: 'a'.repeat(40) })
    const counts = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 1 }
    const stopped = 'the service could not be reached'
    const type = 'apply.finished' as const
    const executed = {
      status: 'incomplete',
      finished: { type, time: '', apply: 'a1', stopped, ...counts, parts: counts },
      inWaves: false,
      doubts: [],
      by: { name: 'serve', knownBy: 'serve' },
      plan: { basis: { commit: null } },
      result: { ...counts, parts: counts, stopped, unrecorded: null, refusals: [] },
    } as unknown as Executed
    const ports = {} as Ports
    await aboutRun(workspace, ports, async () => executed)
    await aboutRun(workspace, ports, async () => executed)
    await open().deliverDue()
    expect(received).toMatchObject([
      { events: ['failed'], title: 'Not everything was applied; writes: 1 not sent.' },
    ])
  })

  it('report domains that the service does not have, and nothing as gone with them', async () => {
    const outbox = open()
    const [none, missing] = [createDrift(), { unanswered: [www] }]
    const drifts = [none, createDrift(www), { ...none, ...missing }, { ...none, ...missing }]
    for (const drift of [
      ...drifts,
      { ...none, unread: 0 },
      createDrift(www),
      { ...none, unread: 2 },
    ]) {
      await outbox.reportDrift(drift, 'all')
      await outbox.deliverDue()
    }
    expect(titles()).toEqual([
      'Drift: 1 item of 1 domain.',
      'Drift: 1 domain not at the service.',
      'Drift is gone: it was 1 domain.',
      'Drift: 1 item of 1 domain.',
      'No drift was found in what was observed, without 2 domains; it was 1 item of 1 domain.',
    ])
  })

  it('report no drift as gone before serve has read all domains again', async () => {
    const workspace = loadPlace()
    workspace.config.service.readBack = true
    const { aboutDrift } = createServed()
    const [all, none] = [createDrift(www), createDrift()]
    for (const drift of [
      all,
      { ...none, unread: 3 },
      { ...all, unread: 2 },
      { ...none, unread: 0 },
    ])
      await aboutDrift(workspace, { drift, observed: new Map(), notes: [], unmanaged: [] })
    await open().deliverDue()
    expect(titles()).toEqual([
      'Drift: 1 item of 1 domain.',
      'Drift is gone: it was 1 item of 1 domain.',
    ])
  })

  it('report no drift as gone of a domain that was not observed', async () => {
    const api = 'api.example.com'
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    received.length = 0
    const [same, other] = [{ timeout: { time: '60' } }, { timeout: { time: '61' } }]
    for (const observed of [{ [www]: other, [api]: same }, { [api]: same }]) {
      place.write('observed.json', JSON.stringify(observed))
      await place.cli('drift', '--observed', 'observed.json')
    }
    expect(titles()).toEqual([
      'Drift: 1 item of 1 domain.',
      'No drift was found in what was observed, without 1 domain; it was 1 item of 1 domain.',
    ])
  })

  it('report drift when it changes, and when it is gone', async () => {
    const outbox = open()
    const many = Array.from({ length: 1000 }, (_each, i) => `d${i}.example.com`)
    for (const domains of [[], [www], [www], many, [], []]) {
      await outbox.reportDrift(createDrift(...domains), 'all')
      await outbox.deliverDue()
    }
    expect(titles()).toEqual([
      'Drift: 1 item of 1 domain.',
      'Drift: 1,000 items of 1,000 domains.',
      'Drift is gone: it was 1,000 items of 1,000 domains.',
    ])
    for (const run of ['first', 'second']) {
      place.manifest(www, { timeout: { time: 60 } })
      expect([run, (await place.cli('drift')).code]).toEqual([run, 2])
    }
    expect(titles()).toHaveLength(4)
  })
})
