import { inTrace } from '../core/model/telemetry.ts'
import { refuseBadToken } from '../operations/runtime/connect.ts'
import { findAuthor } from '../operations/submission/find-author.ts'
import type { Outside } from '../operations/runtime/parts.ts'
import { buildGitEnvironment } from '../state/git/git-environment.ts'
import type { Term } from '../state/postgres/leadership.ts'
import { assembleReplica, type Replica } from './assemble-replica.ts'
import { fetchTraced, type BranchOptions, type Branch } from './branch/branch.ts'
import { describeThrown, logFailure, type Logger } from './logger.ts'
import { noteTick } from './leader/position.ts'
import type { Interface, ServePorts } from './serve-ports.ts'
import { keepTerm, removeLocksOf, waitForTerm } from './leader/term.ts'
import { isAboutCommit } from './branch/commit-checks.ts'
import type { Committed } from './branch/workspaces.ts'

/** Options of the controller. */
export interface ServeOptions extends Pick<
  BranchOptions,
  'repository' | 'cwd' | 'branch' | 'folder' | 'dataFolder'
> {
  /** Wait between two looks at the branch, ms. */
  pollMs: number
}

/** Time to end beside the longest call of the service, and for what is closed at last, ms. */
const [endMarginMs, closeMs] = [10_000, 3000]

/**
 * Follows a branch until an interrupt: waits to become the leader, applies each new commit,
 * resumes rollouts and looks for drift.
 *
 * @returns `lost` if another replica has become the leader: this one has to begin anew
 * @throws EdgewiseError if it can't begin
 */
export async function serve(options: ServeOptions, ports: ServePorts): Promise<'stopped' | 'lost'> {
  const { logger } = ports
  const lost = new AbortController()
  const signal = AbortSignal.any([ports.outside.signal, lost.signal])
  const actor = { name: findAuthor(ports.outside), knownBy: 'serve' } as const
  const outside = { ...ports.outside, signal, actor }
  const { branch, workspace } = await begin(options, ports, outside)
  let http: Interface | null = null
  try {
    const { pollMs } = options
    const replica = await assembleReplica({
      branch,
      workspace,
      pollMs,
      ports: { ...ports, outside },
      end: () => lost.abort(),
    })
    http = await ports.listen(replica.controller)
    logger.info('branch followed', { branch: branch.name, of: branch.location })
    void keepPages(replica)
    await run(replica, http, () => lost.abort())
    const end = lost.signal.aborted ? 'lost' : 'stopped'
    if (end === 'stopped') logger.info('replica stopped')
    else logger.error('replica ended', { reason: 'another one leads: start this one again' })
    return end
  } finally {
    // A replica that could not begin its term gives no signs of life: another one takes over.
    lost.abort()
    const closed = Promise.all([http?.close(), branch.close()])
    await Promise.race([closed, ports.outside.clock.sleep(closeMs)])
  }
}

/** Longest wait for the first apply before pages are made, and between two looks, ms. */
const [firstPagesMs, lookMs] = [60_000, 2000]
/** Wait after a failure, ms. */
const againMs = 5 * 60_000

/**
 * Makes the pages of all domains after each apply and drift check, until an interrupt:
 * those of a large fleet take seconds.
 */
async function keepPages(replica: Replica): Promise<void> {
  const { controller, outside, position, findings, logger } = replica
  const { clock, signal } = outside
  let made: string | null = null
  for (let waitedMs = 0; !signal.aborted; waitedMs += lookMs) {
    await clock.sleep(lookMs, signal)
    const { applied, drift } = await findings.load()
    const shown = `${applied?.commit} ${applied?.at} ${drift?.at}`
    const waits = position.term !== null && applied === null && waitedMs < firstPagesMs
    if (signal.aborted || waits || shown === made) continue
    made = shown
    const since = clock.monotonic()
    try {
      await controller.pages.refresh()
      const seconds = (clock.monotonic() - since) / 1000
      logger.info('pages of domains made', { seconds })
    } catch (error) {
      // Whatever fails here, the branch is followed.
      logger.warn('pages of domains not made', {
        error: describeThrown(error, logger),
      })
      await clock.sleep(againMs, signal)
      made = null
    }
  }
}

/** Opens the branch, and loads the workspace that the controller begins with. */
async function begin(
  options: ServeOptions,
  ports: ServePorts,
  outside: Outside,
): Promise<{ branch: Branch; workspace: Committed }> {
  const { logger } = ports
  const { clock, machine, signal } = outside
  // The token is in none of the variables that git gets.
  const env = buildGitEnvironment(outside.env, '')
  const world = { clock, machine, newId: () => outside.newId() }
  const git = { env, scrub: logger.scrub, signal }
  const branch = await ports.openBranch({ ...options, ...world, ...git })
  try {
    const start = async () => {
      const tip = await fetchTraced(branch)
      logger.setFields({ replica: machine.processName, commit: tip })
      logger.info('replica started')
      const load = (each: string) => ports.loadCommit(branch, each, outside)
      const workspace = await loadFirst(branch, tip, load, logger)
      logger.setSecrets(workspace)
      logger.setFields({ workspace: workspace.config.id })
      return { branch, workspace }
    }
    return await inTrace('serve start', start)
  } catch (error) {
    await branch.close()
    throw error
  }
}

