import type { ServerMetrics } from '../metrics/server-metrics.ts'
import type { ListedRollout } from '../model/listed-rollout.ts'
import type { DriftCounts } from '../model/overview.ts'
import { findFailureCode } from '../notify/notification.ts'
import type { LoadedWorkspace } from '../operations/load-workspace.ts'
import type { Outside } from '../operations/outside.ts'
import type { Executed } from '../operations/submit-plan.ts'
import { createSerialQueue } from '../state/serial-queue.ts'
import type { Branch } from './branch.ts'
import type { Engine } from './engine.ts'
import type { Logger } from './logger.ts'
import type { Failure } from './notifications.ts'
import { buildInput, type Advanced } from './rollout-workflow.ts'
import { retryMs, undecided, type Runs } from './runs.ts'
import { isAboutCommit, type Committed } from './workspaces.ts'

/** What a reconciler works with. */
export interface ReconcilerContext {
  outside: Pick<Outside, 'clock' | 'newId'>
  branch: Pick<Branch, 'fetch' | 'isAncestor' | 'keepOnly'>
  runs: Runs
  /** Commit that the controller began with: a head until a round finds another one. */
  head: string | null
  /** Lists the unfinished rollouts of a workspace. */
  listRollouts(workspace: LoadedWorkspace): Promise<ListedRollout[]>
  metrics: ServerMetrics
  logger: Logger
  /** Watches a piece of work until its end; others may wait for an exclusive one. */
  watch<T>(work: () => Promise<T>, isExclusive: boolean): Promise<T>
  /** Returns whether this process leads; false after its term, and after an interrupt. */
  isLeading(): Promise<boolean>
}

/** How the last apply of a commit ended. */
export interface Applied {
  commit: string
  /** ISO 8601. */
  at: string
  status: Executed['status'] | 'failed'
  /** Why not everything is applied; null if it is. */
  message: string | null
}

/** What a reconciler has found so far; times are ISO 8601, null if unknown. */
export interface Findings {
  commit: string | null
  fetchedAt: string | null
  applied: Applied | null
  drift: DriftCounts | null
  /** Why the last round failed; null if it did not. */
  problem: string | null
}

/** Longest wait before a failed apply is repeated, ms; each is twice as long as the one before. */
const maxRetryMs = 30 * 60_000

export type Reconciler = ReturnType<typeof createReconciler>

