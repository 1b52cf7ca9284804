import { chosenSnapshots, rollback as planRollback, type LoadedWorkspace, type Recorded, type Rollback, type Store } from '../index.ts'
import { diffSnapshots } from '../diff/diff-snapshots.ts'
import { rollbackSuffix } from '../operations/find-change.ts'
import { withoutUnmanaged } from '../operations/plan-rollback.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { irreversibleText, someOf } from '../report/apply/rollback-text.ts'
import { visible } from '../report/text/visible.ts'
import { carryOut } from './carry-out.ts'
import type { GuardOptions, LockOptions, SelectionOptions } from './commands/options.ts'
import { exits } from './exits.ts'
import type { CommandContext } from './io.ts'
import { withLock, type Locked } from './lock.ts'
import { openWorkspace } from './open.ts'
import { refuseUnknownItems } from '../operations/refuse-unknown-items.ts'

type RollbackOptions = SelectionOptions & GuardOptions & LockOptions

/**
 * `edgewise rollback`: plans the way back to what was recorded before an apply, shows it, asks, and carries it out. The
 * manifests need not be valid: the way back is found in the record.
 */
export async function rollback(context: CommandContext, [name]: unknown[], options: RollbackOptions): Promise<number> {
  const workspace = openWorkspace(context, 'at hand')
  const apply = typeof name === 'string' ? name : null
  return withLock(context, workspace, 'rollback', options.lockTimeout, (locked) => takeBack(context, workspace, apply, options, locked))
}

async function takeBack(
  context: CommandContext,
  workspace: LoadedWorkspace,
  name: string | null,
  options: RollbackOptions,
  locked: Locked,
): Promise<number> {
  const { store } = locked
  const recorded = await store.load()
  refuseUnknownItems(options.item)
  const wholly = options.target.length + options.item.length === 0 ? name : null
  const found = await planRollback(workspace, store, recorded, { target: options.target, items: options.item }, name).catch(
    async (error: unknown) => {
      // Nothing more will ever go back of it.
      if (error instanceof EdgewiseError && error.code === 'irreversible') await endTakingBack(store, wholly)
      throw error
    },
  )
  tellWay(context, found)
  const code = await carryOut(context, workspace, found.plan, {
    ...options,
    locked,
    recorded,
    // Back is where everything was before: the sooner the better.
    waves: false,
    asks: true,
    suffix: rollbackSuffix,
  })
  await leaveUnmanaged(context, store, recorded, found)
  if (code === exits.done) await endTakingBack(store, wholly)
  tellManifests(context, workspace, recorded, found)
  return code
}

/** Which apply is taken back, what of it can't be, and what else goes with it. */
function tellWay(context: CommandContext, { applies, plan, irreversible, later }: Rollback): void {
  const { io, errPaint } = context
  const [first] = applies
  if (first === undefined) return
  const by = first.author === null ? '' : ` by ${visible(first.author)}`
  const commit = first.commit === null ? '' : `, of commit ${visible(first.commit).slice(0, 12)}`
  const what = applies.length === 1 ? `apply ${visible(first.id)}` : `the ${applies.length} applies from ${visible(first.id)}`
  context.note(`Back to what was recorded before ${what}${by}, begun ${first.startedAt}${commit}.`)
  if (irreversible.length > 0) io.err(`${errPaint.yellow("can't be taken back:")}\n${irreversibleText(irreversible, io.columns)}\n`)
  if (later.domains.length > 0) {
    const count = later.domains.length === 1 ? '1 domain' : `${later.domains.length} domains`
    const note = `what was recorded since of the same items goes as well: ${count} (${someOf(later.domains.map(visible))}), by ${someOf(later.applies.map(visible))}`
    context.note(`${errPaint.yellow('note:')} ${note}`)
  }
  if (plan.changes.length === 0) context.note('Everything that it changed is as it was before.')
}

/** Takes items out of the record that were not in it before; they are unset now. */
async function leaveUnmanaged(context: CommandContext, store: Store, recorded: Recorded, found: Rollback): Promise<void> {
  const left = withoutUnmanaged(found, recorded)
  if (left.size === 0) return
  try {
    await store.save(left, `Rollback: what was not recorded before is no longer recorded (${someOf([...left.keys()])})`)
    for (const [domain, items] of left) recorded.set(domain, items)
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    context.note(`Items that were not recorded before stay recorded as unset (${visible(error.message)}); the next apply releases them.`)
  }
}

/** What a health check could not take back to the end is taken back now. */
async function endTakingBack(store: Store, name: string | null): Promise<void> {
  const rollout = (await store.rollouts()).find(({ id, state }) => id === name && state === 'taking-back')
  if (rollout !== undefined) await store.keepRollout({ ...rollout, state: 'taken-back' }, `Rollout ${rollout.id}: taken back`)
}

/** The next apply carries out what the manifests say, whatever was taken back. */
function tellManifests(context: CommandContext, workspace: LoadedWorkspace, recorded: Recorded, { applies, plan }: Rollback): void {
  if (plan.changes.length === 0) return
  const valid = workspace.diagnostics.every(({ severity }) => severity !== 'error')
  const taken = new Set(plan.changes.map(({ domain, item }) => `${domain} ${item}`))
  const snapshots = chosenSnapshots(workspace, recorded, { target: [], items: [] })
  const asked = valid
    ? diffSnapshots(snapshots.recorded, snapshots.desired).changes.filter(({ domain, item }) => taken.has(`${domain} ${item}`)).length
    : taken.size
  if (asked === 0) return
  const commit = applies.at(-1)?.commit
  const named = commit === null || commit === undefined ? '' : ` ${visible(commit).slice(0, 12)}`
  const revert = `git revert${named}${named === '' ? '' : ', with -m 1 if that is a merge'}`
  context.note(
    `The manifests still ask for ${asked === 1 ? '1 item' : `${asked} items`} as before the rollback: the next apply brings that again unless they are reverted (${revert}).`,
  )
}
