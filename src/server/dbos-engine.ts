import { createHash } from 'node:crypto'
import type { Clock } from '../model/clock.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { JsonObject } from '../model/json.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { explainFailure, isConnectionLost } from '../state/postgres/database-failures.ts'
import { sweepEnded } from './dbos-sweep.ts'
import type { Engine, Workflow, Workflows } from './engine.ts'
import { createEngineLog } from './engine-log.ts'
import { explainLaunch } from './explain-launch.ts'
import type { Logger } from './logger.ts'

/**
 * Version of the shape of the workflows: of their steps and inputs. A change of it needs a new
 * number: open workflows of another one are cancelled, and begun anew from the recorded rollout.
 */
const workflowVersion = '2'
/** Longest timer, ms. */
const maxTimerMs = 86_400_000
/** Connections of the engine, beside those of the state. */
const poolSize = 6
/** Longest wait for the end of the engine, which may wait for the database, ms. */
const closeMs = 5000

/** Name of the package of the engine, and the command that installs it. */
const installHint = 'Install it beside edgewise: npm install @dbos-inc/dbos-sdk@5'

/**
 * Loads the engine.
 *
 * @throws EdgewiseError `unavailable` if its package is not installed
 */
async function loadDbos(): Promise<typeof import('./dbos.ts')> {
  try {
    return await import('./dbos.ts')
  } catch (error) {
    const isMissing =
      error instanceof Error &&
      'code' in error &&
      ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String(error.code))
    if (!isMissing) throw error
    throw new EdgewiseError(
      'unavailable',
      'serve needs the package @dbos-inc/dbos-sdk for durable rollouts, and it is not installed',
      installHint,
    )
  }
}

/** Refuses to begin without the package of the engine. */
export async function requireDbos(): Promise<void> {
  await loadDbos()
}

/** Ports of the engine. */
export interface EnginePorts {
  logger: Logger
  clock: Pick<Clock, 'now' | 'sleep'>
  /** Ends the calls of the engine that wait for the database. */
  signal: AbortSignal
}

/**
 * Launches DBOS with its tables in the database of the state. It resumes the open workflows of
 * the workspace: all replicas have the same executor id, and only the leader launches it.
 */
