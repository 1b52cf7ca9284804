import { throwDefect } from '../../core/model/edgewise-error.ts'
import { setItem, type Domain, type ItemKey } from '../../core/model/item.ts'
import { nameFields } from '../../core/catalog/hidden-fields.ts'
import type { DriftItem, Verified } from '../../core/model/drift.ts'
import { append, groupBy, addUp } from '../../core/model/lists.ts'
import { listSome } from '../../core/model/text/words.ts'
import type { QueryClient } from '../../service/query/query-client.ts'
import type { RecordedItem, RecordedState, StateWriter } from '../../state/store/store.ts'
import { observe } from '../drift.ts'
import { findDrift } from '../observation/find-drift.ts'
import type { LoadedWorkspace } from '../runtime/load-workspace.ts'
import { readManaged } from '../observation/observe-live.ts'
import type { Ports } from '../runtime/ports.ts'
import type { Executed } from './executed.ts'
import { withQueries } from '../runtime/connect.ts'

/** Number of times that differing items are read: a write may take some time to be seen. */
const maxReads = 3

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
  const total = count(written)
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
  await attempt(() => readRepeatedly(workspace, written, verified, outside))
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

/** Reads until nothing differs, and all domains were returned; all reads have the same pace. */
function readRepeatedly(
  workspace: LoadedWorkspace,
  written: RecordedState,
  verified: Verified,
  outside: Ports['outside'],
): Promise<void> {
  return withQueries(workspace, { outside }, async (queries) => {
    let left = written
    let missing: Domain[] = []
    const partly: DriftItem[] = []
    for (let read = 1; count(left) > 0 && read <= maxReads; read++) {
      if (read > 1)
        await outside.clock.sleep(workspace.config.service.settleSeconds * 1000, outside.signal)
      const found = await compare(workspace, queries, left, outside)
      verified.same += found.same
      append(partly, found.partly)
      verified.differs = found.differs
      missing = found.missing
      left = pick(left, [...found.differs, ...found.unread])
    }
    verified.notVerifiable = countByFields(partly)
    if (missing.length > 0)
      verified.failure = `the service has no configuration of ${listSome(missing)}`
  })
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
        if (isSameRecording(state, before.get(domain)?.get(item))) continue
        setItem(selected, domain, item, state)
      }
  return selected
}

function isSameRecording(a: RecordedItem, b: RecordedItem | undefined): boolean {
  return a.apply === b?.apply && a.at === b.at && a.status === b.status
}

/** Written items by what one read shows; the others can't be compared. */
interface Compared {
  same: number
  /** Items that agree but for fields that the service does not show. */
  partly: DriftItem[]
  differs: Verified['differs']
  /** Items of the domains that the service did not return. */
  unread: Verified['differs']
  missing: Domain[]
}

async function compare(
  workspace: LoadedWorkspace,
  queries: QueryClient,
  written: RecordedState,
  outside: Ports['outside'],
): Promise<Compared> {
  const live = { observe: () => readManaged(workspace, queries, listItems(written), outside) }
  const selection = { target: [...written.keys()], items: [] }
  const observation = await observe(live, { workspace, recorded: written, selection }, outside)
  const { drift, observed } = findDrift(workspace, written, observation)
  const own = drift.items.filter(({ domain, item }) => written.get(domain)?.has(item) === true)
  const agreeing = own.filter(
    ({ confidence, kinds, ignored }) =>
      confidence === 'verified' && !kinds.includes('live') && ignored === undefined,
  )
  const name = ({ domain, item }: DriftItem) => ({ domain, item })
  return {
    same: agreeing.filter(({ notVerifiable }) => notVerifiable.length === 0).length,
    partly: agreeing.filter(({ notVerifiable }) => notVerifiable.length > 0),
    differs: own.filter(({ kinds }) => kinds.includes('live')).map(name),
    unread: own.filter(({ domain }) => !observed.has(domain)).map(name),
    missing: [...written.keys()].filter((domain) => !observed.has(domain)),
  }
}

function countByFields(items: DriftItem[]): Verified['notVerifiable'] {
  const named = items.map(({ item, notVerifiable }) => ({
    item,
    fields: nameFields(notVerifiable),
  }))
  const groups = groupBy(named, (each) => JSON.stringify(each))
  return Array.from(groups.values(), (same) => ({
    item: same[0]?.item ?? '',
    fields: same[0]?.fields ?? [],
    domains: same.length,
  }))
}

function listItems(state: RecordedState): Map<Domain, ItemKey[]> {
  return new Map([...state].map(([domain, items]) => [domain, [...items.keys()]]))
}

function pick(state: RecordedState, wanted: Verified['differs']): RecordedState {
  const picked: RecordedState = new Map()
  for (const { domain, item } of wanted) {
    const found = state.get(domain)?.get(item)
    if (found !== undefined) setItem(picked, domain, item, found)
  }
  return picked
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

function count(state: RecordedState): number {
  return addUp(state.values(), (items) => items.size)
}
