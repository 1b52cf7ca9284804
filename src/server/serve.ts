import { createServerMetrics } from '../metrics/server-metrics.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import { openState } from '../operations/open-state.ts'
import type { Outside } from '../operations/outside.ts'
import { listRollouts } from '../operations/rollouts.ts'
import type { Leadership } from '../state/postgres/leadership.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import type { Branch, BranchOptions } from './branch.ts'
import type { Controller } from './controller.ts'
import { createController, type Position } from './create-controller.ts'
import type { Engine, Workflows } from './engine.ts'
import { createLogDialogue } from './log-dialogue.ts'
import type { Logger } from './logger.ts'
import { createNotifications } from './notifications.ts'
import { createDriftMemory } from './pages/drift-memory.ts'
import { createEventMemory } from './pages/event-memory.ts'
import { createPageSource, type SourceContext } from './pages/create-page-source.ts'
import { holdCommits } from './pages/hold-commits.ts'
import type { PulseTerm } from './pulse-messages.ts'
import { createReconciler } from './reconciler.ts'
import { createRolloutWorkflow } from './rollout-workflow.ts'
import { createRuns, type RunPorts } from './runs.ts'
import { keepTerm, removeLocksOf, waitForTerm } from './term.ts'
import { traceBranch, traceRuns, traceWork } from './trace-work.ts'
import { createWatchdog } from './watchdog.ts'
import { loadFirst } from './load-first.ts'
import { identify } from './workspaces.ts'

/** Options of the controller. */
export interface ServeOptions extends Pick<
  BranchOptions,
  'repository' | 'cwd' | 'branch' | 'folder' | 'dataFolder'
> {
  /** Wait between two looks at the branch, ms. */
  pollMs: number
}

/** Ports of the controller. */
export interface ServePorts extends Pick<RunPorts, 'loadCommit' | 'buildDriftRequest'> {
  outside: Outside
  logger: Logger
  openBranch(options: BranchOptions): Promise<Branch>
  /** Launches the engine of durable workflows, whose waits for the database the signal ends. */
  launch(workspace: LoadedWorkspace, workflows: Workflows, signal: AbortSignal): Promise<Engine>
  /** Makes the page of the plan of a folder, without blocking this process. */
  ownPage: SourceContext['ownPage']
  /** Serves the HTTP interface until its end. */
  listen(controller: Controller): Promise<Interface>
}

/** The HTTP interface of a replica. */
export interface Interface {
  /** Also gives signs of life of a term while this process is busy; null: of none. */
  lead(term: PulseTerm | null): void
  close(): Promise<void>
}

/** Longest wait for the database before a replica counts as not ready, ms. */
const pingMs = 3000

/**
 * Follows a branch until an interrupt: waits to become the leader, applies each new commit,
 * resumes rollouts and looks for drift.
 *
 * @returns `lost` if another replica has become the leader: this one has to begin anew
 * @throws EdgewiseError if it can't begin
 */
