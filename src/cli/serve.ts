import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { launchDbos, requireDbos } from '../server/dbos-engine.ts'
import type { DatabaseConfig } from '../model/config.ts'
import { createPool } from '../state/postgres/create-pool.ts'
import type { ConnectionPool } from '../state/postgres/database.ts'
import { createLogger } from '../server/logger.ts'
import { serve } from '../server/serve.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'

/** Options of `edgewise serve`. */
export interface ServeFlags {
  branch?: string
  folder?: string
  data?: string
  poll: number
  host: string
  port: number
  logFormat: 'json' | 'text'
}

/**
 * Runs the controller until it is interrupted.
 *
 * @returns exit code: 1 if another replica has become the leader
 */
export async function runServe(
  { io, options: { workspace, verbose } }: CommandContext,
  repository: unknown,
  flags: ServeFlags,
): Promise<number> {
  await requireDbos()
  const cwd = resolve(io.cwd, workspace ?? '.')
  const logger = createLogger({
    clock: io.clock,
    out: (line) => io.err(line),
    format: flags.logFormat,
    level: verbose === true ? 'debug' : 'info',
  })
  const { EDGEWISE_SERVE_TOKEN: token = '', EDGEWISE_WEBHOOK_SECRET: webhookSecret = '' } = io.env
  const own = flags.data === undefined ? mkdtempSync(join(tmpdir(), 'edgewise-serve-')) : null
  const { branch = null, folder = null, host, port } = flags
  try {
    const end = await serve(
      {
        repository: typeof repository === 'string' ? repository : null,
        cwd,
        branch,
        folder,
        dataFolder: own ?? resolve(io.cwd, flags.data ?? ''),
        host,
        port,
        pollMs: flags.poll * 1000,
        token,
        webhookSecret,
      },
      {
        // The log has what a command shows while it runs.
        outside: {
          ...io,
          note: (text) => logger.info(text),
          onPhase: undefined,
          createPool: shareConnections(io.createPool ?? createPool),
        },
        logger,
        launch: (loaded, workflows) => launchDbos(loaded, workflows, { logger, clock: io.clock }),
        onListening: (url) => io.out(`listening on ${url}\n`),
      },
    )
    return end === 'stopped' ? exitCodes.done : exitCodes.failed
  } finally {
    if (own !== null) rmSync(own, { recursive: true, force: true })
  }
}

/** Connections to a database that all work of this process shares. */
const maxConnections = 8

/** Creates the connections to each database once: every step of the controller opens the state. */
function shareConnections(
  create: (config: DatabaseConfig, max: number) => ConnectionPool,
): (config: DatabaseConfig) => ConnectionPool {
  const pools = new Map<string, ConnectionPool>()
  return (config) => {
    const pool = pools.get(config.url) ?? create(config, maxConnections)
    pools.set(config.url, pool)
    return pool
  }
}