export async function launchDbos(
  { config }: Pick<LoadedWorkspace, 'config'>,
  workflows: Workflows,
  { logger, clock, signal }: EnginePorts,
  version = workflowVersion,
): Promise<Engine> {
  const { database } = config.state
  if (database === undefined) throw new TypeError('expected the address of the database')
  const workspace = `${config.id} ${config.service.url}`
  const hash = createHash('sha256').update(workspace).digest('hex')
  const application = `edgewise-${hash.slice(0, 16)}`
  const applicationVersion = `${application}-${version}`
  const { DBOS } = await loadDbos()
  const { createPool } = await import('../state/postgres/create-pool.ts')
  const pool = createPool(database, poolSize)
  const closed = new AbortController()
  const location = `schema ${database.schema}_dbos`
  const interrupted = explainFailure(new Error('interrupted before it answered'), location)
  /** Waits for a call of the engine, which repeats it for as long as the database is away. */
  const wait = <T>(call: Promise<T>) => waitUntil(call, signal, interrupted)
  /** Sleeps without a timer of the engine, which would keep the process alive after its close. */
  const sleepUntil = async (dueMs: number): Promise<void> => {
    for (let left = 1; left > 0 && !closed.signal.aborted; left = dueMs - clock.now())
      await clock.sleep(Math.max(0, Math.min(dueMs - clock.now(), maxTimerMs)), closed.signal)
    // A successor resumes it.
    if (closed.signal.aborted) await new Promise(() => undefined)
  }
  const adapt = (workflow: Workflow) => async (input: JsonObject) =>
    workflow(input, {
      step: (name, work) => DBOS.runStep(work, { name, retriesAllowed: false }),
      sleep: async (ms) =>
        sleepUntil(await DBOS.runStep(async () => clock.now() + ms, { name: 'sleep' })),
    })
  const rollout = DBOS.registerWorkflow(adapt(workflows.rollout), { name: 'rollout' })
  const runDrift = adapt(workflows.drift)
  const drift = DBOS.registerWorkflow(async (_at: Date, _context: unknown) => runDrift({}), {
    name: 'drift',
  })
  DBOS.setConfig({
    // Leaders of other workspaces in the same database see nothing of this one's.
    name: application,
    systemDatabaseUrl: 'postgres://state@state/state',
    systemDatabasePool: pool,
    systemDatabaseSchemaName: `${database.schema}_dbos`,
    executorID: workspace,
    applicationVersion,
    // A session of its own would not survive a pooler, and polling is enough.
    useListenNotify: false,
    logger: createEngineLog({ logger, clock, signal: closed.signal }),
  })
  const close = async (): Promise<void> => {
    closed.abort()
    const isClosed = new AbortController()
    const end = async () => {
      // A timer of a half-launched engine would keep the process alive.
      await DBOS.shutdown({ deregister: true })
      await pool.end()
      isClosed.abort()
    }
    await Promise.race([end(), clock.sleep(closeMs, isClosed.signal)])
  }
  const list = async (filter: Parameters<typeof DBOS.listWorkflows>[0]) => {
    const found = await wait(DBOS.listWorkflows({ ...filter, loadInput: false, loadOutput: false }))
    return found.filter(({ applicationName }) => applicationName === application)
  }
  const listOpen = () => list({ status: ['PENDING', 'ENQUEUED'] })
  try {
    await wait(DBOS.launch())
    // The schedule starts workflows of the latest version: after a downgrade, too.
    await wait(DBOS.setLatestApplicationVersion(applicationVersion))
    const strange = (await listOpen()).filter(
      (each) => each.applicationVersion !== applicationVersion,
    )
    if (strange.length > 0) {
      logger.info('replaces workflows of another version', { workflows: strange.length })
      await wait(DBOS.cancelWorkflows(strange.map(({ workflowID }) => workflowID)))
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    await close()
    throw error instanceof EdgewiseError
      ? error
      : explainLaunch(error, database, `${database.schema}_dbos`)
  }
  void sweepEnded({ dbos: DBOS, application, clock, logger, signal: closed.signal, wait })
  const scheduleName = `drift ${workspace}`
  return {
    start: async (name, id, input) => {
      if (name !== 'rollout') throw new TypeError('expected a rollout: drift has a schedule')
      await wait(DBOS.startWorkflow(rollout, { workflowID: id })(input))
    },
    listOpen: async () => (await listOpen()).map(({ workflowID }) => workflowID),
    schedule: async (cron) => {
      if (cron === null) {
        if ((await wait(DBOS.getSchedule(scheduleName))) !== null)
          await wait(DBOS.deleteSchedule(scheduleName))
        return
      }
      try {
        await wait(DBOS.applySchedules([{ scheduleName, workflowFn: drift, schedule: cron }]))
      } catch (error) {
        if (!(error instanceof Error) || error === interrupted) throw error
        if ('code' in error || isConnectionLost(error)) throw explainFailure(error, location)
        throw new EdgewiseError(
          'invalid',
          `"serve.drift.schedule" in edgewise.yaml is not a schedule: ${error.message}`,
          'Write five fields, for example "*/30 * * * *" for each half hour (UTC).',
        )
      }
    },
    close,
  }
}

/** Waits for a call, or throws an error when a signal is aborted first. */
async function waitUntil<T>(call: Promise<T>, signal: AbortSignal, error: Error): Promise<T> {
  let abort = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(error)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  })
  try {
    return await Promise.race([call, aborted])
  } finally {
    // The signal of the process would remember each call.
    signal.removeEventListener('abort', abort)
  }
}
