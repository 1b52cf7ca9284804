import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '../../test/postgres-server.ts'
import { findProgram } from '../../test/program.ts'
import { startReplica, type Replica, ended } from '../../test/server/replica.ts'
import { PostgresProxy } from '../../test/state/postgres-proxy.ts'
import { writeFleet } from './fleet.ts'
import type { Workbench } from './workbench.ts'

/** Ticks of the processor's clock in a second, as Linux counts them. */
const ticks = 100

/**
 * Runs a replica that leads a workspace, with PostgreSQL, the emulator and a git repository on this
 * machine, and measures it once all domains are applied.
 *
 * @param size number of domains
 * @param measure gets what the database has counted: statements, and bytes that it sent
 */
export async function withServed<T>(
  bench: Workbench,
  size: number,
  measure: (replica: Replica, counted: PostgresProxy['counted']) => Promise<T>,
): Promise<T> {
  const { served, stop } = await startPostgres()
  if ('failure' in served) throw new Error(served.failure)
  const proxy = await PostgresProxy.start(served.url)
  const { url } = await bench.startEmulator()
  const folder = bench.makeFolder('served')
  writeFleet(folder, size, buildSettings(url))
  bench.git(folder, 'init', '--quiet', '--initial-branch', 'main')
  bench.git(folder, 'add', '--all')
  bench.git(folder, 'commit', '--quiet', '--message', 'Begin')
  const database = new URL(served.url)
  proxy.redirect(database)
  const NODE_OPTIONS = `--require=${fileURLToPath(new URL('report-hold.cjs', import.meta.url))}`
  const env = { EDGEWISE_TOKEN: 'any', DATABASE_URL: database.href, NODE_OPTIONS }
  const replica = await startReplica(folder, env, ['--poll', '60', folder], findProgram())
  try {
    await replica.waitFor(ended('', 'done'))
    return await measure(replica, () => proxy.counted())
  } finally {
    await replica.end('SIGTERM')
    proxy.end()
    await stop()
  }
}

function buildSettings(url: string): string {
  return (
    `id: fleet\nservice: {url: "${url}", token: "\${env:EDGEWISE_TOKEN}"}\n` +
    'limits: {callsPerMinute: 100000}\n' +
    'state: {store: postgres, url: "${env:DATABASE_URL}", schema: bench_served}'
  )
}

/**
 * Measures the processor time of a process, seconds.
 *
 * @param whose `with-children`: and of its children that have ended
 */
export function measureCpu(pid: number, whose: 'own' | 'with-children'): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime, stime, cutime and cstime
  const times = fields.slice(11, whose === 'own' ? 13 : 15)
  return times.reduce((sum, field) => sum + Number(field), 0) / ticks
}
