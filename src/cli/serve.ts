import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DatabaseConfig } from '../core/model/config.ts'
import { createPool } from '../state/postgres/create-pool.ts'
import type { ConnectionPool } from '../state/postgres/database.ts'
import { openBranch } from '../server/branch/branch.ts'
import { createCommitChecks } from '../server/branch/commit-checks.ts'
import { createHttpServer, type HttpServerOptions } from '../server/http/http-server.ts'
import { describeFault, openPeople } from '../server/people/people.ts'
import { createLogger, type Logger } from '../server/logger.ts'
import { startPulse } from '../server/leader/pulse.ts'
import { readSecret } from '../server/http/read-secret.ts'
import { notFound, routeProbe } from '../server/http/routes.ts'
import type { Interface, ServePorts } from '../server/serve-ports.ts'
import { serve } from '../server/serve.ts'
import { buildDriftRequest, loadCommit } from '../server/branch/workspaces.ts'
import type { OpenTracer } from '../outlets/telemetry/open-tracer.ts'
import { asksForTelemetry } from '../outlets/telemetry/settings.ts'
import { exitCodes } from './exit-codes.ts'
import type { CommandContext } from './io.ts'
import { checkCommit } from './own/own-check.ts'
import { createOwnPages, measureUse } from './own/own-page.ts'
import { createOwnProcesses } from './own/own-process.ts'
import { version } from './package-files.ts'

/** Options of `edgewise serve`. */
export interface ServeFlags {
  branch?: string
  folder?: string
  data?: string
  poll: number
  host: string
  port: number
  /** Absent: the one after `port`, or a free one. */
  healthPort?: number
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
  const cwd = resolve(io.cwd, workspace ?? '.')
  const logger = createLogger({
    clock: io.clock,
    out: (line) => io.err(line),
    format: flags.logFormat,
    level: verbose === true ? 'debug' : 'info',
  })
  const secrets = {
    token: readSecret('EDGEWISE_SERVE_TOKEN', io.env),
    webhookSecret: readSecret('EDGEWISE_WEBHOOK_SECRET', io.env),
  }
  const { branch = null, folder = null } = flags
  const traces = asksForTelemetry(io.env) ? await openServerTracer(io, logger) : null
  const own = flags.data === undefined ? mkdtempSync(join(tmpdir(), 'edgewise-serve-')) : null
  try {
    const end = await serve(
      {
        repository: typeof repository === 'string' ? repository : null,
        cwd,
        branch,
        folder,
        dataFolder: own ?? resolve(io.cwd, flags.data ?? ''),
        pollMs: flags.poll * 1000,
      },
      createPorts({ io, flags, logger, secrets }),
    )
    return end === 'stopped' ? exitCodes.done : exitCodes.failed
  } finally {
    await traces?.close()
    // Whatever still waits for a database, a remote or a reader must not keep the process alive.
    io.endSoon?.()
    if (own !== null) rmSync(own, { recursive: true, force: true })
  }
}

/** What the ports of a controller are made of. */
interface PortParts {
  io: CommandContext['io']
  flags: ServeFlags
  logger: Logger
  secrets: Pick<HttpServerOptions, 'token' | 'webhookSecret'>
}

/** Creates what the controller reaches the outside by. */
function createPorts({ io, flags, logger, secrets }: PortParts): ServePorts {
  const runOwn = createOwnProcesses(measureUse)
  const checks = createCommitChecks((root, outside) => checkCommit(runOwn, root, outside), io.clock)
  return {
    // The log has what a command shows while it runs.
    outside: {
      ...io,
      note: (text) => logger.info('note', { text }),
      onPhase: undefined,
      createPool: shareConnections(
        io.createPool ?? ((config, max) => createPool(config, max, workMs)),
      ),
    },
    logger,
    openBranch,
    loadCommit: (from, commit, outside) => loadCommit(from, commit, outside, checks),
    loadRules: (from, commit, outside) =>
      from.hold(commit, (root) => checks.check(root, commit, outside)),
    buildDriftRequest,
    ownPage: createOwnPages(runOwn, checks),
    createLifePool: shareConnections((config) => createPool(config, 2, lifeMs)),
    listen: async (controller) => {
      controller.metrics.addProcess()
      const { clock, env } = io
      const newId = () => io.newId()
      const people = await openPeople(controller.auth, {
        clock,
        env,
        onFault: (what, issuer, error) =>
          logger.warn(what, { issuer, error: logger.scrub(describeFault(error)) }),
      })
      const context = { controller, clock, ...secrets, logger, newId, people }
      return listen(context, flags, (text) => io.out(text))
    },
  }
}

/** Listens on both ports, and prints their addresses. */
async function listen(
  context: HttpServerOptions,
  { host, port, healthPort = port === 0 ? 0 : Math.min(port + 1, 65_535) }: ServeFlags,
  print: (text: string) => void,
): Promise<Interface> {
  const { controller } = context
  const pulse = await startPulse(
    { host, port: healthPort },
    {
      findUnhealthy: () => controller.isHealthy(),
      answer: async ({ method, url, accept }) =>
        (await routeProbe({ method, url, headers: { accept } }, controller)) ?? notFound(),
    },
  )
  const http = createHttpServer(context)
  try {
    const address = `http://${host.includes(':') ? `[${host}]` : host}`
    print(`listening on ${address}:${await http.listen(port, host)}\n`)
    print(`health and metrics on ${address}:${pulse.port}\n`)
  } catch (error) {
    await pulse.close()
    throw error
  }
  const close = async () => void (await Promise.all([http.close(), pulse.close()]))
  return { lead: pulse.lead, close }
}

/** Opens the tracer, which logs when exports begin to fail, and when they work again. */
async function openServerTracer(
  { env, machine }: CommandContext['io'],
  logger: Logger,
): Promise<OpenTracer | null> {
  const { openTracer } = await import('../outlets/telemetry/open-tracer.ts')
  let last: string | null = null
  return openTracer({
    env,
    version,
    instance: machine.processName,
    ignoreParent: true,
    warn: (text) => logger.warn('warning', { text }),
    onExport: (problem) => {
      if (problem !== null && last === null) logger.warn('traces not exported', { error: problem })
      if (problem === null && last !== null) logger.info('traces exported again')
      last = problem
    },
  })
}

/** Connections to a database that all work of this process shares. */
const maxConnections = 8
/** Maximum time of a statement of the work, and of one that gives a sign of life, ms. */
const [workMs, lifeMs] = [30_000, 4000]

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
