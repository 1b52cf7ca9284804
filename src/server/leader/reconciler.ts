import type { ServerMetrics } from '../../outlets/metrics/server-metrics.ts'
import { EdgewiseError } from '../../core/model/edgewise-error.ts'
import {
  type Findings,
  type FoundStop,
  type ListedRollout,
  describeStop,
} from '../../core/model/listed-rollout.ts'
import { findFailureCode } from '../../outlets/notify/notification.ts'
import type { Outside } from '../../operations/runtime/parts.ts'
import { type Task, type TaskKind, dueAt, getKind, hurryFailed } from './agenda.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import { findNextRun } from './find-next-run.ts'
import type { Logger } from '../logger.ts'
import type { Failure } from '../notifications.ts'
import type { Runs } from './runs.ts'
import { isAboutCommit } from '../branch/commit-checks.ts'
import { type Committed, pickSettings } from '../branch/workspaces.ts'
import {
  type Instant,
  type StepEnd,
  type WorkState,
  beginWork,
  decideNext,
  describeBranch,
  describeTask,
  endApply,
  endDrift,
  endStep,
  findUnattended,
  planTask,
  setProblem,
  takeRollouts,
  takeStop,
  takeTip,
  updateFound,
} from './work-state.ts'

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
  /** Finds the stop of all writes of the account; null without one. */
  findStop(): Promise<FoundStop | null>
  metrics: ServerMetrics
  logger: Logger
  /** Does a piece of work in a trace of its own, watched until its end. */
  watch(kind: TaskKind, work: () => Promise<void>): Promise<void>
  /** Returns whether this process leads; false after its term, and after an interrupt. */
  isLeading(): Promise<boolean>
}

/**
 * Waits before the first look for a day whose traffic is not counted, and between two looks, ms. A
 * commit is loaded for each.
 */
const [firstTrafficMs, trafficMs] = [10 * 60_000, 6 * 3_600_000]

/** What brings the service to the tip of the branch; one piece of work runs at a time. */
export class Reconciler {
  readonly #context: ReconcilerContext
  readonly #alarm: Alarm
  #state: WorkState
  #delivering: Promise<void> | null = null
  #counting: Promise<void> | null = null

  constructor(context: ReconcilerContext) {
    this.#context = context
    this.#alarm = createAlarm(context.outside)
    this.#state = beginWork(context.first)
  }

  /** What it has found so far. */
  get found(): Findings {
    return this.#state.found
  }

  /** Returns the commit that rollouts and drift checks go by. */
  getHead(): string {
    return this.#state.head
  }

  /** Lists the commits whose folders are in use. */
  listUsed(): string[] {
    const { head, known } = this.#state
    return [head, ...known.flatMap(({ commit }) => commit ?? [])]
  }

  /** Takes over the commit at the tip; a new one is applied. */
  setTip(commit: string): void {
    const isNew = this.found.commit !== commit
    this.#state = takeTip(this.#state, commit, this.#now())
    this.#reportBranch()
    if (isNew) this.#alarm.ring()
  }

  /** Reports that the branch could not be fetched. */
  reportFetch(error: unknown): void {
    this.#reportProblem('fetch', 'branch not fetched', error)
    this.#reportBranch()
  }