export async function serve(options: ServeOptions, ports: ServePorts): Promise<'stopped' | 'lost'> {
  const { logger, launch } = ports
  const { clock, signal } = ports.outside
  const lost = new AbortController()
  const outside = { ...ports.outside, signal: AbortSignal.any([signal, lost.signal]) }
  // The token is in none of the variables that git gets.
  const env = buildGitEnvironment(outside.env, '')
  const world = { clock, machine: outside.machine, newId: () => outside.newId() }
  const scrub = (text: string) => text
  const git = { env, scrub, signal: outside.signal }
  const { tracer } = outside
  const opened = await ports.openBranch({ ...options, ...world, ...git })
  const branch = holdCommits(traceBranch(opened, tracer))
  const { tip, workspace } = await traceWork(tracer, 'serve start', async () => {
    const commit = await branch.fetch()
    const load = (each: string) => ports.loadCommit(branch, each, outside)
    return { tip: commit, workspace: await loadFirst(branch, commit, load, logger) }
  })
  logger.setScrub((text) => workspace.scrub(text))
  const identity = identify(workspace)
  const { locks, leadership } = await openState(workspace, outside)
  if (leadership === undefined) throw new TypeError('expected PostgreSQL to elect leaders')
  const { id, service } = workspace.config
  const metrics = createServerMetrics({ workspace: id, account: service.account })
  const position: Position = { term: null, tickMs: clock.monotonic() }
  const watchdog = createWatchdog(clock)
  const events = createEventMemory()
  const drifts = createDriftMemory(outside)
  const runs = traceRuns(
    createRuns({
      ports: {
        ...ports,
        ...watchdog.observe({ outside, dialogue: events.observe(createLogDialogue(logger)) }),
      },
      branch,
      identity,
      metrics,
      logger,
      notifications: drifts.observe(createNotifications(outside, metrics, logger)),
    }),
    outside,
  )
  const reconciler = createReconciler({
    outside,
    branch,
    runs,
    head: workspace.commit,
    listRollouts: (current) => listRollouts(current, outside),
    metrics,
    logger,
    watch: watchdog.watch,
    isLeading: () => isLeading(leadership, position, outside),
  })
  const controller = createController({
    workspace,
    branch,
    reconciler,
    leadership,
    metrics,
    position,
    logger,
    outside,
    pages: createPageSource({
      workspace,
      branch,
      reconciler,
      position,
      outside,
      scrub: (text) => logger.scrub(text),
      ownPage: ports.ownPage,
      getDrift: drifts.getLast,
      listEvents: events.list,
    }),
    isHung: watchdog.isHung,
    pingMs,
  })
  let http: Interface | null = null
  try {
    http = await ports.listen(controller)
    const { lead } = http
    const setTerm = (number: number | null) => {
      position.term = number
      metrics.setLeader(number)
      const { database } = workspace.config.state
      const { workspace: path } = leadership
      lead(number === null || database === undefined ? null : { database, path, number })
    }
    metrics.setLeader(null)
    logger.info(`follows ${branch.name} of ${branch.location}`, { commit: tip })
    const tick = () => {
      position.tickMs = clock.monotonic()
    }
    const term = await waitForTerm(leadership, outside, logger, tick)
    if (term === null) return 'stopped'
    setTerm(term.number)
    logger.info('leads', { term: term.number })
    const kept = keepTerm(leadership, term, outside, logger, tick, controller.poke).then(
      (isLost) => {
        if (!isLost) return
        setTerm(null)
        lost.abort()
      },
    )
    if (term.previous !== null) {
      const removed = await removeLocksOf(term.previous, locks, id, outside)
      logger.info('took over from a leader that gave no sign of life', { locks: removed })
    }
    const rollout = createRolloutWorkflow((each) =>
      traceWork(tracer, 'serve rollout step', () => reconciler.advance(each)),
    )
    const drift = () => traceWork(tracer, 'serve drift check', () => reconciler.detectDrift())
    const engine = await launch(workspace, { rollout, drift }, outside.signal)
    while (!outside.signal.aborted) {
      await traceWork(tracer, 'serve round', () => reconciler.round(engine))
      await controller.sleep(options.pollMs)
    }
    // What runs finishes its calls in flight, and records their outcomes.
    await reconciler.drain()
    await kept
    setTerm(null)
    await engine.close()
    if (lost.signal.aborted) {
      logger.error('another replica leads now: this one ends, and has to be started again')
      return 'lost'
    }
    await resign(leadership, term.number, logger)
    logger.info('stopped')
    return 'stopped'
  } finally {
    // A replica that could not begin its term gives no signs of life: another one takes over.
    lost.abort()
    await http?.close()
    await branch.close()
  }
}

/** Ends a term. Another replica takes over after a while if the database is away. */
async function resign(leadership: Leadership, term: number, logger: Logger): Promise<void> {
  try {
    await leadership.resign(term)
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    logger.warn(`the leader could not resign: ${error.message}`)
  }
}

/** Returns whether this process leads, as the database has it; false after an interrupt. */
async function isLeading(
  leadership: Leadership,
  { term }: Position,
  { clock, signal }: Pick<Outside, 'clock' | 'signal'>,
): Promise<boolean> {
  while (!signal.aborted && term !== null) {
    try {
      return await leadership.isCurrent(term)
    } catch (error) {
      if (!(error instanceof EdgewiseError)) throw error
      await clock.sleep(1000, signal)
    }
  }
  return false
}
