import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach } from 'vitest'
import { fetchWrites, Place, token } from '../steps/cli.ts'
import { emulator, enterPlace, place } from '../steps/stage.ts'
import { TestSchema } from '../state/test-schema.ts'
import { startReplica, type Replica } from './replica.ts'

let schema: TestSchema
const replicas: Replica[] = []

/** Provides each test with tables of its own, and ends its replicas. */
export function setServeStage(): void {
  beforeEach(async () => {
    schema = await TestSchema.make()
  })
  afterEach(async () => {
    for (const replica of replicas.splice(0)) {
      replica.process.kill('SIGCONT')
      await replica.end('SIGKILL')
    }
    await schema.remove()
  })
}

/** Returns the configuration of the database of the test. */
export function getDatabase(): { url: string; schema: string } {
  return schema.configure((to) => to.searchParams.delete('application_name'))
}

/** Runs a statement in the database of the test. */
export function runSql(statement: string): Promise<unknown[]> {
  return schema.query(statement)
}

/** Enters a workspace in a git repository, with more settings. */
export function enterServed(settings = ''): void {
  const state = `state: {store: postgres, url: "\${env:DATABASE_URL}", schema: ${schema.name}}`
  enterPlace(new Place(emulator.url, settings, { state }))
  place.env = { EDGEWISE_TOKEN: token, DATABASE_URL: getDatabase().url }
  git('init', '--quiet', '--initial-branch', 'main')
}

export function git(...args: string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
  return execFileSync('git', [...identity, ...args], { cwd: place.root, encoding: 'utf8' }).trim()
}

/** Commits all files of the workspace, and returns the commit. */
export function commit(): string {
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', 'Change')
  return git('rev-parse', 'HEAD')
}

/** Starts a replica that follows the workspace, and ends it with the test. */
export function start(...args: string[]): Promise<Replica> {
  return keep(startReplica(place.root, place.env, [place.root, ...args]))
}

/** Starts a replica that follows another repository in the same way. */
export function startFollowing(repository: string): Promise<Replica> {
  return keep(startReplica(place.root, place.env, [repository]))
}

async function keep(started: Promise<Replica>): Promise<Replica> {
  const replica = await started
  replicas.push(replica)
  return replica
}

/** Waits until a check holds. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 900; i++) {
    if (await check()) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`not reached:\n${replicas.map(({ err }) => err).join('\n---\n')}`)
}

export const name = (i: number) => `d${i}.example.com`

/** Writes manifests of some domains, with this value. */
export function configure(domains: number, seconds: number): void {
  for (let i = 0; i < domains; i++) place.manifest(name(i), { timeout: { time: seconds } })
}

/** Lists the number of domains of each write that reached the service. */
export async function listSent(): Promise<number[]> {
  return (await fetchWrites(emulator)).map(({ domains }) => domains.length)
}