  /** Looks at the rollouts soon, and repeats what has failed. */
  hurry(): void {
    const agenda = hurryFailed(this.#state.agenda, this.#now().ms)
    this.#state = { ...this.#state, agenda }
    this.#alarm.ring()
  }

  /**
   * Finds rollouts that nothing works on though their next step is due, and wakes what should.
   * Called by another loop than that of the work, which may be what has stopped.
   */
  findUnattended(): void {
    const { logger, metrics } = this.#context
    const { unattended, added } = findUnattended(this.#state, this.#now().ms)
    this.#find({ unattended })
    metrics.setUnattended(unattended.length)
    if (added.length > 0)
      logger.warn('rollouts unattended', {
        rollouts: added.join(' '),
        working: this.found.working?.what ?? null,
      })
    if (unattended.length > 0) this.#alarm.ring()
  }

  /** Does the work of the leader until the end of its term or an interrupt. */
  async lead(): Promise<void> {
    const { outside, isLeading, watch } = this.#context
    const { ms } = this.#now()
    // It looks at the rollouts before it applies what was fetched before its term.
    this.#state = planTask(this.#state, 'look', dueAt(0))
    this.#state = planTask(this.#state, 'traffic', dueAt(ms + firstTrafficMs))
    this.#schedule()
    while (!outside.signal.aborted) {
      const next = decideNext(this.#state, this.#now().ms)
      if (next.kind === 'sleep') {
        await this.#alarm.sleep(next.ms)
        continue
      }
      if (!(await isLeading())) break
      const { task } = next
      const kind = getKind(task)
      if (kind !== 'look' && kind !== 'traffic')
        this.#find({
          working: { what: describeTask(task, this.found.commit), since: this.#now().at },
        })
      await watch(kind, () => this.#perform(task))
      this.#find({ working: null })
    }
    await this.#delivering
    await this.#counting
  }

  #perform(task: Task): Promise<void> {
    if (task === 'look') return this.#look()
    if (task === 'drift') return this.#checkDrift()
    if (task === 'traffic') return this.#countTraffic()
    return task === 'apply' ? this.#applyTip() : this.#takeStep(task)
  }

  /** Looks at the recorded rollouts: each that can go on and has no next step gets one. */
  async #look(): Promise<void> {
    const { runs, metrics, logger, lookMs } = this.#context
    try {
      const rollouts = await this.#context.listRollouts()
      metrics.setRollouts(rollouts)
      const stop = await this.#context.findStop()
      if ((stop === null) === this.#state.isStopped)
        logger.warn('stop of writes changed', { stop: stop && describeStop(stop) })
      this.#state = takeStop(this.#state, stop !== null, this.#now().ms)
      const { state, added } = takeRollouts(this.#state, rollouts, this.#now().ms)
      this.#state = state
      for (const rollout of added) {
        logger.info('rollout taken up', { rollout })
        metrics.countTakenUp()
      }
    } catch (error) {
      this.#reportProblem('work', 'rollouts not listed', error)
    }
    this.#state = planTask(this.#state, 'look', dueAt(this.#now().ms + lookMs))
    // A receiver that hangs delays nothing else.
    this.#delivering ??= runs.deliver(this.#state.settings).finally(() => {
      this.#delivering = null
    })
  }

  /** Applies the tip, which is new, or whose last apply left something to do. */
  async #applyTip(): Promise<void> {
    const { commit, applied: last } = this.found
    if (commit === null) throw new TypeError('expected a fetched commit')
    const { applied, error } = await this.#apply(commit)
    if (this.#context.outside.signal.aborted && error !== null) return
    this.#find({ applied })
    this.#reportBranch()
    const { status, message: reason } = applied
    if (last?.commit !== commit || last.status !== status || last.message !== reason)
      this.#context.logger.info('apply ended', { commit, status, reason })
    const isAway = isDatabaseAway(error)
    if (error !== null && !isAway) await this.#reportFailed({ kind: 'commit', id: commit, error })
    const end = { commit, isNew: last?.commit !== commit, status, isAway }
    this.#state = endApply(this.#state, end, this.#now().ms)
  }

  async #apply(
    commit: string,
  ): Promise<{ applied: NonNullable<Findings['applied']>; error: unknown }> {
    const { runs, logger } = this.#context
    try {
      const workspace = await runs.load(commit)
      if (workspace.diagnostics.every(({ severity }) => severity !== 'error')) {
        this.#state = { ...this.#state, head: commit, settings: pickSettings(workspace) }
        this.#schedule()
      }
      const { status, message, left } = await runs.apply(workspace)
      const applied = {
        commit,
        at: this.#now().at,
        status,
        message: this.#clean(message),
        left: left?.map(logger.redact),
      }
      return { applied, error: null }
    } catch (error) {
      const message = this.#clean(runs.report('commit not applied', error, { commit }))
      const before = { left: this.found.applied?.left }
      return {
        applied: { ...before, commit, at: this.#now().at, status: 'failed', message },
        error,
      }
    }
  }

  /** Notifies once of each commit that is not applied. */
  async #reportFailed(failed: Failure): Promise<void> {
    const { runs, metrics } = this.#context
    const reported = `${failed.id} ${findFailureCode(failed.error)}`
    if (this.#state.reported === reported) return
    if (isAboutCommit(failed.error)) metrics.countInvalidCommit()
    await runs.reportFailure(this.#state.settings, failed)
    this.#state = { ...this.#state, reported }
  }

  /** Takes the next step of a rollout. */
  async #takeStep(task: `step ${string}`): Promise<void> {
    const id = task.slice('step '.length)
    const before = this.#state.agenda.get(task) ?? dueAt(this.#now().ms)
    this.#state = { ...this.#state, stepping: id }
    const end = { id, before, ...(await this.#advance(id)) }
    this.#state = { ...endStep(this.#state, end, this.#now().ms), stepping: null }
  }

  async #advance(id: string): Promise<Pick<StepEnd, 'waitMs' | 'status'>> {
    const { runs } = this.#context
    const { settings } = this.#state
    try {
      return await runs.advance(id, settings, () => this.#loadHead())
    } catch (error) {
      runs.report('rollout not resumed', error, { rollout: id })
      const isAway = isDatabaseAway(error)
      if (!isAway) await runs.reportFailure(settings, { kind: 'rollout', id, error })
      return { waitMs: null, status: isAway ? 'away' : 'failed' }
    }
  }

  /** Looks for drift, and repairs it if the workspace is configured so. */
  async #checkDrift(): Promise<void> {
    const { runs } = this.#context
    try {
      const load = () => this.#loadHead()
      const summary = await runs.compare(await load(), load)
      this.#state = endDrift(this.#state, summary, this.#now())
    } catch (error) {
      runs.report('drift not checked', error)
    }
    this.#schedule()
  }

  /** Counts the traffic of a day, once it is over; other work goes on meanwhile. */
  async #countTraffic(): Promise<void> {
    const { runs } = this.#context
    this.#state = planTask(this.#state, 'traffic', dueAt(this.#now().ms + trafficMs))
    if (this.#counting !== null) return
    try {
      const workspace = await this.#loadHead()
      this.#counting = runs.countTraffic(workspace).finally(() => {
        this.#counting = null
      })
    } catch (error) {
      runs.report('traffic not counted', error)
    }
  }

