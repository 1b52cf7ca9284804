import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fetchWrites, Place, token } from '../steps/cli.ts'
import { emulator, enterPlace, place, setStage } from '../steps/stage.ts'
import { TestSchema } from '../state/test-schema.ts'
import { startReplica, type Replica } from './replica.ts'

let schema: TestSchema
const replicas: Replica[] = []

setStage()
beforeEach(async () => {
  schema = await TestSchema.make()
})
afterEach(async () => {
  for (const replica of replicas.splice(0)) {
    replica.process.kill('SIGCONT')
    await replica.end('SIGKILL')
  }
  await schema.query(`drop schema if exists ${schema.name}_dbos cascade`)
  await schema.remove()
})

/** Enters a workspace in a git repository, with more settings. */
function enter(settings = ''): void {
  const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
  enterPlace(new Place(emulator.url, settings, { state }))
  const { url } = schema.configure((to) => to.searchParams.delete('application_name'))
  place.env = { EDGEWISE_TOKEN: token, DATABASE_URL: url }
  git('init', '--quiet', '--initial-branch', 'main')
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  return execFileSync('git', [...identity, ...args], { cwd: place.root, encoding: 'utf8' }).trim()
}

/** Commits all manifests, and returns the commit. */
function commit(): string {
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'Change')
  return git('rev-parse', 'HEAD')
}

async function start(...args: string[]): Promise<Replica> {
  const replica = await startReplica(place.root, place.env, [place.root, ...args])
  replicas.push(replica)
  return replica
}

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300; i++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`not reached:\n${replicas.map(({ err }) => err).join('\n---\n')}`)
}

const name = (i: number) => `d${String(i).padStart(2, '0')}.example.com`
const countSent = async () => (await fetchWrites(emulator)).map(({ domains }) => domains.length)

it('applies each new commit, and stops on SIGTERM', async () => {
  enter()
  place.manifest(name(1), { timeout: { time: 60 } })
  const first = commit()
  const replica = await start()
  await replica.waitFor(`commit ${first.slice(0, 12)}: done`)
  place.manifest(name(1), { timeout: { time: 70 } })
  const second = commit()
  await replica.waitFor(`commit ${second.slice(0, 12)}: done`)
  expect(await countSent()).toEqual([1, 1])
  const status = (await (await replica.get('/api/status')).json()) as Record<string, unknown>
  expect(status).toMatchObject({ role: 'leader', commit: second, applied: { status: 'done' } })
  expect((await replica.get('/readyz')).status).toBe(200)
  const metrics = await (await replica.get('/metrics')).text()
  expect(metrics).toMatch(/edgewise_writes_total\{outcome="confirmed",.*\} 2/)
  expect(await replica.end('SIGTERM')).toBe(143)
  expect(replica.log.at(-1)?.message).toBe('stopped')
  expect(replica.err).not.toContain(token)
}, 90_000)

it('names what is wrong with a commit, and goes on with the next one', async () => {
  enter()
  place.manifest(name(1), { timeout: { time: 60 } })
  commit()
  const replica = await start()
  await replica.waitFor(': done')
  writeFileSync(join(place.root, 'domains/bad.yaml'), 'domain: bad.example.com\nconfig: {tim: 1}\n')
  commit()
  expect((await replica.waitFor('is not applied')).message).toContain('domains/bad.yaml:2:')
  place.manifest('bad.example.com', { timeout: { time: 61 } })
  git('rm', '--quiet', '--force', '--ignore-unmatch', 'domains/bad.yaml')
  const last = commit()
  await replica.waitFor(`commit ${last.slice(0, 12)}: done`)
}, 90_000)

it('a rollout goes on with the next replica after its leader was killed in a pause', async () => {
  enter('rollout: {waves: [1, 100%], pause: 20s}\n')
  for (let i = 0; i < 5; i++) place.manifest(name(i), { timeout: { time: 60 } })
  commit()
  const one = await start()
  await one.waitFor('leads')
  const two = await start()
  await until(async () => (await countSent()).length === 1)
  await one.waitFor(': waiting')
  await one.end('SIGKILL')
  await two.waitFor('leads')
  await until(async () => (await countSent()).length === 2)
  expect(await countSent()).toEqual([1, 4])
  await two.waitFor(': done')
}, 120_000)
