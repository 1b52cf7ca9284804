import { createServerMetrics, type ServerMetrics } from '../outlets/metrics/server-metrics.ts'
import { throwDefect } from '../core/model/edgewise-error.ts'
import { inTrace, type SpanName } from '../core/model/telemetry.ts'
import { openState } from '../operations/runtime/open-state.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import { listBases } from '../operations/people/list-bases.ts'
import { listRollouts } from '../operations/rollouts.ts'
import { findStop } from '../operations/stop.ts'
import type { Locks } from '../state/locks/locks.ts'
import { buildStatePaths } from '../state/format/state-paths.ts'
import type { Leadership } from '../state/postgres/leadership.ts'
import type { TaskKind } from './leader/agenda.ts'
import { type Controller, createController } from './controller.ts'
import { createFollower, type Follower } from './branch/follow-branch.ts'
import { createLogDialogue } from './log-dialogue.ts'
import type { Logger } from './logger.ts'
import { createNotifications } from './notifications.ts'
import { createDriftMemory, createEventMemory } from './pages/memory.ts'
import { createRights } from './people/rights.ts'
import { createPageSource } from './pages/create-page-source.ts'
import type { Branch } from './branch/branch.ts'
import type { Position } from './leader/position.ts'
import { createSharedFindings, type SharedFindings } from './leader/shared-findings.ts'
import { createHandOver } from './leader/hand-over.ts'
import { Reconciler } from './leader/reconciler.ts'
import { createRuns } from './leader/runs.ts'
import type { ServePorts } from './serve-ports.ts'
import { createWatchdog } from './leader/watchdog.ts'
import { identify, type Committed } from './branch/workspaces.ts'

/** Longest wait for the database before a replica counts as not ready, ms. */
const pingMs = 3000
/** Longest wait between two looks at the recorded rollouts, ms. */
const maxLookMs = 30_000
/** How long a lost database is tried again, ms: for signs of life and pages, and for the work. */
const [quickMs, workMs] = [2000, 15 * 60_000]

/** What a replica begins with. */
export interface Beginning {
  branch: Branch
  workspace: Committed
  /** Wait between two fetches, ms. */
  pollMs: number
  ports: ServePorts
  /** Ends the work of this replica. */
  end(): void
}

/** The parts of a replica. */
export interface Replica {
  workspace: Committed
  outside: Outside
  logger: Logger
  metrics: ServerMetrics
  locks: Locks
  leadership: Leadership
  position: Position
  reconciler: Reconciler
  findings: SharedFindings
  follower: Follower
  controller: Controller
  /** Notes what happens to it for those who read the overview. */
  note(text: string): Promise<void>
}

type Base = Pick<Replica, 'metrics' | 'leadership' | 'position'>

/**
 * Assembles a replica.
 *
 * @throws EdgewiseError `usage` if the state is not in PostgreSQL, `access` without its address
 */
export async function assembleReplica(beginning: Beginning): Promise<Replica> {
  const { workspace, ports } = beginning
  const { outside, logger, createLifePool } = ports
  identify(workspace)
  const quick = { ...outside, databasePatienceMs: quickMs }
  const life = createLifePool === undefined ? quick : { ...quick, createPool: createLifePool }
  const { locks, files } = await openState(workspace, outside)
  const { leadership, files: quickFiles } = await openState(workspace, life)
  if (leadership === undefined) throw new TypeError('expected PostgreSQL to elect leaders')
  const { id, service } = workspace.config
  const folder = buildStatePaths({ id, address: service.url }).controller
  const base: Base = {
    metrics: createServerMetrics({ workspace: id, account: service.account }),
    leadership,
    position: {
      term: null,
      isOvertaken: false,
      isCutOff: false,
      tickMs: outside.clock.monotonic(),
      awayMs: null,
    },
  }
  const watchdog = createWatchdog(outside.clock)
  const memory = {
    events: createEventMemory(),
    drifts: createDriftMemory(outside, files, folder),
  }
  const reconciler = createWork(beginning, base, watchdog, memory)
  const findings = createSharedFindings(quickFiles, folder, base.position, reconciler)
  const note = async (text: string): Promise<void> => {
    const at = new Date(outside.clock.now()).toISOString()
    findings.note({ at, text: `replica ${outside.machine.processName} ${text}`, note: '' })
    await findings.share().catch(throwDefect)
  }
  const follower = follow(beginning, { ...base, note }, watchdog, reconciler)
  const { branch } = beginning
  const shared = { ...base, workspace, branch, reconciler, findings, outside: quick }
  const controller = createController({
    ...shared,
    logger,
    notifications: createNotifications(quick, base.metrics, logger),
    rights: createReplicaRights(beginning, base, reconciler, quick),
    pages: createPageSource({
      ...shared,
      scrub: logger.scrub,
      ownPage: ports.ownPage,
      drifts: memory.drifts,
      listEvents: memory.events.list,
    }),
    isHung: watchdog.isHung,
    pingMs,
    hurry: () => {
      follower.hurry()
      reconciler.hurry()
    },
  })
  const parts = { reconciler, follower, controller, findings, note }
  return { ...base, workspace, outside, logger, locks, ...parts }
}

