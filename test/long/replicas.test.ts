// @module-tag often
// @module-tag nightly

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fetchConfig, setFaults } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'
import { startOwnPostgres } from '../postgres-server.ts'
import { ended, type Replica } from '../server/replica.ts'
import {
  commit,
  configure,
  enterServed,
  git,
  listSent,
  name,
  setServeStage,
  start,
  startFollowing,
  until,
} from '../server/serve-stage.ts'

setStage()
setServeStage()

const inWaves = (pause: string, more = '') =>
  `rollout: {waves: [1, 100%], pause: ${pause}${more}}\n`

/** Starts a leader and another replica. */
async function startTwo(): Promise<[Replica, Replica]> {
  const one = await start()
  await one.waitFor('term begun')
  return [one, await start()]
}

/** Waits until the service has these values, and expects no rollout to be left. */
async function expectApplied(domains: number, seconds: number, replica: Replica): Promise<void> {
  await until(async () => {
    const status = (await (await replica.get('/api/status')).json()) as {
      applied: { status: string; commit: string } | null
    }
    const { status: end, commit: applied } = status.applied ?? {}
    return end === 'done' && applied === git('rev-parse', 'HEAD')
  })
  for (let i = 0; i < domains; i++)
    expect(await fetchConfig(emulator, name(i))).toMatchObject({
      timeout: { time: String(seconds) },
    })
  expect((await place.json('rollout', 'list'))['rollouts']).toEqual([])
  expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
}

it('a rollout is resumed after its leader was killed in a pause', async () => {
  enterServed(inWaves('20s'))
  configure(5, 60)
  commit()
  const [one, two] = await startTwo()
  await one.waitFor(ended('', 'waiting'))
  await one.end('SIGKILL')
  await two.waitFor('term begun')
  await expectApplied(5, 60, two)
  expect(await listSent()).toEqual([1, 4])
})

it('a rollout is resumed after its leader was killed in a wave', async () => {
  enterServed(inWaves('1s'))
  configure(5, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 4000, on: [2] })
  const [one, two] = await startTwo()
  await until(async () => (await place.json('rollout', 'list'))['rollouts'] !== undefined)
  await one.waitFor('wave.waiting').catch(() => undefined)
  await until(async () => (await listSent()).length >= 1)
  await new Promise((resolve) => setTimeout(resolve, 2500))
  await one.end('SIGKILL')
  await two.waitFor('term begun')
  await expectApplied(5, 60, two)
  // The call in flight may be repeated: it sets the same values.
  expect((await listSent()).every((domains) => domains === 1 || domains === 4)).toBe(true)
})

it('a leader that can not fetch hands over to a replica that can and applies the tip', async () => {
  enterServed()
  configure(2, 60)
  commit()
  const copy = join(mkdtempSync(join(tmpdir(), 'edgewise-remote-')), 'copy.git')
  git('clone', '--quiet', '--bare', place.root, copy)
  const one = await startFollowing(copy)
  await one.waitFor('term begun')
  await expectApplied(2, 60, one)
  const two = await start()
  const exited = once(one.process, 'exit')
  rmSync(copy, { recursive: true })
  configure(2, 30)
  commit()
  await one.waitFor('leadership handed over')
  await two.waitFor('term begun')
  await expectApplied(2, 30, two)
  expect((await exited)[0]).toBe(1)
  expect(one.err).toContain('start this one again')
})

it('two replicas that can not fetch change nothing between them', async () => {
  enterServed()
  configure(1, 60)
  commit()
  const copy = join(mkdtempSync(join(tmpdir(), 'edgewise-remote-')), 'copy.git')
  git('clone', '--quiet', '--bare', place.root, copy)
  const one = await startFollowing(copy)
  await one.waitFor('term begun')
  await expectApplied(1, 60, one)
  const two = await startFollowing(copy)
  rmSync(copy, { recursive: true })
  const count = ({ log }: Replica) =>
    log.filter(({ message }) => message.startsWith('branch not fetched')).length
  await until(async () => count(one) > 2 && count(two) > 2)
  expect(one.err).not.toContain('leadership handed over')
  const ready = await Promise.all([one, two].map((each) => fetch(`${each.healthUrl}/readyz`)))
  expect(ready.map(({ status }) => status)).toEqual([200, 200])
})

it('another replica takes over from a suspended leader, which ends when it wakes up', async () => {
  enterServed(inWaves('15s'))
  configure(5, 60)
  commit()
  const [one, two] = await startTwo()
  await one.waitFor(ended('', 'waiting'))
  one.process.kill('SIGSTOP')
  await two.waitFor('locks taken over')
  await until(async () => (await listSent()).length === 2)
  const exited = once(one.process, 'exit')
  one.process.kill('SIGCONT')
  await one.waitFor('replica ended')
  expect((await exited)[0]).toBe(1)
  await expectApplied(5, 60, two)
  expect(await listSent()).toEqual([1, 4])
})

it('a leader that is stopped in a wave records its calls, and the next one resumes', async () => {
  enterServed(inWaves('1s'))
  configure(5, 60)
  commit()
  await setFaults(emulator, { kind: 'delay', ms: 4000 })
  const [one, two] = await startTwo()
  await one.waitFor('apply.started')
  await new Promise((resolve) => setTimeout(resolve, 1500))
  expect(await one.end('SIGTERM')).toBe(143)
  expect(one.log.at(-1)?.message).toBe('replica stopped')
  await expectApplied(5, 60, two)
  // The call in flight was answered and recorded: nothing is sent twice.
  expect(await listSent()).toEqual([1, 4])
})

it('a leader resumes its rollout after a crash of the database', async () => {
  const server = await startOwnPostgres(false)
  try {
    if ('failure' in server.served) throw new Error(server.served.failure)
    enterServed(inWaves('10s'))
    place.env['DATABASE_URL'] = server.served.url
    configure(5, 60)
    commit()
    const replica = await start()
    await replica.waitFor(ended('', 'waiting'))
    await server.crash('SIGKILL', 4000)
    await expectApplied(5, 60, replica)
    expect(await listSent()).toEqual([1, 4])
    expect(await replica.end('SIGTERM')).toBe(143)
  } finally {
    await server.stop()
  }
})

it('a rollout that a CI job handed over waits for its approval over HTTP', async () => {
  enterServed(inWaves('1s', ', approval: [2]'))
  configure(5, 60)
  commit()
  expect((await place.cli('apply', '--yes', '--no-wait')).code).toBe(0)
  expect(await listSent()).toEqual([1])
  const replica = await start()
  await until(async () => {
    const { rollouts } = (await (await replica.get('/api/rollouts')).json()) as {
      rollouts: { id: string; state: string }[]
    }
    const waiting = rollouts.find(({ state }) => state === 'waiting-for-approval')
    if (waiting === undefined) return false
    const path = `/api/rollouts/${waiting.id}/approve`
    return (await replica.get(path, { method: 'POST' })).status === 200
  })
  await expectApplied(5, 60, replica)
  expect(await listSent()).toEqual([1, 4])
})
