import { EdgewiseError } from '../../model/edgewise-error.ts'
import type { Domain } from '../../model/item.ts'
import type { Plan } from '../../model/plan.ts'
import { currentWave, type Rollout } from '../../model/rollout.ts'
import type { Recorded } from '../../state/record.ts'
import type { ApplyEvent } from '../events.ts'
import type { ApplyResult } from '../run.ts'
import { partOf, recordMoved } from './part-of.ts'

/** What came of looking after a wave; null when the watch was interrupted. */
export type Watched = { passed: true } | { passed: false; worse: boolean; reason: string } | null

/** What a rollout works with. */
export interface RolloutContext {
  /** Carries a part of the plan out as an apply of its own, while the lock is held. */
  apply(part: Plan, id: string, recorded: Recorded): Promise<ApplyResult>
  /** Refuses before a wave begins what could not be looked after. */
  prepare(domains: Domain[]): Promise<void>
  /** Waits until there is an undisturbed time before the wave to compare it with; null where there is one. */
  undisturbed(rollout: Rollout, wave: number, domains: Domain[], recorded: Recorded): (() => Promise<void>) | null
  /** Waits until the next wave may begin. */
  watch(rollout: Rollout, wave: number): Promise<Watched>
  /** Whether there is anything to wait for after a wave. */
  waits(rollout: Rollout, wave: number): boolean
  /** Takes back what the rollout changed; null when a health check only stops. The reason when it can't be. */
  takeBack: ((rollout: Rollout, recorded: Recorded, why: string) => Promise<ApplyResult | string>) | null
  /** Does something while others may have the lock. */
  whileFree<T>(work: () => Promise<T>): Promise<T>
  /** The record and the rollout as they are now; null when the rollout is no longer open. */
  reload(id: string): Promise<{ recorded: Recorded; rollout: Rollout | null }>
  keep(rollout: Rollout, why: string): Promise<void>
  drop(rollout: Rollout, why: string): Promise<void>
  signal: AbortSignal
  /** The time now, ISO 8601. */
  time(): string
  tell(event: ApplyEvent): void
}

/**
 * Lets a plan out wave by wave. Between waves the lock is free. What goes on is recorded, so that another process can take over:
 * each of them looks first at what is recorded, and does the next step if nobody has done it.
 *
 * @param rollout a new one, or the one that the plan goes on with
 * @throws EdgewiseError what ends it before anything is sent
 */
export async function letOut(plan: Plan, rollout: Rollout, recorded: Recorded, context: RolloutContext): Promise<ApplyResult> {
  const result: ApplyResult = { ...nothing(), refusals: [] }
  const { id, waves } = rollout
  const releases = plan.changes.filter(({ action }) => action === 'release').length
  context.tell({ type: 'apply.started', time: context.time(), apply: id, writes: plan.writes.length, releases, waves: waves.length })
  try {
    await steps(plan, rollout, recorded, result, context)
  } catch (error) {
    if (!(error instanceof EdgewiseError) || !result.sent) throw error
    result.stopped ??= error.message
  }
  const { confirmed, refused, inDoubt, notSent, stopped, takenBack } = result
  context.tell({
    type: 'apply.finished',
    time: context.time(),
    apply: id,
    stopped,
    confirmed,
    refused,
    inDoubt,
    notSent,
    ...(takenBack === undefined ? {} : { takenBack }),
  })
  return result
}

async function steps(plan: Plan, begun: Rollout, base: Recorded, result: ApplyResult, context: RolloutContext): Promise<void> {
  let [rollout, recorded] = [begun, base]
  for (let at = currentWave(rollout); at !== null; at = currentWave(rollout)) {
    const wave = at + 1
    const part = partOf(plan, rollout, at)
    if (part.changes.length > 0) {
      const moved = recordMoved(part, recorded)
      if (moved.length > 0)
        return leave(`the record of ${moved[0] ?? ''} changed since the plan was made; apply again`, laterWrites(plan, at - 1), result)
      const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
      const wait = rollout.waves[at]?.applied === null ? context.undisturbed(rollout, at, domains, recorded) : null
      if (wait !== null) {
        await context.keep(rollout, `Rollout ${rollout.id}: wave ${wave} waits for figures of the time before it`)
        await context.whileFree(wait)
        if (context.signal.aborted) return leave('interrupted; apply again to go on with the rollout', laterWrites(plan, at - 1), result)
        const now = await context.reload(rollout.id)
        if (now.rollout === null) return leave('another apply has ended this rollout', laterWrites(plan, at - 1), result)
        ;[recorded, rollout] = [now.recorded, now.rollout]
        continue
      }
      await context.prepare(domains)
      const applied = await one(part, rollout, wave, recorded, result, context)
      rollout = applied.rollout
      if (!isWhole(applied.result)) {
        result.notSent += laterWrites(plan, at)
        if (!context.signal.aborted)
          await close({ ...rollout, state: 'stopped', reason: `wave ${wave} was not carried out whole`, held: [] }, context)
        return
      }
    }
    // The process that sent the wave died before it could say when that was over.
    if (rollout.waves[at]?.applied?.to === null) rollout = ended(rollout, at, context)
    const seen = context.waits(rollout, at) ? await aside(rollout, at, context) : { watched: { passed: true } as const, recorded, rollout }
    if (seen.watched === null) return leave('interrupted; apply again to go on with the rollout', laterWrites(plan, at), result)
    if (seen.rollout === null) return leave('another apply has ended this rollout', laterWrites(plan, at), result)
    recorded = seen.recorded
    rollout = seen.rollout
    // Another process has gone on meanwhile.
    if (currentWave(rollout) !== at) continue
    if (!seen.watched.passed) return fail(seen.watched, plan, rollout, at, recorded, result, context)
    rollout = withWave(rollout, at, { passed: true })
    if (currentWave(rollout) !== null) await context.keep(rollout, `Rollout ${rollout.id}: wave ${wave} of ${rollout.waves.length} passed`)
  }
  await context.drop(rollout, `Rollout ${rollout.id}: complete`)
}

