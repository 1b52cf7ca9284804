import { globSync } from 'tinyglobby'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseJson } from '../../src/core/model/json.ts'
import { createNetworkTransport } from '../../src/service/transport.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { breakOrigins } from '../stories/unfinished-rollback.ts'
import { fetchWrites, Place } from './cli.ts'
import { loadEntries } from './load-chain.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'
import { itLong } from '../runs.ts'

const domains = Array.from({ length: 6 }, (_, i) => `d${i}.example.com`)
setStageInTime()

/** Configures one write for each domain. */
function enterFleet(more = ''): Place {
  const limits = '{callsPerMinute: 10000, domainsPerWrite: 1}'
  return enterPlace(new Place(emulator.url, more, { limits }))
}

/** Writes a manifest of each domain with another value. */
function setTimeouts(first: number, at = place): void {
  for (const [i, domain] of domains.entries()) at.manifest(domain, { timeout: { time: first + i } })
}

/** Stops the account from another workspace once so many writes were sent. */
function stopAfterWrites(count: number): void {
  const network = createNetworkTransport()
  let sent = 0
  let stopping: Promise<unknown> = Promise.resolve()
  const other = new Place(emulator.url, 'id: other\n', {
    root: join(place.root, 'other'),
    state: 'state: {store: dir, path: ../.edgewise/state}',
  })
  other.time = time
  place.transport = async (request) => {
    const answer = await network(request)
    if (request.url.endsWith('/domain/config') && ++sent === count) {
      stopping = other.cli(...stop)
      // The last look of the apply is too old from then on.
      time.now += 2000
    }
    await stopping
    return answer
  }
}

const stop = ['rollout', 'stop', '--all', '--reason', 'The origin is down']

itLong('a stop is shown, refuses apply, rollback and repair, and is lifted by resume', async () => {
  enterFleet()
  setTimeouts(5)
  await place.settle()
  time.now += 60_000
  setTimeouts(10)
  await place.settle()
  setTimeouts(20)
  expect((await place.cli('rollout', 'stop')).code).toBe(1)
  const stopped = await place.cli(...stop)
  expect([stopped.code, stopped.out.replace(/\s+/g, ' ')]).toEqual([
    0,
    'Stopped all writes of the account "default". No call leaves later than 2 s from now. Calls ' +
      'under way end. "edgewise rollout resume --all" lets its runners send again. ',
  ])
  const before = (await fetchWrites(emulator)).length
  const who = `all writes of the account were stopped by ${process.pid}@tests at 2026-11-20T12:01`
  const refused = [
    ['apply', '--yes'],
    ['apply', '--yes', '--no-waves'],
    ['rollback', '--yes'],
  ]
  for (const words of refused) {
    const { code, err } = await place.cli(...words)
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(who)])
    expect(err.replace(/\s+/g, ' ')).toContain('"edgewise rollout resume --all" lets all runners')
    expect(await place.json(...words)).toMatchObject({ code: 'stopped' })
  }
  const observed = JSON.stringify({ [domains[0] ?? '']: { timeout: { time: 1 } } })
  place.write('observed.json', observed)
  const repair = ['drift', '--repair', '--yes', '--observed', 'observed.json']
  expect(await place.cli(...repair)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/error: all\s+writes/),
  })
  expect(await fetchWrites(emulator)).toHaveLength(before)

  expect((await place.cli('plan')).err.replace(/\s+/g, ' ')).toContain(
    `apply will refuse this plan: ${who}:00Z: The origin is down. "edgewise rollout resume --all"`,
  )
  expect((await place.cli('rollout', 'list')).out).toMatch(/^stopped {2}all writes of the account/)
  const listed = await place.json('rollout', 'list')
  expect(listSchemaErrors('rollouts', listed)).toEqual([])
  expect(listed['stop']).toEqual({
    author: `${process.pid}@tests`,
    knownBy: 'user',
    at: '2026-11-20T12:01:00.000Z',
    reason: 'The origin is down',
  })

  const again = await place.json('rollout', 'stop', '--all')
  expect(listSchemaErrors('stop-decision', again)).toEqual([])
  expect(again).toMatchObject({ decision: 'already-stopped', stop: listed['stop'] })
  expect((await place.cli('rollout', 'resume')).code).toBe(1)
  expect((await place.cli('rollout', 'resume', 'x', '--all')).code).toBe(1)
  time.now += 1000
  expect(await place.json('rollout', 'resume', '--all')).toMatchObject({ decision: 'resumed' })
  expect(await place.json('rollout', 'resume', '--all')).toMatchObject({ decision: 'not-stopped' })
  await place.settle()
  const by = { name: `${process.pid}@tests`, knownBy: 'unidentified' }
  const decision = { kind: 'decision', about: 'all writes of the account default', by }
  expect(loadEntries().filter(({ kind }) => kind === 'decision')).toMatchObject([
    { ...decision, outcome: 'stopped', reason: 'The origin is down' },
    { ...decision, outcome: 'resumed', reason: null },
  ])
})

itLong('an apply without writes ends as ever while all is stopped', async () => {
  enterFleet()
  setTimeouts(10)
  await place.settle()
  await place.cli(...stop)
  expect((await place.cli('apply', '--yes')).code).toBe(0)
})

