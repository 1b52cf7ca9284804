import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import type { Findings, ListedRollout } from '../../core/model/listed-rollout.ts'
import { findFailureCode } from '../../outlets/notify/notification.ts'
import type { Outside } from '../../operations/runtime/outside.ts'
import {
  type Agenda,
  type Due,
  type Task,
  type TaskKind,
  applyRetry,
  dueAt,
  findNextMs,
  getKind,
  hurryFailed,
  keepSteps,
  listLate,
  pickTask,
  retryAfter,
  setDue,
  stepRetry,
} from './agenda.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import { findNextRun } from './find-next-run.ts'
import type { Logger } from '../logger.ts'
import type { Failure } from '../notifications.ts'
import { undecided } from './rollout-step.ts'
import type { Runs } from './runs.ts'
import { type Committed, isAboutCommit, pickSettings } from '../branch/workspaces.ts'
import type { Settings } from '../../operations/runtime/workspace-parts.ts'

/** What a reconciler works with. */
export interface ReconcilerContext {
  outside: Pick<Outside, 'clock' | 'signal'>
  runs: Runs
  /** The workspace that the controller began with. */
  first: Committed
  /** Wait between two looks at the recorded rollouts, ms. */
  lookMs: number
  /** Lists the unfinished rollouts. */
  listRollouts(): Promise<ListedRollout[]>
  metrics: ServerMetrics
  logger: Logger
  /** Does a piece of work in a trace of its own, watched until its end. */
  watch(kind: TaskKind, work: () => Promise<void>): Promise<void>
  /** Returns whether this process leads; false after its term, and after an interrupt. */
  isLeading(): Promise<boolean>
}

/** Longest sleep, ms: a timer can't be longer than 24 days. */
const maxSleepMs = 3_600_000
/** Time for which a step may be due before its rollout counts as unattended, ms. */
const maxLateMs = 60_000

/** What brings the service to the tip of the branch; one piece of work runs at a time. */
export class Reconciler {
  readonly found: Findings = {
    commit: null,
    fetchedAt: null,
    applied: null,
    drift: null,
    working: null,
    unattended: [],
    problem: null,
  }
  readonly #context: ReconcilerContext
  readonly #alarm: Alarm
  #agenda: Agenda = new Map()
  /** The last commit of the branch without errors: what rollouts and drift checks go by. */
  #head: string
  #settings: Settings
  /** The unfinished rollouts of the last look. */
  #known: ListedRollout[] = []
  /** The rollout whose step runs. */
  #stepping: string | null = null
  /** The commit that was reported as failed, with the code of the error. */
  #reported: string | null = null
  #delivering: Promise<void> | null = null
  /** Why fetches and other work fail; null if they do not. */
  readonly #problems = { fetch: null as string | null, work: null as string | null }

  constructor(context: ReconcilerContext) {
    this.#context = context
    this.#alarm = createAlarm(context.outside)
    this.#head = context.first.commit
    this.#settings = pickSettings(context.first)
  }

  /** Returns the commit that rollouts and drift checks go by. */
  getHead(): string {
    return this.#head
  }

