import type { DriftCounts, Findings, ListedRollout } from '../../core/model/listed-rollout.ts'
import type { Settings } from '../../operations/runtime/parts.ts'
import { type Committed, pickSettings } from '../branch/workspaces.ts'
import {
  type Agenda,
  type Due,
  type Task,
  applyRetry,
  dueAt,
  findNextMs,
  hurryFailed,
  keepSteps,
  listLate,
  omitSending,
  pickTask,
  retryAfter,
  setDue,
  stepRetry,
} from './agenda.ts'
import { undecided } from './rollout-step.ts'
import type { RolloutStep } from './runs.ts'

/** What a leader knows, and what it has to do. */
export interface WorkState {
  found: Findings
  agenda: Agenda
  /** The last commit of the branch without errors: what rollouts and drift checks go by. */
  head: string
  settings: Settings
  /** The unfinished rollouts of the last look. */
  known: ListedRollout[]
  /** Whether all writes of the account are stopped: only what sends nothing is done. */
  isStopped: boolean
  /** The rollout whose step runs. */
  stepping: string | null
  /** The commit that was reported as failed, with the code of the error. */
  reported: string | null
  /** Why fetches and other work fail; null if they do not. */
  problems: { fetch: string | null; work: string | null }
}

/** An instant: by the monotonic clock, ms, and ISO 8601. */
export interface Instant {
  ms: number
  at: string
}

/** Longest sleep, ms: a timer can't be longer than 24 days. */
const maxSleepMs = 3_600_000
/** Time for which a step may be due before its rollout counts as unattended, ms. */
const maxLateMs = 60_000

/** Creates the state that a replica begins with; a leader looks at the rollouts first. */
export function beginWork(first: Committed): WorkState {
  return {
    found: {
      commit: null,
      fetchedAt: null,
      applied: null,
      drift: null,
      working: null,
      unattended: [],
      problem: null,
    },
    agenda: new Map(),
    head: first.commit,
    settings: pickSettings(first),
    known: [],
    isStopped: false,
    stepping: null,
    reported: null,
    problems: { fetch: null, work: null },
  }
}

/** Decides what a leader does next: a piece of work that is due, or a sleep. */
export function decideNext(
  { agenda: whole, isStopped }: Pick<WorkState, 'agenda' | 'isStopped'>,
  nowMs: number,
): { kind: 'work'; task: Task } | { kind: 'sleep'; ms: number } {
  const agenda = isStopped ? omitSending(whole) : whole
  const task = pickTask(agenda, nowMs)
  if (task !== null) return { kind: 'work', task }
  return { kind: 'sleep', ms: Math.min(findNextMs(agenda) - nowMs, maxSleepMs) }
}

/** Plans when a piece of work is due; null: it is not to be done any more. */
export function planTask(state: WorkState, task: Task, due: Due | null): WorkState {
  return { ...state, agenda: setDue(state.agenda, task, due) }
}

/** Changes what is found. */
export function updateFound(state: WorkState, found: Partial<Findings>): WorkState {
  return { ...state, found: { ...state.found, ...found } }
}

/** Changes why fetches or other work fail. */
export function setProblem(
  state: WorkState,
  of: keyof WorkState['problems'],
  text: string | null,
): WorkState {
  const problems = { ...state.problems, [of]: text }
  return updateFound({ ...state, problems }, { problem: problems.fetch ?? problems.work })
}

/** Takes over the commit at the tip; the apply of a new one is due. */
export function takeTip(state: WorkState, commit: string, now: Instant): WorkState {
  const fetched = updateFound(setProblem(state, 'fetch', null), { commit, fetchedAt: now.at })
  return state.found.commit === commit ? fetched : planTask(fetched, 'apply', dueAt(now.ms))
}

/** Takes over the unfinished rollouts; `added`: those that nothing worked on. */
export function takeRollouts(
  state: WorkState,
  known: ListedRollout[],
  nowMs: number,
): { state: WorkState; added: string[] } {
  const ids = known.map(({ id }) => id)
  // Somebody may have ended one with a command: the tip has left its domains out.
  const hasEnded = state.known.some(({ id }) => !ids.includes(id))
  const rest = hasEnded ? applyRest(state, nowMs) : state
  const open = known.filter((each) => !undecided.includes(each.state)).map(({ id }) => id)
  const { agenda, added } = keepSteps(rest.agenda, open, nowMs)
  return { state: setProblem({ ...rest, agenda, known }, 'work', null), added }
}