/** Creates what knows who may decide. */
function createReplicaRights(
  beginning: Beginning,
  { position }: Base,
  reconciler: Reconciler,
  outside: Outside,
) {
  const { branch, workspace, ports } = beginning
  const getTip = () => (position.term === null ? null : reconciler.found.commit)
  return createRights({
    branch,
    clock: outside.clock,
    logger: ports.logger,
    getTip,
    listBases: async (rollout) => listBases((await openState(workspace, outside)).store, rollout),
    loadRules: (commit) => ports.loadRules(branch, commit, outside),
  })
}

type Watchdog = ReturnType<typeof createWatchdog>

/** What the pages show of earlier work. */
interface Memory {
  events: ReturnType<typeof createEventMemory>
  drifts: ReturnType<typeof createDriftMemory>
}

/** Creates the reconciler and the runs of a leader. */
function createWork(
  { workspace, branch, pollMs, ports }: Beginning,
  { metrics, leadership, position }: Base,
  watchdog: Watchdog,
  { events, drifts }: Memory,
): Reconciler {
  const { outside, logger } = ports
  const watched = watchdog.observe({
    outside: { ...outside, databasePatienceMs: workMs },
    dialogue: createLogDialogue(logger),
    listeners: [events.listen],
  })
  const runs = createRuns({
    ports: { ...ports, ...watched },
    branch,
    identity: identify(workspace),
    metrics,
    logger,
    notifications: createNotifications(outside, metrics, logger),
    onDrift: drifts.keep,
  })
  const trace = (kind: TaskKind, work: () => Promise<void>) => {
    const name = spanNames[kind]
    return name === undefined ? work() : inTrace(name, work)
  }
  return new Reconciler({
    outside,
    runs,
    first: workspace,
    lookMs: Math.min(pollMs, maxLookMs),
    listRollouts: () => listRollouts(workspace, { ...outside, databasePatienceMs: quickMs }),
    findStop: () => findStop(workspace, { ...outside, databasePatienceMs: quickMs }),
    metrics,
    logger,
    watch: (kind, work) => watchdog.watch(() => trace(kind, work), true),
    isLeading: () => isLeading(leadership, position, outside),
  })
}

const spanNames: Partial<Record<TaskKind, SpanName>> = {
  apply: 'serve apply',
  step: 'serve rollout step',
  drift: 'serve drift check',
}

/** Creates the follower, which fetches the branch. */
function follow(
  { branch, pollMs, ports, end }: Beginning,
  { metrics, position, leadership, note }: Base & Pick<Replica, 'note'>,
  watchdog: Watchdog,
  reconciler: Reconciler,
): Follower {
  const { outside, logger } = ports
  const handOver = createHandOver({ leadership, pollMs, position, outside, logger, note, end })
  return createFollower({
    outside,
    branch,
    pollMs,
    logger,
    metrics,
    watch: (work) => watchdog.watch(() => inTrace('serve fetch', work), false),
    onTip: (commit) => {
      reconciler.setTip(commit)
      void handOver.noteFetched()
    },
    onFailure: (error) => {
      reconciler.reportFetch(error)
      void handOver.noteFailed()
    },
    listUsed: () => (position.term === null ? [] : reconciler.listUsed()),
  })
}

/** Returns whether this process leads, as the database has it; false after an interrupt. */
async function isLeading(
  leadership: Leadership,
  { term }: Position,
  { clock, signal }: Outside,
): Promise<boolean> {
  while (!signal.aborted && term !== null) {
    try {
      return await leadership.isCurrent(term)
    } catch (error) {
      throwDefect(error)
      await clock.sleep(1000, signal)
    }
  }
  return false
}
