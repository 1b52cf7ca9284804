import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../../test/postgres-server.ts'
import { findProgram } from '../../test/program.ts'
import { startReplica } from '../../test/server/replica.ts'
import { PostgresProxy } from '../../test/state/postgres-proxy.ts'
import type { BenchOptions } from './arguments.ts'
import { writeFleet } from './fleet.ts'
import { createRow, type Row } from './row.ts'
import type { Workbench } from './workbench.ts'

/** Ticks of the processor's clock in a second, as Linux counts them. */
const ticks = 100
const minutes = 5

/**
 * Measures what `edgewise serve` costs in an hour in which nothing happens, from some minutes. A
 * replica leads a workspace of 10,000 domains, all applied, with PostgreSQL, the emulator and a git
 * repository on this machine.
 */
export async function measureIdle(bench: Workbench, { domains }: BenchOptions): Promise<Row[]> {
  const { served, stop } = await startPostgres()
  if ('failure' in served) throw new Error(served.failure)
  const proxy = await PostgresProxy.start(served.url)
  const { url } = await bench.startEmulator()
  const folder = bench.makeFolder('idle')
  const size = domains ?? 10_000
  writeFleet(folder, size, buildSettings(url))
  bench.git(folder, 'init', '--quiet', '--initial-branch', 'main')
  bench.git(folder, 'add', '--all')
  bench.git(folder, 'commit', '--quiet', '--message', 'Begin')
  const database = new URL(served.url)
  proxy.redirect(database)
  const env = { EDGEWISE_TOKEN: 'any', DATABASE_URL: database.href }
  const replica = await startReplica(folder, env, ['--poll', '60', folder], findProgram())
  try {
    const { pid = 0 } = replica.process
    await replica.waitFor(/^commit .*: done/)
    // Some minutes later, everything has settled.
    await sleep(60_000)
    const before = { cpu: measureCpu(pid), ...proxy.counted() }
    await sleep(minutes * 60_000)
    const after = { cpu: measureCpu(pid), ...proxy.counted() }
    const perHour = (name: keyof typeof before) => ((after[name] - before[name]) * 60) / minutes
    const what = `an idle hour of serve with ${size} domains`
    return [
      createRow('idle-cpu', `${what}: CPU, git included`, 's', perHour('cpu')),
      createRow('idle-statements', `${what}: statements`, '', Math.round(perHour('statements'))),
      createRow('idle-bytes', `${what}: from the database`, 'MB', perHour('bytes') / 1e6),
    ]
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
    'state: {store: postgres, url: "${env:DATABASE_URL}", schema: bench_idle}'
  )
}

/** Measures the processor time of a process and of its children that have ended, seconds. */
function measureCpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  // utime, stime, cutime and cstime
  const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return own / ticks
}