  /** Plans the next drift check as the workspace says. */
  #schedule(): void {
    const { clock } = this.#context.outside
    const { schedule } = this.#state.settings.config.serve.drift
    let at: number | null = null
    try {
      at = schedule === null ? null : findNextRun(schedule, clock.now())
    } catch (error) {
      this.#context.runs.report('drift check not planned', error)
    }
    const due = at === null ? null : dueAt(this.#now().ms + at - clock.now())
    this.#state = planTask(this.#state, 'drift', due)
  }

  #loadHead(): Promise<Committed> {
    return this.#context.runs.load(this.#state.head)
  }

  #find(found: Partial<Findings>): void {
    this.#state = updateFound(this.#state, found)
  }

  #reportBranch(): void {
    this.#context.metrics.setBranch(describeBranch(this.found))
  }

  #reportProblem(of: 'fetch' | 'work', what: string, error: unknown): void {
    const text = this.#clean(`${what}: ${this.#context.runs.report(what, error)}`)
    this.#state = setProblem(this.#state, of, text)
  }

  /** Removes the secrets from what clients may read. */
  #clean(text: string | null): string | null {
    return text === null ? null : this.#context.logger.redact(text)
  }

  #now(): Instant {
    const { clock } = this.#context.outside
    return { ms: clock.monotonic(), at: new Date(clock.now()).toISOString() }
  }
}

function isDatabaseAway(error: unknown): boolean {
  return error instanceof EdgewiseError && error.code === 'record-unreachable'
}
