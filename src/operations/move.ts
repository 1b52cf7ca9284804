import { CancelledError, EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain } from '../model/item.ts'
import type { Rollout } from '../model/rollout.ts'
import { listSome } from '../model/words.ts'
import { escapeInvisible } from '../report/text/escape-invisible.ts'
import { loadLocked } from './load-locked.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import type { Ports } from './ports.ts'
import { selectRecorded } from './select-recorded.ts'
import { withLock, type LockRequest } from './with-lock.ts'

/** Domains to hand over to another workspace of the same store. */
export interface MoveRequest extends LockRequest {
  domains: Domain[]
  /** Id of that workspace. */
  to: string
}

/** Moved domains and items: their numbers, and a description. */
export interface Moved {
  domains: number
  items: number
  what: string
}

/**
 * Locks, asks, and moves the state of domains to another workspace, which manages them from then
 * on. The history stays here, and the service is unchanged.
 *
 * @throws EdgewiseError `usage` when a domain is not recorded, `rollout-open` when an unfinished
 * rollout has it, `owned-elsewhere` when the other workspace can't take it, `declined`
 */
export async function move(
  workspace: LoadedWorkspace,
  request: MoveRequest,
  ports: Ports,
): Promise<Moved> {
  const { to } = request
  if (to === workspace.config.id)
    throw new EdgewiseError(
      'usage',
      `the state is already that of the workspace "${to}"`,
      'Pass the id of another workspace with --to.',
    )
  return withLock(workspace, 'state move', 'account', request, ports, async ({ store }) => {
    const moving = selectRecorded(await loadLocked(store, ports.dialogue), request.domains)
    const domains = [...moving.keys()]
    const rollouts = await store.listRollouts()
    refuseInRollout(rollouts, domains)
    const items = [...moving.values()].reduce((sum, { size }) => sum + size, 0)
    const what = listSome(domains)
    if (!(await store.knowsWorkspace(to)))
      ports.dialogue.warn(`the store has no state of a workspace "${to}" yet.`)
    if (!(await ports.dialogue.confirm({ kind: 'move', what, items, to })))
      throw new CancelledError('Move cancelled: nothing was moved')
    ports.outside.onPhase?.({ name: 'saving-state', total: moving.size })
    await store.move(moving, to, `Move ${what} to the workspace ${to}`)
    ports.dialogue.note(
      `Move ${moving.size === 1 ? 'its manifest' : 'their manifests'} to that workspace: ` +
        `plan here refuses ${moving.size === 1 ? 'it' : 'them'} otherwise.`,
    )
    const onHold = domains.filter((domain) =>
      rollouts.some((each) => Object.hasOwn(each.onHold, domain)),
    )
    if (onHold.length > 0)
      ports.dialogue.note(
        `Values of ${listSome(onHold)} stay on hold there until somebody repeats them.`,
      )
    return { domains: moving.size, items, what }
  })
}

function refuseInRollout(rollouts: Rollout[], domains: Domain[]): void {
  for (const { id, state, asked } of rollouts) {
    const unfinished = state === 'open' || state === 'taking-back'
    const domain = domains.find((name) => Object.hasOwn(asked, name))
    if (!unfinished || domain === undefined) continue
    const rollout = escapeInvisible(id)
    throw new EdgewiseError(
      'rollout-open',
      `the rollout ${rollout} of ${domain} is unfinished; nothing was moved`,
      state === 'open'
        ? 'Finish it with "edgewise apply", or end it in its current state with ' +
            '"edgewise apply --supersede".'
        : `Finish it with "edgewise rollback ${rollout}", or apply the manifests over it with ` +
            '"edgewise apply --supersede".',
    )
  }
}
