import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import { currentWave, type Rollout } from '../model/rollout.ts'
import type { Recorded } from '../state/store.ts'
import type { ApplyEvent } from '../model/events.ts'
import type { ApplyResult } from '../apply/run.ts'
import { fail, stop } from './end-rollout.ts'
import { partOf, recordMoved } from './wave-part.ts'
import { add, isWhole, nothing } from './add-results.ts'

/** What came of looking after a wave; null when the watch was interrupted. */
export type Watched = { passed: true } | { passed: false; worse: boolean; reason: string } | null

/** What came of taking a rollout back, and in words what of it can't be; null where all can. */
export interface Back {
  result: ApplyResult
  lost: string | null
}

/** What a rollout works with. */
export interface RolloutContext {
  /** Carries a part of the plan out as an apply of its own, while the lock is held. */
  apply(part: Plan, id: string, recorded: Recorded): Promise<ApplyResult>
  /** Refuses before a wave begins what may not begin, can't be sent, or could not be watched. */
  prepare(domains: Domain[], part: Plan, recorded: Recorded): Promise<void>
  /** Waits until there is an undisturbed time before the wave to compare it with; null where there is one. */
  undisturbed(rollout: Rollout, wave: number, domains: Domain[], recorded: Recorded): (() => Promise<void>) | null
  /** Waits until the next wave may begin. */
  watch(rollout: Rollout, wave: number): Promise<Watched>
  /** Whether there is anything to wait for after a wave. */
  waits(rollout: Rollout, wave: number): boolean
  /** Whether waves are judged by what they bring about. */
  judges: boolean
  /** Takes back what the rollout changed; null when a health check only stops. The reason when nothing of it can be. */
  takeBack: ((rollout: Rollout, recorded: Recorded, why: string) => Promise<Back | string>) | null
  /** Does something while others may have the lock. After an interruption the lock is not taken again. */
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

/** How far it is. */
interface Way {
  rollout: Rollout
  recorded: Recorded
  /** What came of it so far, and the last wave whose writes are counted in it. */
  result: ApplyResult
  counted: number
}

/**
 * Lets a plan out wave by wave. Between waves the lock is free. What goes on is recorded, so that another process can take over:
 * each of them looks first at what is recorded, and does the next step if nobody has done it.
 *
 * @param rollout a new one, or the one that the plan goes on with
 * @throws EdgewiseError what ends it before anything is sent
 */
export async function letOut(plan: Plan, rollout: Rollout, recorded: Recorded, context: RolloutContext): Promise<ApplyResult> {
  const result = nothing()
  const { id, waves } = rollout
  const releases = plan.changes.filter(({ action }) => action === 'release').length
  context.tell({ type: 'apply.started', time: context.time(), apply: id, writes: plan.writes.length, releases, waves: waves.length })
  const way: Way = { rollout, recorded, result, counted: 0 }
  try {
    await steps(plan, way, context)
  } catch (error) {
    if (!(error instanceof EdgewiseError) || !result.sent) throw error
    const at = `wave ${(currentWave(way.rollout) ?? waves.length - 1) + 1} of ${waves.length}`
    result.stopped ??= `${error.message}; the rollout stays open at ${at}, and the next apply goes on with it`
  }
  result.notSent += plan.writes.filter(({ wave }) => wave > way.counted).length
  const { confirmed, refused, inDoubt, notSent, stopped, takenBack } = result
  const counts = { confirmed, refused, inDoubt, notSent, ...(takenBack === undefined ? {} : { takenBack }) }
  context.tell({ type: 'apply.finished', time: context.time(), apply: id, stopped, ...counts })
  return result
}

async function steps(plan: Plan, way: Way, context: RolloutContext): Promise<void> {
  const { result } = way
  const first = currentWave(way.rollout)
  for (let at = first; at !== null; at = currentWave(way.rollout)) {
    const name = `wave ${at + 1} of ${way.rollout.waves.length}`
    const part = partOf(plan, way.rollout, at, at === first)
    let whole = true
    if (part.changes.length > 0) {
      const [moved] = recordMoved(part, way.recorded)
      if (moved !== undefined) return leave(`the record of ${moved} changed since the plan was made; apply again`, result)
      const domains = [...new Set(part.writes.flatMap((write) => write.domains))]
      const wait = way.rollout.waves[at]?.applied === null ? context.undisturbed(way.rollout, at, domains, way.recorded) : null
      if (wait !== null) {
        await context.keep(way.rollout, `Rollout ${way.rollout.id}: ${name} waits for figures of the time before it`)
        await context.whileFree(wait)
        const gone = await lookAgain(way, context)
        if (gone !== null) return leave(gone, result)
        continue
      }
      await context.prepare(domains, part, way.recorded)
      const done = await one(part, at, way, context)
      whole = isWhole(done)
      const early = done.stopped !== null || done.unrecorded !== null
      if (!whole && context.signal.aborted) return
      if (!whole && (early || !context.judges)) return stop(way.rollout, `${name} was not carried out whole`, [], result, context)
      await context.keep(way.rollout, `Rollout ${way.rollout.id}: ${name} is applied`)
    }
    way.counted = at + 1
    // The process that sent the wave died before it could say when that was over.
    if (way.rollout.waves[at]?.applied?.to === null) way.rollout = ended(way.rollout, at, context)
    // Of a wave that others have brought about there is nothing to see.
    if (way.rollout.waves[at]?.applied !== null && context.waits(way.rollout, at)) {
      const watched = await context.whileFree(() => context.watch(way.rollout, at))
      const gone = await lookAgain(way, context)
      if (gone !== null || watched === null) return leave(gone ?? interrupted, result)
      // Another process has gone on meanwhile.
      if (currentWave(way.rollout) !== at) continue
      if (!watched.passed) return fail(way.rollout, at, watched, way.recorded, result, context)
    }
    if (!whole) return stop(way.rollout, `${name} was not carried out whole`, [], result, context)
    const passed = withWave(way.rollout, at, { passed: true })
    if (currentWave(passed) !== null) await context.keep(passed, `Rollout ${passed.id}: ${name} passed`)
    way.rollout = passed
  }
  await context.drop(way.rollout, `Rollout ${way.rollout.id}: complete`)
}

const interrupted = 'interrupted; apply again to go on with the rollout'

/** What others did while the lock was free. Why the rollout does not go on here, or null. */
async function lookAgain(way: Way, context: RolloutContext): Promise<string | null> {
  if (context.signal.aborted) return interrupted
  const { recorded, rollout } = await context.reload(way.rollout.id)
  if (rollout === null) return 'another apply has ended this rollout'
  Object.assign(way, { recorded, rollout })
  return null
}

/** Carries a wave out; that it was begun is recorded before, so that it can be taken back whatever happens. */
async function one(part: Plan, at: number, way: Way, context: RolloutContext): Promise<ApplyResult> {
  const before = way.rollout
  const id = `${before.id}-w${before.applies.length + 1}`
  const from = before.waves[at]?.applied?.from ?? context.time()
  way.rollout = withWave({ ...before, applies: [...before.applies, id] }, at, { applied: { from, to: null } })
  await context.keep(way.rollout, `Rollout ${before.id}: begins wave ${at + 1} of ${before.waves.length}`)
  const result = await context.apply(part, id, way.recorded)
  add(way.result, result)
  way.counted = at + 1
  way.rollout = ended(way.rollout, at, context)
  return result
}

/** The rollout stays open for whoever applies next, or was ended by somebody else. */
function leave(why: string, result: ApplyResult): void {
  result.stopped = why
}

function withWave(rollout: Rollout, at: number, more: Partial<Rollout['waves'][number]>): Rollout {
  return { ...rollout, waves: rollout.waves.map((wave, i) => (i === at ? { ...wave, ...more } : wave)) }
}

/** Somebody may have set the clock back meanwhile. */
function ended(rollout: Rollout, at: number, context: RolloutContext): Rollout {
  const now = context.time()
  const from = rollout.waves[at]?.applied?.from ?? now
  return withWave(rollout, at, { applied: { from, to: Date.parse(now) < Date.parse(from) ? from : now } })
}