/** Longest wait of a new leader for the branch, ms. */
const fetchMs = 5000

/** Waits for a term, and leads until its end or an interrupt. */
async function run(replica: Replica, http: Interface, onLost: () => void): Promise<void> {
  const { leadership, outside, logger, position, metrics, reconciler, follower } = replica
  const { clock, signal } = outside
  const setTerm = (number: number | null) => {
    position.term = number
    metrics.setLeader(number)
    const { database } = replica.workspace.config.state
    const { workspace: path } = leadership
    http.lead(number === null || database === undefined ? null : { database, path, number })
  }
  metrics.setLeader(null)
  const onTick = createTick(replica)
  const canWrite = hasToken(replica)
  const following = follower.follow()
  const term = await waitForTerm(leadership, outside, {
    logger,
    onTick,
    mayLead: () => canWrite && !position.isCutOff,
  })
  if (term === null) return
  setTerm(term.number)
  metrics.setUnattended(0)
  logger.info('term begun', { term: term.number })
  void replica.note(
    term.previous === null ? 'leads' : 'leads, since the one before gave no sign of life',
  )
  const onWake = () => replica.controller.poke()
  const kept = keepTerm(leadership, term, outside, { logger, onTick, onWake }).then((isLost) => {
    if (!isLost) return
    position.isOvertaken = true
    setTerm(null)
    logger.warn('term lost to another replica')
    onLost()
  })
  // It may have applied a later commit than this replica has fetched.
  await Promise.race([follower.refresh(), clock.sleep(fetchMs, signal)])
  await removeLocks(term, replica)
  const { timeoutSeconds } = replica.workspace.config.service
  // What runs finishes its calls in flight, and records their outcomes.
  const working = Promise.all([reconciler.lead(), following, kept])
  const isDone = await waitUntilEnd(working, outside, timeoutSeconds * 1000 + endMarginMs)
  if (!isDone)
    logger.error('work left unfinished', {
      working: reconciler.found.working?.what ?? null,
    })
  setTerm(null)
  // Without a resignation, as with the database away, another replica leads after a lease: what was
  // left has ended then.
  if (!position.isOvertaken && signal.aborted && isDone)
    await leadership.resign(term.number).catch(logFailure(logger.warn, 'term not resigned'))
}

/** Creates what follows an attempt of a replica to reach the database. */
function createTick({
  outside,
  position,
  metrics,
  reconciler,
  findings,
  note,
  logger,
}: Replica): (isReached: boolean) => void {
  return (isReached) => {
    const awayMs = noteTick(position, isReached, outside.clock.monotonic(), metrics)
    if (position.term === null) return
    if (awayMs !== null) {
      reconciler.hurry()
      void note(`leads on: the database was away for ${Math.round(awayMs / 1000)} s`)
    }
    reconciler.findUnattended()
    findings.share().catch(logFailure(logger.debug, 'findings not stored'))
  }
}

/** Returns whether a replica has a token of the service; logs why not. */
function hasToken({ workspace, logger }: Replica): boolean {
  try {
    refuseBadToken(workspace)
    return true
  } catch (error) {
    logFailure(logger.error, 'replica unable to lead')(error)
    return false
  }
}

/** Removes the locks that the leader before this one had. */
async function removeLocks({ previous }: Term, replica: Replica): Promise<void> {
  if (previous === null) return
  const { locks, workspace, outside, logger } = replica
  const removed = await removeLocksOf(previous, locks, workspace.config.id, outside)
  logger.info('locks taken over', { locks: removed })
}

/** Waits for work, after an interrupt for some time only; returns whether it has ended. */
async function waitUntilEnd(
  work: Promise<unknown>,
  { clock, signal }: Outside,
  endMs: number,
): Promise<boolean> {
  const interrupted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const late = interrupted.then(() => clock.sleep(endMs)).then(() => false)
  return Promise.race([work.then(() => true), late])
}

/** Commits of the branch that are tried before the start fails. */
const maxCommits = 10

/**
 * Loads the workspace that a controller begins with: that of the tip, or of the last commit before
 * it that can be loaded. So a restart ends no rollout while the tip is invalid.
 *
 * @throws EdgewiseError that of the tip, if none of the last commits can be loaded
 */
export async function loadFirst(
  branch: Pick<Branch, 'listHistory'>,
  tip: string,
  load: (commit: string) => Promise<Committed>,
  logger: Logger,
): Promise<Committed> {
  try {
    return await load(tip)
  } catch (error) {
    if (!isAboutCommit(error)) throw error
    logger.error('commit not loaded', { commit: tip, code: error.code, error: error.message })
    for (const commit of (await branch.listHistory(tip, maxCommits)).slice(1))
      try {
        return await load(commit)
      } catch (older) {
        if (!isAboutCommit(older)) throw older
      }
    throw error
  }
}
