import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Verified } from '../model/verified.ts'
import type { RecordedItem, RecordedState, Store } from '../state/store.ts'
import { observe } from './drift.ts'
import { findDrift } from './find-drift.ts'
import type { LoadedWorkspace } from './load-workspace.ts'
import { observeLive } from './observe-live.ts'
import type { Ports } from './ports.ts'
import type { Executed } from './submit-plan.ts'

/** Number of times that differing items are read: a write may take some time to be seen. */
const maxReads = 3

/**
 * Reads back what an apply has confirmed. State keeps what was sent; an item that the service has
 * otherwise is marked in state, and makes the apply incomplete. A failure to read changes nothing
 * else: what was confirmed stays so.
 */
export async function verifyWritten(
  workspace: LoadedWorkspace,
  executed: Executed,
  store: Store,
  { outside, dialogue }: Ports,
): Promise<Executed> {
  let left = selectConfirmed(executed)
  const total = count(left)
  if (total === 0) return executed
  const verified: Verified = { same: 0, differs: [], unknown: 0, failure: null }
  try {
    for (let read = 1; count(left) > 0 && read <= maxReads; read++) {
      if (read > 1)
        await outside.clock.sleep(workspace.config.service.settleSeconds * 1000, outside.signal)
      const { same, differs, unknown } = await compare(workspace, left, outside)
      verified.same += same
      verified.unknown += unknown
      verified.differs = differs
      left = pick(left, differs)
    }
  } catch (error) {
    if (!(error instanceof EdgewiseError)) throw error
    verified.failure = error.message
    verified.unknown = total - verified.same - verified.differs.length
  }
  const marked = markDiffering(executed.result.recorded, verified.differs)
  if (marked.size > 0) await store.save(marked, `Read back: items of ${marked.size} domains differ`)
  dialogue.show({ kind: 'verified', verified })
  const isWhole = verified.differs.length === 0 && verified.failure === null
  const recorded = new Map([...executed.result.recorded, ...marked])
  const result = { ...executed.result, recorded }
  return isWhole || executed.status === 'not-begun'
    ? { ...executed, result }
    : { ...executed, result, status: 'incomplete' }
}

/** Selects what the writes of a plan have left as confirmed or unset. */
function selectConfirmed({ plan, result }: Executed): RecordedState {
  const selected: RecordedState = new Map()
  for (const { domains, items } of plan.writes)
    for (const domain of domains)
      for (const item of Object.keys(items)) {
        const state = result.recorded.get(domain)?.get(item)
        if (state === undefined || state.status === 'in-doubt') continue
        const own = selected.get(domain) ?? new Map<ItemKey, RecordedItem>()
        selected.set(domain, own.set(item, state))
      }
  return selected
}

async function compare(
  workspace: LoadedWorkspace,
  written: RecordedState,
  outside: Ports['outside'],
): Promise<Pick<Verified, 'same' | 'differs' | 'unknown'>> {
  const live = { observe: () => observeLive(workspace, listItems(written), outside) }
  const selection = { target: [...written.keys()], items: [] }
  const observation = await observe(live, { workspace, recorded: written, selection }, outside)
  const { drift } = findDrift(workspace, written, observation)
  const own = drift.items.filter(({ domain, item }) => written.get(domain)?.has(item) === true)
  const differs = own.filter(({ kinds }) => kinds.includes('live'))
  const isSame = (each: (typeof own)[number]) =>
    each.confidence === 'verified' && !each.kinds.includes('live')
  const same = own.filter(isSame).length
  return {
    same,
    differs: differs.map(({ domain, item }) => ({ domain, item })),
    unknown: own.length - same - differs.length,
  }
}

function listItems(state: RecordedState): Map<Domain, ItemKey[]> {
  return new Map([...state].map(([domain, items]) => [domain, [...items.keys()]]))
}

function pick(state: RecordedState, wanted: Verified['differs']): RecordedState {
  const picked: RecordedState = new Map()
  for (const { domain, item } of wanted) {
    const found = state.get(domain)?.get(item)
    const own = picked.get(domain) ?? new Map<ItemKey, RecordedItem>()
    if (found !== undefined) picked.set(domain, own.set(item, found))
  }
  return picked
}

/** Returns the new state of the domains with an item that differs. */
function markDiffering(recorded: RecordedState, differs: Verified['differs']): RecordedState {
  const marked: RecordedState = new Map()
  for (const { domain, item } of differs) {
    const items = marked.get(domain) ?? new Map(recorded.get(domain))
    const state = items.get(item)
    if (state !== undefined) marked.set(domain, items.set(item, { ...state, differs: true }))
  }
  return marked
}

function count(state: RecordedState): number {
  return [...state.values()].reduce((sum, items) => sum + items.size, 0)
}
