import { resolve } from 'node:path'
import { askedOf, chosenSnapshots, plan as makePlan, type LoadedWorkspace, type PlanOptions, type Recorded, type Store } from '../index.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Snapshot } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout } from '../model/rollout.ts'
import { hashes } from '../plan/basis.ts'
import { parseSavedPlan, refuseStale, type SavedPlan } from '../plan/saved-plan.ts'
import { standingOf } from '../rollout/conflicts.ts'
import { planJson } from '../report/plan/json.ts'
import { visible } from '../report/text/visible.ts'
import { parseJson } from '../state/format/domain-file.ts'
import { carryOut } from './carry-out.ts'
import type { GuardOptions, LockOptions, SelectionOptions } from './commands/options.ts'
import type { CommandContext } from './io.ts'
import { withLock, type Locked } from './lock.ts'
import { selectionOf, validWorkspace } from './open.ts'
import { readIn } from './read-in.ts'
import { rolloutsInPlans } from './rollouts.ts'

interface ApplyOptions extends SelectionOptions, GuardOptions, LockOptions {
  /** False with `--no-waves`. */
  waves: boolean
  retryHeld?: boolean
  stopOnRefusal?: boolean
}

/** `edgewise apply`: takes the lock, plans, shows, asks, and carries the plan out. */
export async function apply(context: CommandContext, [planFile]: unknown[], options: ApplyOptions): Promise<number> {
  const workspace = validWorkspace(context, 'at hand')
  const file = typeof planFile === 'string' ? planFile : null
  return withLock(context, workspace, 'apply', options.lockTimeout, (record) => locked(context, workspace, file, options, record))
}

async function locked(
  context: CommandContext,
  workspace: LoadedWorkspace,
  planFile: string | null,
  options: ApplyOptions,
  record: Locked,
): Promise<number> {
  const { store } = record
  const recorded = await store.load()
  tellUnfinished(context, store, recorded)
  const plan =
    planFile === null
      ? await makePlan(workspace, recorded, selectionOf(options, workspace, recorded), await planning(store, options))
      : await savedPlan(resolve(context.io.cwd, planFile), workspace, recorded, store, options)
  // A saved plan was looked at when it was made.
  return carryOut(context, workspace, plan, { ...options, locked: record, recorded, asks: planFile === null, finishes: true })
}

/** What of the store's rollouts a plan has to do with. */
async function planning(store: Store, { waves, supersede, retryHeld }: ApplyOptions): Promise<PlanOptions> {
  return {
    rollouts: rolloutsInPlans(await store.rollouts(), { supersede }),
    retryHeld: retryHeld === true,
    atOnce: !waves,
  }
}

/** Plans what a plan file is about again, and refuses the file unless it says exactly the same. */
async function savedPlan(path: string, workspace: LoadedWorkspace, recorded: Recorded, store: Store, options: ApplyOptions): Promise<Plan> {
  if (options.target.length + options.item.length > 0)
    throw new EdgewiseError('usage', 'a saved plan has its own choice of domains and items', 'Leave --target and --item out.')
  const { itemKeys } = workspace.config.service
  const saved = parseSavedPlan(parseJson(readIn(path, `the plan file ${path}`)))
  // A plan is always made in waves, so that it can be compared; --no-waves sends the same writes at once.
  const how = { ...(await planning(store, options)), atOnce: false }
  const now = await makePlan(workspace, recorded, saved.selection, { ...how, effort: saved.effort })
  const snapshots = chosenSnapshots(workspace, recorded, saved.selection)
  if (!goesOn(saved, snapshots.desired, standing(now, how, workspace)))
    refuseStale(
      saved,
      now,
      planJson(now, (key) => itemKeys[key] ?? key),
      snapshots,
    )
  return options.waves ? now : { ...now, writes: now.writes.map((write) => ({ ...write, wave: 1 })) }
}

function standing(now: Plan, { rollouts = [] }: PlanOptions, workspace: LoadedWorkspace): Rollout | null {
  return standingOf(new Set(now.changes.map(({ domain }) => domain)), now.basis, rollouts, askedOf(workspace)).continued
}

/** Whether what the file planned is a rollout already: the rest of it is as it was looked at. */
function goesOn({ desired: planned }: SavedPlan, desired: Snapshot, continued: Rollout | null): boolean {
  const domains = Object.keys(planned)
  if (continued === null || Object.keys(continued.asked).length !== domains.length) return false
  const is = hashes(desired, domains)
  return domains.every((domain) => continued.asked[domain] !== undefined && is[domain] === planned[domain])
}

/** What earlier applies left without a certain outcome. */
function tellUnfinished(context: CommandContext, store: Store, recorded: Recorded): void {
  for (const { id, author, startedAt, writes } of store.cutOff()) {
    const count = writes.inDoubt === 1 ? '1 write' : `${writes.inDoubt} writes`
    context.note(`Apply ${id}${author === null ? '' : ` by ${visible(author)}`}, begun ${startedAt}, was cut off with ${count} in doubt.`)
  }
  const doubted = [...recorded].filter(([, items]) => [...items.values()].some((held) => held.status === 'in-doubt'))
  if (doubted.length === 0) return
  const names = doubted.slice(0, 3).map(([domain]) => domain)
  const more = doubted.length > names.length ? ` and ${doubted.length - names.length} more` : ''
  context.note(`An earlier apply left items in doubt on ${names.join(', ')}${more}; they are written again.`)
}