/** Carries a wave out; that it was begun is recorded before, so that it can be taken back whatever happens. */
async function one(part: Plan, before: Rollout, wave: number, recorded: Recorded, total: ApplyResult, context: RolloutContext) {
  const id = `${before.id}-w${before.applies.length + 1}`
  const from = before.waves[wave - 1]?.applied?.from ?? context.time()
  const begun = withWave({ ...before, applies: [...before.applies, id] }, wave - 1, { applied: { from, to: null } })
  await context.keep(begun, `Rollout ${before.id}: begins wave ${wave} of ${before.waves.length}`)
  const result = await context.apply(part, id, recorded)
  add(total, result)
  const rollout = ended(begun, wave - 1, context)
  if (isWhole(result)) await context.keep(rollout, `Rollout ${before.id}: wave ${wave} of ${before.waves.length} is applied`)
  return { rollout, result }
}

/** Looks after a wave while others may apply, and then at what they did. */
async function aside(rollout: Rollout, at: number, context: RolloutContext) {
  const watched = await context.whileFree(() => context.watch(rollout, at))
  return { watched, ...(await context.reload(rollout.id)) }
}

/** A wave is worse, or nobody can say: nothing more goes out, and what was asked for is held. */
async function fail(
  { worse, reason }: Extract<Watched, { passed: false }>,
  plan: Plan,
  rollout: Rollout,
  at: number,
  recorded: Recorded,
  result: ApplyResult,
  context: RolloutContext,
): Promise<void> {
  const why = `wave ${at + 1} of ${rollout.waves.length}: ${reason}`
  result.notSent += laterWrites(plan, at)
  const later = rollout.waves.slice(at + 1).flatMap(({ domains }) => domains)
  if (!worse || context.takeBack === null) {
    result.stopped = why
    return close({ ...rollout, state: 'stopped', reason: why, held: later }, context)
  }
  // Held before anything goes back, so that whatever happens meanwhile nobody sends it again.
  await context.keep({ ...rollout, state: 'taken-back', reason: why, held: Object.keys(rollout.asked) }, `Rollout ${rollout.id}: ${why}`)
  const back = await context.takeBack(rollout, recorded, why)
  if (typeof back === 'string') result.stopped = `${why}; it could not be taken back: ${back}`
  else {
    add(result, back)
    result.takenBack = isWhole(back)
    result.stopped = `${why}; ${result.takenBack ? 'taken back' : 'not all of it could be taken back'}`
  }
}

/** Ends a rollout; one that holds nothing is forgotten. */
async function close(rollout: Rollout, context: RolloutContext): Promise<void> {
  const why = `Rollout ${rollout.id}: ${rollout.state} (${rollout.reason ?? ''})`
  await (rollout.held.length === 0 ? context.drop(rollout, why) : context.keep(rollout, why))
}

/** The rollout stays open for whoever applies next, or was ended by somebody else. */
function leave(why: string, notSent: number, result: ApplyResult): void {
  result.stopped = why
  result.notSent += notSent
}

function laterWrites({ writes }: Plan, at: number): number {
  return writes.filter(({ wave }) => wave > at + 1).length
}

function withWave(rollout: Rollout, at: number, more: Partial<Rollout['waves'][number]>): Rollout {
  return { ...rollout, waves: rollout.waves.map((wave, i) => (i === at ? { ...wave, ...more } : wave)) }
}

function ended(rollout: Rollout, at: number, context: RolloutContext): Rollout {
  const to = context.time()
  return withWave(rollout, at, { applied: { from: rollout.waves[at]?.applied?.from ?? to, to } })
}

function isWhole({ refused, inDoubt, notSent, stopped, unrecorded }: ApplyResult): boolean {
  return refused + inDoubt + notSent === 0 && stopped === null && unrecorded === null
}

function nothing(): ApplyResult {
  return { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0, sent: false, stopped: null, refusals: [], unrecorded: null }
}

function add(to: ApplyResult, more: ApplyResult): void {
  to.confirmed += more.confirmed
  to.refused += more.refused
  to.inDoubt += more.inDoubt
  to.notSent += more.notSent
  to.sent ||= more.sent
  to.stopped ??= more.stopped
  to.refusals.push(...more.refusals)
  to.unrecorded ??= more.unrecorded
}
