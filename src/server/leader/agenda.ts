/** Waits of a piece of work that failed, ms: the first one, and the longest; each is doubled. */
interface Retry {
  firstMs: number
  maxMs: number
}

/** Of the apply of a commit, and of a step of a rollout. */
export const [applyRetry, stepRetry]: [Retry, Retry] = [
  { firstMs: 60_000, maxMs: 30 * 60_000 },
  { firstMs: 60_000, maxMs: 5 * 60_000 },
]
/** Wait after a piece of work that failed since the database was away, ms. */
const databaseRetryMs = 5000

/** When a piece of work is due, by the monotonic clock, and its last wait after a failure, ms. */
export interface Due {
  atMs: number
  failedMs: number
}

const kinds = ['look', 'step', 'apply', 'drift', 'traffic'] as const
/** Kind of work; work of several kinds that is due at the same time is done in their order. */
export type TaskKind = (typeof kinds)[number]

/**
 * A piece of work of a leader: a look at the recorded rollouts, the next step of the rollout with
 * this id, the apply of the tip of the branch, a drift check, or a count of the traffic.
 */
export type Task = Exclude<TaskKind, 'step'> | `step ${string}`

/** What a leader has to do, and when. */
export type Agenda = ReadonlyMap<Task, Due>

/** Creates a due time without an earlier failure. */
export function dueAt(atMs: number): Due {
  return { atMs, failedMs: 0 }
}

/**
 * Returns when failed work is repeated: after growing waits, but soon after the database was away.
 */
export function retryAfter({ failedMs }: Due, nowMs: number, retry: Retry, isAway: boolean): Due {
  if (isAway) return { atMs: nowMs + databaseRetryMs, failedMs }
  const waitMs = failedMs === 0 ? retry.firstMs : Math.min(retry.maxMs, failedMs * 2)
  return { atMs: nowMs + waitMs, failedMs: waitMs }
}

export function getKind(task: Task): TaskKind {
  return kinds.find((kind) => task.startsWith(kind)) ?? 'look'
}

/** Picks the piece of work that has been due for longest; null if none is due. */
export function pickTask(agenda: Agenda, nowMs: number): Task | null {
  const findRank = (task: Task) => kinds.indexOf(getKind(task))
  const [first] = [...agenda].toSorted(
    ([a, one], [b, other]) => one.atMs - other.atMs || findRank(a) - findRank(b),
  )
  return first === undefined || first[1].atMs > nowMs ? null : first[0]
}

/** Returns the work that sends nothing. */
export function omitSending(agenda: Agenda): Agenda {
  return new Map([...agenda].filter(([task]) => task === 'look' || task === 'drift'))
}

/** Returns when the next piece of work is due. */
export function findNextMs(agenda: Agenda): number {
  return [...agenda.values()].reduce((next, { atMs }) => Math.min(next, atMs), Infinity)
}

/** Lists the rollouts whose next step has been due for longer than `maxMs`. */
export function listLate(agenda: Agenda, nowMs: number, maxMs: number): string[] {
  return listSteps(agenda).flatMap(([id, { atMs }]) => (nowMs - atMs > maxMs ? [id] : []))
}

/** Makes the next look due, and all that has failed: something has changed. Pauses stay. */
export function hurryFailed(agenda: Agenda, nowMs: number): Agenda {
  const hurry = (due: Due) => (due.failedMs > 0 ? dueAt(nowMs) : due)
  const hurried = Array.from(agenda, ([task, due]): [Task, Due] => [task, hurry(due)])
  return new Map([...hurried, ['look', dueAt(nowMs)]])
}

/**
 * Replaces the rollouts by those that can go on: new ones are due at once.
 *
 * @returns the new agenda, and the rollouts that it did not have
 */
export function keepSteps(
  agenda: Agenda,
  ids: string[],
  nowMs: number,
): { agenda: Agenda; added: string[] } {
  const known = new Map(listSteps(agenda))
  const others = [...agenda].filter(([task]) => getKind(task) !== 'step')
  const steps = ids.map((id): [Task, Due] => [`step ${id}`, known.get(id) ?? dueAt(nowMs)])
  return { agenda: new Map([...others, ...steps]), added: ids.filter((id) => !known.has(id)) }
}

/** Replaces when a piece of work is due; null: it is not to be done any more. */
export function setDue(agenda: Agenda, task: Task, due: Due | null): Agenda {
  const others = [...agenda].filter(([each]) => each !== task)
  return new Map(due === null ? others : [...others, [task, due]])
}

function listSteps(agenda: Agenda): [id: string, Due][] {
  return [...agenda].flatMap(([task, due]): [string, Due][] =>
    getKind(task) === 'step' ? [[task.slice('step '.length), due]] : [],
  )
}
