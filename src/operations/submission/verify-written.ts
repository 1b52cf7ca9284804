import { throwDefect } from '../../core/model/edgewise-error.ts'
import { setItem, type Domain } from '../../core/model/item.ts'
import { nameFields } from '../../core/catalog/hidden-fields.ts'
import type { DriftItem, Verified } from '../../core/model/drift.ts'
import { groupBy, addUp } from '../../core/model/lists.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { RecordedState, StateWriter } from '../../state/store/store.ts'
import { compareLive } from '../observation/compare-live.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import type { Ports } from '../runtime/ports.ts'
import type { Executed } from './executed.ts'

/**
 * Reads back what an apply has confirmed. State keeps what was sent; an item that the service has
 * otherwise is marked in state. That, and a domain that it does not return, makes the apply
 * incomplete. A failure to read or to mark changes nothing else: what was confirmed stays so.
 *
 * @param before state before the apply
 */
export async function verifyWritten(
  workspace: LoadedWorkspace,
  executed: Executed,
  before: RecordedState,
  store: StateWriter,
  { outside, dialogue }: Ports,
): Promise<Executed> {
  const written = selectConfirmed(executed, before)
  const total = addUp(written.values(), (items) => items.size)
  if (total === 0) return executed
  const verified: Verified = { same: 0, notVerifiable: [], differs: [], unknown: 0, failure: null }
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      throwDefect(error)
      verified.failure = error.message
    }
  }
  await attempt(async () => {
    const { same, partly, open } = await compareLive(workspace, written, outside)
    const missing = new Set<Domain>()
    for (const { domain, item, kinds } of open)
      if (kinds.includes('live')) verified.differs.push({ domain, item })
      else missing.add(domain)
    Object.assign(verified, { same, notVerifiable: countByFields(partly) })
    if (missing.size > 0)
      verified.failure = `the service has no configuration of ${listSome([...missing])}`
  })
  const partly = addUp(verified.notVerifiable, ({ domains }) => domains)
  verified.unknown = total - verified.same - partly - verified.differs.length
  const { recorded, unrecorded } = executed.result
  // Otherwise state lacks outcomes of this apply, and the mark is no better.
  const marked = unrecorded === null ? markDiffering(recorded, verified.differs) : new Map()
  if (marked.size > 0)
    await attempt(() => store.save(marked, `Read back: items of ${marked.size} domains differ`))
  await dialogue.show({ kind: 'verified', verified })
  const isWhole = verified.differs.length === 0 && verified.failure === null
  const result = { ...executed.result, recorded: new Map([...recorded, ...marked]) }
  return isWhole || executed.status === 'not-begun'
    ? { ...executed, result }
    : { ...executed, result, status: 'incomplete', isVerified: false }
}

/** Selects what the writes of a plan have left as confirmed or unset. */
function selectConfirmed({ plan, result }: Executed, before: RecordedState): RecordedState {
  const selected: RecordedState = new Map()
  for (const { domains, items } of plan.writes)
    for (const domain of domains)
      for (const item of Object.keys(items)) {
        const state = result.recorded.get(domain)?.get(item)
        if (state === undefined || state.status === 'in-doubt') continue
        // It was refused or not sent.
        const known = before.get(domain)?.get(item)
        const isNew = state.apply !== known?.apply || state.at !== known.at
        if (!isNew && state.status === known.status) continue
        setItem(selected, domain, item, state)
      }
  return selected
}

function countByFields(items: DriftItem[]): Verified['notVerifiable'] {
  const named = items.map(({ item, notVerifiable }) => ({
    item,
    fields: nameFields(notVerifiable),
  }))
  const groups = groupBy(named, (each) => JSON.stringify(each))
  return Array.from(groups.values(), (same) => ({
    ...same[0],
    domains: same.length,
  }))
}

/** Returns the new state of the domains with an item that differs. */
function markDiffering(recorded: RecordedState, differs: Verified['differs']): RecordedState {
  const marked: RecordedState = new Map()
  for (const { domain, item } of differs) {
    const items = recorded.get(domain)
    const state = items?.get(item)
    if (state !== undefined) setItem(marked, domain, item, { ...state, differs: true }, items)
  }
  return marked
}