/** Creates what brings the service to the tip of the branch; one piece of work runs at a time. */
export function createReconciler(context: ReconcilerContext) {
  const { outside, branch, runs, metrics, logger } = context
  const { clock } = outside
  const oneByOne = createSerialQueue()
  const found: Findings = {
    commit: null,
    fetchedAt: null,
    applied: null,
    drift: null,
    problem: null,
  }
  let retry = { atMs: 0, waitMs: retryMs }
  let checking: Promise<void> | null = null
  /** Workflows that this process runs: those of its engine at first, and those that it began. */
  let own: string[] | null = null
  /** The last commit of the branch without errors: what rollouts and drift checks go by. */
  let { head } = context
  /** The last commit that could not be applied, and why. */
  let failure: Failure | null = null
  /** The commit that was reported as such, with the code of the error. */
  let reported: string | null = null
  /** Ids of the unfinished rollouts of the last round. */
  let known: string[] = []
  const now = () => new Date(clock.now()).toISOString()
  /** Removes the secrets from what clients may read. */
  const clean = (text: string | null) => (text === null ? null : logger.scrub(text))
  const hurry = (): void => {
    retry = { atMs: 0, waitMs: retryMs }
  }
  /** Applies the tip again if it was applied; the wait of one that is refused stays. */
  const hurryApplied = (): void => {
    if (retry.atMs === Infinity) hurry()
  }
  const loadHead = async () => runs.load(head ?? (await branch.fetch()))
  /** Loads the tip, or the head before it if the tip is invalid. */
  const moveHead = async (tip: string): Promise<Committed> => {
    try {
      const workspace = await runs.load(tip)
      const isValid = workspace.diagnostics.every(({ severity }) => severity !== 'error')
      if (isValid) head = tip
      if (isValid || head === null || head === tip) return workspace
    } catch (error) {
      if (!isAboutCommit(error) || head === null || head === tip) throw error
    }
    return loadHead()
  }
  /** Runs a piece of work of the leader; null if its term ended before or meanwhile. */
  const lead = <T>(work: () => Promise<T>): Promise<{ result: T } | null> =>
    oneByOne(async () => {
      if (!(await context.isLeading())) return null
      const result = await context.watch(work, true)
      return (await context.isLeading()) ? { result } : null
    })
  /** Runs a step of a workflow. After the term it never ends, so that a successor repeats it. */
  const takeStep = async <T>(work: () => Promise<T>): Promise<T> => {
    const led = await lead(work)
    return led === null ? new Promise(() => undefined) : led.result
  }

  const applyCommit = async (commit: string): Promise<Applied> => {
    try {
      const { status, message } = await runs.apply(await runs.load(commit))
      return { commit, at: now(), status, message: clean(message) }
    } catch (error) {
      const message = clean(runs.report(`commit ${commit.slice(0, 12)} is not applied`, error))
      failure = { kind: 'commit', id: commit, error }
      return { commit, at: now(), status: 'failed', message }
    }
  }

  const reportFailed = async (failed: Failure): Promise<void> => {
    const subject = `${failed.id} ${findFailureCode(failed.error)}`
    if (reported === subject) return
    if (isAboutCommit(failed.error)) metrics.countInvalidCommit()
    await runs.reportFailure(await loadHead(), failed)
    reported = subject
  }

  /** Applies the tip if it is new, or if its last apply left something and is to be repeated. */
  const followTip = async (commit: string): Promise<void> => {
    const isNew = found.applied?.commit !== commit
    if (!isNew && clock.monotonic() < retry.atMs) return
    const led = await lead(() => applyCommit(commit))
    if (led === null) return
    found.applied = led.result
    if (led.result.status === 'failed' && failure !== null) await reportFailed(failure)
    const { status, message } = led.result
    const isOver = status === 'done' || status === 'waiting'
    const waitMs = isNew ? retryMs : Math.min(maxRetryMs, retry.waitMs * 2)
    retry = { atMs: isOver ? Infinity : clock.monotonic() + waitMs, waitMs }
    logger.info(`commit ${commit.slice(0, 12)}: ${status}`, { reason: message })
  }

  /**
   * Starts a workflow for each rollout that can resume and has none.
   *
   * @returns commits of all unfinished rollouts
   */
  const resumeRollouts = async (workspace: LoadedWorkspace, engine: Engine): Promise<string[]> => {
    const rollouts = await context.listRollouts(workspace)
    metrics.setRollouts(rollouts)
    // Somebody may have ended one with a command: the tip has left its domains out.
    const ids = rollouts.map(({ id }) => id)
    if (known.some((id) => !ids.includes(id))) hurryApplied()
    known = ids
    const open = await engine.listOpen()
    // A leader that has lost its term may have begun others, which nothing runs until a restart.
    own = own === null ? open : own.filter((name) => open.includes(name))
    for (const { id, state } of rollouts) {
      const name = `${workspace.config.id} ${id} `
      if (undecided.includes(state) || own.some((each) => each.startsWith(name))) continue
      if (!(await context.isLeading())) break
      const workflow = name + outside.newId()
      own.push(workflow)
      await engine.start('rollout', workflow, buildInput(id))
    }
    return rollouts.flatMap(({ commit }) => commit ?? [])
  }

  const checkDrift = async (): Promise<void> => {
    try {
      const summary = await runs.compare(await loadHead(), loadHead)
      const { pending, live, inDoubt, held, unanswered } = summary
      found.drift = { at: now(), pending, live, inDoubt, unanswered }
      if (pending + inDoubt > held) hurryApplied()
    } catch (error) {
      runs.report('drift could not be looked for', error)
    }
  }

  const reportTip = async (commit: string): Promise<void> => {
    const { commit: before } = found
    if (before === commit) return
    logger.info(`the branch is at ${commit}`)
    if (before !== null && !(await branch.isAncestor(before, commit)))
      logger.warn(`the branch was forced: it was at ${before}, which is not part of it any more`)
  }

  const reportBranch = () => {
    const { commit, fetchedAt, applied } = found
    const isApplied =
      applied?.commit === commit && applied.status === 'done' && applied.message === null
    const toSeconds = (at: string | null) => (at === null ? null : Date.parse(at) / 1000)
    metrics.setBranch({
      commit,
      fetchedAt: toSeconds(fetchedAt),
      appliedAt: isApplied ? toSeconds(applied.at) : null,
      inSync: isApplied,
    })
  }

  return {
    found,
    /** Returns the commit that the controller goes by; null before it knows one. */
    getHead: () => head,
    /** Applies the tip at the next round, whatever became of the last one. */
    hurry,
    /** Fetches the branch, resumes rollouts, and applies what is new. */
    round: (engine: Engine): Promise<void> =>
      context.watch(async () => {
        try {
          const commit = await branch.fetch()
          await reportTip(commit)
          Object.assign(found, { commit, fetchedAt: now(), problem: null })
          // An apply may take long: until then, the branch is known not to be in sync.
          reportBranch()
          const workspace = await moveHead(commit)
          await followTip(commit)
          const commits = await resumeRollouts(workspace, engine)
          await branch.keepOnly([commit, workspace.commit, ...commits])
          await runs.deliver(workspace)
          await engine.schedule(workspace.config.serve.drift.schedule)
        } catch (error) {
          found.problem = clean(runs.report('the round failed', error))
        }
        reportBranch()
      }, false),
    /** Waits for the end of the piece of work that runs. */
    drain: () => oneByOne(async () => undefined),
    /** Takes the next step of a rollout. */
    advance: (id: string): Promise<Advanced> =>
      takeStep(async () => {
        let workspace: Committed | null = null
        try {
          workspace = await loadHead()
          const { waitMs, status } = await runs.advance(id, workspace)
          // It may still be open: its wave begins again. If it has ended, the next step finds that.
          const isRefused = status === 'incomplete' || status === 'not-begun'
          if (waitMs === null && isRefused) return { waitMs: 'retry' }
          // What it has left to do at the tip.
          if (waitMs === null) hurry()
          return { waitMs }
        } catch (error) {
          runs.report(`rollout ${id} can't resume`, error)
          if (workspace !== null)
            await runs.reportFailure(workspace, { kind: 'rollout', id, error })
          return { waitMs: 'retry' }
        }
      }),
    /**
     * Looks for drift, and repairs it if the workspace is configured so. A check that is due while
     * another one waits or runs is the same: they never pile up.
     */
    detectDrift: (): Promise<void> => {
      checking ??= takeStep(checkDrift).finally(() => {
        checking = null
      })
      return checking
    },
  }
}
