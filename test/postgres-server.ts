import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const program = fileURLToPath(new URL('embedded-postgres.ts', import.meta.url))

/** Address of a PostgreSQL server as a user who may create roles, or why there is none. */
export type ServedPostgres = { url: string } | { failure: string }

declare module 'vitest' {
  interface ProvidedContext {
    postgres: ServedPostgres
  }
}

/** A PostgreSQL server, and how to end it. */
interface PostgresServer {
  served: ServedPostgres
  stop(): Promise<void>
}

/** Signal that ends a server. */
export type CrashSignal = 'SIGKILL' | 'SIGQUIT' | 'SIGINT'

/** A server of our own. */
export interface CrashingServer extends PostgresServer {
  /**
   * Kills its first process, shuts it down at once (SIGQUIT) or orderly (SIGINT), and starts it
   * again after some time, ms, with the same data and port. Ends when it accepts connections.
   */
  crash(signal: CrashSignal, downMs: number): Promise<void>
}

/**
 * Provides a PostgreSQL server for all tests until the end of the run. Tests that need it fail if
 * it does not start.
 */
export default async function servePostgres(project: TestProject): Promise<() => Promise<void>> {
  const { served, stop } = await startPostgres()
  project.provide('postgres', served)
  return stop
}

/** Finds the server of DATABASE_URL, or starts one. */
export async function startPostgres(): Promise<PostgresServer> {
  const { DATABASE_URL: url = '' } = process.env
  if (url !== '') return { served: { url }, stop: async () => undefined }
  return startOwnPostgres(false)
}

/**
 * Starts a server that may be killed.
 *
 * @param isDurable whether it syncs what it writes
 */
export async function startOwnPostgres(isDurable: boolean): Promise<CrashingServer> {
  // In a process group of its own: an interrupt at the terminal does not end it before the tests.
  const args = ['--import', 'tsx', program, ...(isDurable ? ['--durable'] : [])]
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    // The user of the server can't reach the temporary folder of the tests.
    env: { ...process.env, TMPDIR: undefined },
  })
  const exit = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const findServed = (): Promise<ServedPostgres> =>
    Promise.race([
      once(lines, 'line').then(([line]) => JSON.parse(String(line)) as ServedPostgres),
      exit.then(([code]) => ({ failure: `its process ended with ${String(code)}` })),
    ])
  const served = await findServed()
  const crash = async (signal: CrashSignal, downMs: number) => {
    const next = findServed()
    child.stdin.write(`${signal} ${downMs}\n`)
    const again = await next
    if ('failure' in again) throw new Error(again.failure)
  }
  const stop = async () => {
    child.stdin.end()
    await exit
  }
  return { served, stop, crash }
}