  /** Lists the commits whose folders are in use. */
  listUsed(): string[] {
    return [this.#head, ...this.#known.flatMap(({ commit }) => commit ?? [])]
  }

  /** Takes over the commit at the tip; a new one is applied. */
  setTip(commit: string): void {
    const { found } = this
    const isNew = found.commit !== commit
    Object.assign(found, { commit, fetchedAt: this.#formatNow() })
    this.#setProblem('fetch', null)
    this.#reportBranch()
    if (!isNew) return
    this.#plan('apply', dueAt(this.#nowMs()))
    this.#alarm.ring()
  }

  /** Reports that the branch could not be fetched. */
  reportFetch(error: unknown): void {
    this.#reportProblem('fetch', 'the branch was not fetched', error)
    this.#reportBranch()
  }

  /** Looks at the rollouts soon, and repeats what has failed. */
  hurry(): void {
    this.#agenda = hurryFailed(this.#agenda, this.#nowMs())
    this.#alarm.ring()
  }

  /**
   * Finds rollouts that nothing works on though their next step is due, and wakes what should.
   * Called by another loop than that of the work, which may be what has stopped.
   */
  findUnattended(): void {
    const { logger, metrics } = this.#context
    const late = listLate(this.#agenda, this.#nowMs(), maxLateMs)
    const unattended = late.filter((id) => id !== this.#stepping)
    const added = unattended.filter((id) => !this.found.unattended.includes(id))
    this.found.unattended = unattended
    metrics.setUnattended(unattended.length)
    if (added.length > 0)
      logger.warn('nothing works on rollouts whose next step is due', {
        rollouts: added.join(' '),
        working: this.found.working?.what ?? null,
      })
    if (unattended.length > 0) this.#alarm.ring()
  }

  /** Does the work of the leader until the end of its term or an interrupt. */
  async lead(): Promise<void> {
    const { outside, isLeading, watch } = this.#context
    this.#plan('look', dueAt(this.#nowMs()))
    this.#schedule()
    while (!outside.signal.aborted) {
      const task = pickTask(this.#agenda, this.#nowMs())
      if (task === null) {
        await this.#alarm.sleep(Math.min(findNextMs(this.#agenda) - this.#nowMs(), maxSleepMs))
        continue
      }
      if (!(await isLeading())) break
      const kind = getKind(task)
      if (kind !== 'look')
        this.found.working = { what: this.#describe(task), since: this.#formatNow() }
      await watch(kind, () => this.#perform(task))
      this.found.working = null
    }
    await this.#delivering
  }

  #plan(task: Task, due: Due | null): void {
    this.#agenda = setDue(this.#agenda, task, due)
  }

  #perform(task: Task): Promise<void> {
    if (task === 'look') return this.#look()
    if (task === 'drift') return this.#checkDrift()
    return task === 'apply' ? this.#applyTip() : this.#takeStep(task)
  }

  #describe(task: Task): string {
    if (task === 'drift') return 'the drift check'
    return task === 'apply'
      ? `the apply of commit ${this.found.commit?.slice(0, 12)}`
      : task.replace('step', 'rollout')
  }

  /** Looks at the recorded rollouts: each that can go on and has no next step gets one. */
  async #look(): Promise<void> {
    const { runs, metrics, logger, lookMs } = this.#context
    try {
      const rollouts = await this.#context.listRollouts()
      metrics.setRollouts(rollouts)
      const ids = rollouts.map(({ id }) => id)
      // Somebody may have ended one with a command: the tip has left its domains out.
      if (this.#known.some(({ id }) => !ids.includes(id))) this.#applyRest()
      this.#known = rollouts
      const open = rollouts.filter(({ state }) => !undecided.includes(state)).map(({ id }) => id)
      const { agenda, added } = keepSteps(this.#agenda, open, this.#nowMs())
      this.#agenda = agenda
      for (const rollout of added) {
        logger.info('takes a rollout up', { rollout })
        metrics.countTakenUp()
      }
      this.#setProblem('work', null)
    } catch (error) {
      this.#reportProblem('work', 'the rollouts could not be listed', error)
    }
    this.#plan('look', dueAt(this.#nowMs() + lookMs))
    // A receiver that hangs delays nothing else.
    this.#delivering ??= runs.deliver(this.#settings).finally(() => (this.#delivering = null))
  }

  /** Applies the tip, which is new, or whose last apply left something to do. */
  async #applyTip(): Promise<void> {
    const { commit, applied: last } = this.found
    if (commit === null) throw new TypeError('expected a fetched commit')
    const isNew = last?.commit !== commit
    const { applied, error } = await this.#apply(commit)
    if (this.#context.outside.signal.aborted && error !== null) return
    this.found.applied = applied
    this.#reportBranch()
    this.#context.logger.info(`commit ${commit.slice(0, 12)}: ${applied.status}`, {
      reason: applied.message,
    })
    if (error !== null && !isDatabaseAway(error))
      await this.#reportFailed({ kind: 'commit', id: commit, error })
    const nowMs = this.#nowMs()
    const isOver = applied.status === 'done' || applied.status === 'waiting'
    const before = (isNew ? null : this.#agenda.get('apply')) ?? dueAt(nowMs)
    const next = isOver ? null : retryAfter(before, nowMs, applyRetry, isDatabaseAway(error))
    // Meanwhile, another commit may have become the tip.
    this.#plan('apply', this.found.commit === commit ? next : dueAt(nowMs))
    // It may have begun a rollout.
    this.#plan('look', dueAt(nowMs))
  }

  async #apply(
    commit: string,
  ): Promise<{ applied: NonNullable<Findings['applied']>; error: unknown }> {
    const { runs } = this.#context
    try {
      const workspace = await runs.load(commit)
      if (workspace.diagnostics.every(({ severity }) => severity !== 'error')) {
        this.#head = commit
        this.#settings = pickSettings(workspace)
        this.#schedule()
      }
      const { status, message } = await runs.apply(workspace)
      const applied = { commit, at: this.#formatNow(), status, message: this.#clean(message) }
      return { applied, error: null }
    } catch (error) {
      const message = this.#clean(
        runs.report(`commit ${commit.slice(0, 12)} is not applied`, error),
      )
      return { applied: { commit, at: this.#formatNow(), status: 'failed', message }, error }
    }
  }

  /** Notifies once of each commit that is not applied. */
  async #reportFailed(failed: Failure): Promise<void> {
    const { runs, metrics } = this.#context
    const subject = `${failed.id} ${findFailureCode(failed.error)}`
    if (this.#reported === subject) return
    if (isAboutCommit(failed.error)) metrics.countInvalidCommit()
    await runs.reportFailure(this.#settings, failed)
    this.#reported = subject
  }

  /** Takes the next step of a rollout. */
  async #takeStep(task: `step ${string}`): Promise<void> {
    const { runs } = this.#context
    const id = task.slice('step '.length)
    const due = this.#agenda.get(task) ?? dueAt(this.#nowMs())
    const retry = (isAway: boolean) =>
      this.#plan(task, retryAfter(due, this.#nowMs(), stepRetry, isAway))
    this.#stepping = id
    try {
      const { waitMs, status } = await runs.advance(id, this.#settings, () => this.#loadHead())
      // It may still be open: its wave begins again. If it has ended, the next step finds that.
      if (waitMs === null && (status === 'incomplete' || status === 'not-begun'))
        return retry(false)
      this.#plan(task, waitMs === null ? null : dueAt(this.#nowMs() + waitMs))
      if (waitMs !== null) return
      // What it has left to do at the tip.
      if (status !== 'none') this.#applyRest()
      this.#plan('look', dueAt(this.#nowMs()))
    } catch (error) {
      runs.report(`rollout ${id} can't resume`, error)
      const isAway = isDatabaseAway(error)
      if (!isAway) await runs.reportFailure(this.#settings, { kind: 'rollout', id, error })
      retry(isAway)
    } finally {
      this.#stepping = null
    }
  }

  /** Looks for drift, and repairs it if the workspace is configured so. */
  async #checkDrift(): Promise<void> {
    const { runs } = this.#context
    try {
      const load = () => this.#loadHead()
      const { pending, live, inDoubt, held, unanswered } = await runs.compare(await load(), load)
      this.found.drift = { at: this.#formatNow(), pending, live, inDoubt, unanswered }
      if (pending + inDoubt > held) this.#applyRest()
    } catch (error) {
      runs.report('drift could not be looked for', error)
    }
    this.#schedule()
  }

  /** Plans the next drift check as the workspace says. */
  #schedule(): void {
    const { clock } = this.#context.outside
    const { schedule } = this.#settings.config.serve.drift
    let at: number | null = null
    try {
      at = schedule === null ? null : findNextRun(schedule, clock.now())
    } catch (error) {
      this.#context.runs.report('no drift is looked for', error)
    }
    this.#plan('drift', at === null ? null : dueAt(this.#nowMs() + at - clock.now()))
  }

  /** Applies the tip again if it was applied; the wait of one that is refused stays. */
  #applyRest(): void {
    if (this.found.applied !== null && !this.#agenda.has('apply'))
      this.#plan('apply', dueAt(this.#nowMs()))
  }

  #loadHead(): Promise<Committed> {
    return this.#context.runs.load(this.#head)
  }

  #reportBranch(): void {
    const { commit, applied } = this.found
    const isApplied =
      applied !== null &&
      applied.commit === commit &&
      applied.status === 'done' &&
      applied.message === null
    this.#context.metrics.setBranch({
      commit,
      appliedAt: isApplied ? Date.parse(applied.at) / 1000 : null,
      inSync: isApplied,
    })
  }

  #reportProblem(of: 'fetch' | 'work', what: string, error: unknown): void {
    this.#setProblem(of, `${what}: ${this.#context.runs.report(what, error)}`)
  }

  #setProblem(of: 'fetch' | 'work', text: string | null): void {
    this.#problems[of] = this.#clean(text)
    this.found.problem = this.#problems.fetch ?? this.#problems.work
  }

  /** Removes the secrets from what clients may read. */
  #clean(text: string | null): string | null {
    return text === null ? null : this.#context.logger.scrub(text)
  }

  #nowMs(): number {
    return this.#context.outside.clock.monotonic()
  }

  #formatNow(): string {
    return new Date(this.#context.outside.clock.now()).toISOString()
  }
}

function isDatabaseAway(error: unknown): boolean {
  return error instanceof EdgewiseError && error.code === 'record-unreachable'
}