it('the author is the one that CI names, and a long reason is refused', async () => {
  enterFleet()
  place.env['GITHUB_ACTOR'] = 'ada'
  expect(await place.json('rollout', 'stop', '--all', '--reason', 'x'.repeat(501))).toMatchObject({
    code: 'usage',
  })
  expect(await place.json('rollout', 'stop', '--all')).toMatchObject({
    stop: { author: 'ada', knownBy: 'ci' },
  })
})

itLong('a running apply sends nothing more, records what was done, and exits with 3', async () => {
  enterFleet()
  setTimeouts(10)
  stopAfterWrites(1)
  const { code, out } = await place.cli('apply', '--yes')
  expect([code, out.replace(/\s+/g, ' ')]).toEqual([3, expect.stringContaining('were stopped by')])
  const sent = (await fetchWrites(emulator)).length
  // Those that were in flight end.
  expect(sent).toBeLessThanOrEqual(5)
  const { applies } = await place.json('state', 'history')
  expect(applies).toMatchObject([
    { outcome: 'incomplete', writes: { confirmed: sent, notSent: 6 - sent, inDoubt: 0 } },
  ])
  place.transport = undefined
  expect(await place.json('apply', '--yes')).toMatchObject({ code: 'stopped' })
  await place.cli('rollout', 'resume', '--all')
  await place.settle()
  expect(await fetchWrites(emulator)).toHaveLength(6)
})

itLong('a rollout that is stopped within a wave stays open, and goes on after resume', async () => {
  enterFleet('rollout: {waves: [1, 100%], pause: 1m}\n')
  setTimeouts(10)
  stopAfterWrites(2)
  const { code, out } = await place.cli('apply', '--yes')
  expect([code, out.replace(/\s+/g, ' ')]).toEqual([
    3,
    expect.stringContaining('the rollout stays open at wave 2 of 2, and the next apply resumes it'),
  ])
  place.transport = undefined
  expect(place.loadRollouts()).toMatchObject([{ state: 'open' }])
  expect(await place.json('apply', '--yes')).toMatchObject({ code: 'stopped' })
  await place.cli('rollout', 'resume', '--all')
  await place.settle()
  expect(place.loadRollouts()).toEqual([])
  expect(await fetchWrites(emulator)).toHaveLength(6)
})

itLong('a rollout begins no wave, and rolls nothing back, while all is stopped', async () => {
  const health = '{onFailure: rollback, grain: hour, window: 1h}'
  const rollout = `rollout: {waves: [4, 100%], pause: 1m, health: ${health}}\n`
  enterPlace(new Place(emulator.url, rollout))
  await breakOrigins(place, time, 8)
  const before = (await fetchWrites(emulator)).length
  stopAfterWrites(1)
  const { code, out } = await place.cli('apply', '--yes')
  expect([code, out.replace(/\s+/g, ' ')]).toEqual([
    3,
    expect.stringMatching(/5xx rose .*it could not be rolled back: all writes of the account were/),
  ])
  expect(await fetchWrites(emulator)).toHaveLength(before + 1)
  const [open] = place.loadRollouts()
  place.transport = undefined
  await place.cli('rollout', 'resume', '--all')
  expect((await place.cli('rollback', open?.id ?? '', '--yes')).code).toBe(0)
})

it.each([
  ['is no JSON', 'stop'],
  [
    'has an unknown key',
    '{"format":"edgewise.stop/1","author":"a","knownBy":"ci","at":"2026-11-20T12:00:00Z","x":1}',
  ],
  ['is of a newer version', '{"format":"edgewise.stop/2"}'],
  ['nests without end', '['.repeat(100_000)],
])('a stop that %s still stops, with a clear error, until it is lifted', async (_how, text) => {
  enterFleet()
  setTimeouts(10)
  await place.cli(...stop)
  const [path = ''] = globSync('.edgewise/state/stop/**/*.json', { cwd: place.root, dot: true })
  writeFileSync(join(place.root, path), text)
  expect(await place.json('apply', '--yes')).toMatchObject({
    code: 'stopped',
    message: expect.stringMatching(/^nothing of the account is sent, since its stop can't be read/),
  })
  const listed = await place.json('rollout', 'list')
  expect(listSchemaErrors('rollouts', listed)).toEqual([])
  expect(listed).toMatchObject({ stop: { fault: expect.stringContaining('/stop/') } })
  expect(await place.json('rollout', 'stop', '--all')).toMatchObject({
    decision: 'already-stopped',
  })
  expect(await place.json('rollout', 'resume', '--all')).toMatchObject({ decision: 'resumed' })
  await place.settle()
})

itLong('state is not migrated while all is stopped', async () => {
  enterFleet()
  setTimeouts(10)
  await place.settle()
  await place.cli(...stop)
  const migrated = ['state', 'migrate', '--to', 'dir:other', '--yes']
  expect(await place.json(...migrated)).toMatchObject({ code: 'stopped' })
})

it('a stop goes to the receivers of rollouts, once', async () => {
  enterFleet('notify: [{kind: webhook, url: "https://hook.example.net/", on: [rollout]}]\n')
  const bodies: unknown[] = []
  place.transport = async ({ body }) => {
    bodies.push(parseJson(body ?? ''))
    return { status: 200, headers: new Headers(), body: '' } as never
  }
  await place.cli(...stop)
  await place.cli(...stop)
  await place.cli('rollout', 'resume', '--all')
  expect(bodies).toMatchObject([
    { events: ['rollout'], title: expect.stringMatching(/^Stopped: .*: The origin is down\.$/) },
    { events: ['rollout'], title: expect.stringMatching(/^Resumed; before, all writes/) },
  ])
})