/** Takes over whether all writes of the account are stopped; what had failed follows a stop. */
export function takeStop(state: WorkState, isStopped: boolean, nowMs: number): WorkState {
  const isLifted = state.isStopped && !isStopped
  return { ...state, isStopped, agenda: isLifted ? hurryFailed(state.agenda, nowMs) : state.agenda }
}

/** Finds rollouts that nothing works on though their next step is due; `added`: new ones. */
export function findUnattended(
  {
    agenda,
    isStopped,
    stepping,
    found,
  }: Pick<WorkState, 'agenda' | 'isStopped' | 'stepping' | 'found'>,
  nowMs: number,
): { unattended: string[]; added: string[] } {
  const late = isStopped ? [] : listLate(agenda, nowMs, maxLateMs)
  const unattended = late.filter((id) => id !== stepping)
  return { unattended, added: unattended.filter((id) => !found.unattended.includes(id)) }
}

/** How an apply ended; `isNew`: it was the first one of its commit. */
export interface ApplyEnd {
  commit: string
  isNew: boolean
  status: string
  /** Whether it failed since the database was away. */
  isAway: boolean
}

/** Plans what follows an apply. */
export function endApply(
  state: WorkState,
  { commit, isNew, status, isAway }: ApplyEnd,
  nowMs: number,
): WorkState {
  const now = dueAt(nowMs)
  const before = (isNew ? null : state.agenda.get('apply')) ?? now
  const isOver = status === 'done' || status === 'waiting'
  const next = isOver ? null : retryAfter(before, nowMs, applyRetry, isAway)
  // Meanwhile, another commit may have become the tip.
  const planned = planTask(state, 'apply', state.found.commit === commit ? next : now)
  // It may have begun a rollout.
  return planTask(planned, 'look', now)
}

/** How the step of a rollout ended. */
export interface StepEnd {
  id: string
  /** When it was due. */
  before: Due
  waitMs: number | null
  /** `failed`, `away`: with an error, which was that the database is away. */
  status: RolloutStep['status'] | 'failed' | 'away'
}

/** Plans what follows the step of a rollout. */
export function endStep(
  state: WorkState,
  { id, before, waitMs, status }: StepEnd,
  nowMs: number,
): WorkState {
  const task = `step ${id}` as const
  if (waitMs !== null) return planTask(state, task, dueAt(nowMs + waitMs))
  // It may still be open: its wave begins again. If it has ended, the next step finds that.
  if (['failed', 'away', 'incomplete', 'not-begun'].includes(status))
    return planTask(state, task, retryAfter(before, nowMs, stepRetry, status === 'away'))
  const ended = planTask(planTask(state, task, null), 'look', dueAt(nowMs))
  // What it has left to do at the tip.
  return status === 'none' ? ended : applyRest(ended, nowMs)
}

/** Takes over what a drift check has found; an apply sends what is pending and not held. */
export function endDrift(
  state: WorkState,
  counts: Omit<DriftCounts, 'at'> & { held: number },
  now: Instant,
): WorkState {
  const { pending, live, inDoubt, held, unanswered } = counts
  const found = { at: now.at, pending: pending - held, live, inDoubt, unanswered }
  const checked = updateFound(state, { drift: found })
  return pending + inDoubt > held ? applyRest(checked, now.ms) : checked
}

/** Applies the tip again if it was applied; the wait of one that is refused stays. */
function applyRest(state: WorkState, nowMs: number): WorkState {
  const isDue = state.found.applied !== null && !state.agenda.has('apply')
  return isDue ? planTask(state, 'apply', dueAt(nowMs)) : state
}

/** Describes a piece of work for people. */
export function describeTask(task: Task, commit: string | null): string {
  if (task === 'drift') return 'the drift check'
  return task === 'apply'
    ? `the apply of commit ${commit?.slice(0, 12)}`
    : task.replace('step', 'rollout')
}

/** Describes the branch; times in seconds since 1970. */
export function describeBranch({ commit, applied }: Pick<Findings, 'commit' | 'applied'>) {
  const isApplied =
    applied !== null &&
    applied.commit === commit &&
    applied.status === 'done' &&
    applied.message === null
  const appliedAt = isApplied ? Date.parse(applied.at) / 1000 : null
  return { commit, appliedAt, inSync: isApplied }
}
