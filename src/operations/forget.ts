import type { Comparable } from './runtime/parts.ts'
import { CancelledError, EdgewiseError } from '../core/model/edgewise-error.ts'
import type { Domain, ItemKey } from '../core/model/item.ts'
import { listSome } from '../core/model/text/words.ts'
import type { RecordedState } from '../state/store/store.ts'
import { lockDomains } from './runtime/lock-selection.ts'
import type { Ports } from './runtime/ports.ts'
import type { LockRequest } from './runtime/with-lock.ts'
import { withState } from './runtime/with-state.ts'
import { quoteAll } from './submission/select.ts'
import { describeAct } from './history/describe-act.ts'
import { refuseInRollout } from './history/renamed-domains.ts'

/** Domains and items to remove from state. */
export interface ForgetRequest extends LockRequest {
  domains: Domain[]
  /** Only these items; all when empty. */
  items?: ItemKey[]
}

/** Removed or moved domains and items: their numbers, and a description. */
export interface Forgotten {
  domains: number
  items: number
  what: string
}

/**
 * Locks, asks, and removes domains, or some of their items, from state. The service is unchanged.
 *
 * @throws EdgewiseError `usage` when a domain or item is not recorded, `declined`
 */
export async function forget(
  workspace: Comparable,
  request: ForgetRequest,
  ports: Ports,
): Promise<Forgotten> {
  const purpose = { reason: 'state forget', selection: lockDomains(request.domains) }
  return withState(workspace, purpose, request, ports, async ({ store, by }, recorded) => {
    const { left, items, what } = dropItems(
      selectRecorded(recorded, request.domains),
      request.items ?? [],
    )
    if (!(await ports.dialogue.confirm({ kind: 'forget', what, items })))
      throw new CancelledError('Forget cancelled: nothing was removed from state')
    ports.outside.onPhase?.({ name: 'saving-state', total: left.size })
    store.chain.add(describeAct(ports.outside, 'forget', what, { by }))
    await store.save(left, `Forget ${what}`)
    return { domains: left.size, items, what }
  })
}

function dropItems(
  selected: RecordedState,
  items: ItemKey[],
): { left: RecordedState; items: number; what: string } {
  const left: RecordedState = new Map()
  let count = 0
  for (const [domain, known] of selected) {
    const missing = items.find((item) => !known.has(item))
    if (missing !== undefined) {
      throw new EdgewiseError(
        'usage',
        `the item "${missing}" of ${domain} is not recorded`,
        `"edgewise show ${domain}" lists its recorded items.`,
      )
    }
    const remaining = new Map(
      items.length === 0 ? [] : [...known].filter(([item]) => !items.includes(item)),
    )
    count += known.size - remaining.size
    left.set(domain, remaining)
  }
  return {
    left,
    items: count,
    what: `${items.length === 0 ? 'all' : items.join(', ')} of ${listSome([...selected.keys()])}`,
  }
}

/**
 * Selects recorded domains by name, in upper or lower case.
 *
 * @throws EdgewiseError `usage` with every domain that is not recorded
 */
export function selectRecorded(recorded: RecordedState, names: string[]): RecordedState {
  const domains = names.map((name) => name.toLowerCase())
  const unknown = domains.filter((domain) => !recorded.has(domain))
  if (unknown.length > 0)
    throw new EdgewiseError(
      'usage',
      `no state is recorded for ${quoteAll(unknown)}`,
      '"edgewise state list" lists all recorded domains.',
    )
  return new Map(domains.map((domain) => [domain, recorded.get(domain) ?? new Map()]))
}

/** Domains to hand over to another workspace of the same store. */
export interface MoveRequest extends LockRequest {
  domains: Domain[]
  /** Id of that workspace. */
  to: string
}

/**
 * Locks, asks, and moves the state of domains to another workspace, which manages them from then
 * on. The history stays here, and the service is unchanged.
 *
 * @throws EdgewiseError `usage` when a domain is not recorded, `rollout-open` when an unfinished
 * rollout has it, `owned-elsewhere` when the other workspace can't take it, `declined`
 */
export async function move(
  workspace: Comparable,
  request: MoveRequest,
  ports: Ports,
): Promise<Forgotten> {
  const { to } = request
  if (to === workspace.config.id)
    throw new EdgewiseError(
      'usage',
      `the state is already that of the workspace "${to}"`,
      'Pass the id of another workspace with --to.',
    )
  const purpose = { reason: 'state move', selection: 'account' } as const
  return withState(workspace, purpose, request, ports, async ({ store, by }, recorded) => {
    const moving = selectRecorded(recorded, request.domains)
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
    store.chain.add(describeAct(ports.outside, 'move', what, { by, outcome: `to ${to}` }))
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
