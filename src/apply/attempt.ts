import type { Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedItem } from '../state/store.ts'
import { withConfirmed, withIntents, type Recording } from './record-outcome.ts'
import { findRewritten } from './returned.ts'
import type { Run } from './run.ts'
import { sendWrite, type Sent } from './send-write.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>

/**
 * Sends a write, whose intent is recorded, and records its outcome.
 *
 * @param before what was recorded before the write
 * @param unsaved what is true when nothing of it was saved
 * @param settles the writes of the plan of which everything is recorded then
 */
export async function attempt(
  write: Write,
  before: ReadonlyMap<Domain, Items>,
  unsaved: ReadonlyMap<Domain, Items>,
  run: Run,
  settles: (outcome: Sent['outcome']) => number[],
): Promise<Sent> {
  const sent = await sendWrite(write, {
    ...run,
    waiting: (ms, message) =>
      run.tell({
        type: 'write.waiting',
        time: run.time(),
        id: write.id,
        seconds: Math.ceil(ms / 1000),
        message,
      }),
  })
  const { outcome, doubted } = sent
  if (outcome.kind !== 'not sent') run.result.sent = true
  const of = (domain: Domain) => before.get(domain) ?? new Map()
  const keepAs = (itemsOf: (domain: Domain) => Items) =>
    recordItems(write, run, itemsOf, settles(outcome))
  if (outcome.kind === 'confirmed') {
    const returned = findRewritten(write.items, outcome.config, run.secrets)
    await keepAs((domain) => withConfirmed(of(domain), write.items, returned, createRecording(run)))
  } else if (
    !doubted &&
    (outcome.kind === 'not sent' || (outcome.kind === 'refused' && write.domains.length === 1))
  ) {
    // The specification says that an invalid item spoils a write, not what one bad domain does: a
    // refusal proves that nothing was saved only for what was sent to one domain.
    await keepAs((domain) => unsaved.get(domain) ?? new Map())
  } else {
    await keepAs((domain) => withIntents(of(domain), write.items, createRecording(run)))
  }
  return sent
}

/**
 * Records something of every domain of a write durably, and that nothing more is to come of the
 * plan's writes in `settles`.
 */
export async function recordItems(
  write: { domains: Domain[] },
  run: Run,
  itemsOf: (domain: Domain) => Items,
  settles: number[],
): Promise<void> {
  const touched = new Map(write.domains.map((domain) => [domain, new Map(itemsOf(domain))]))
  await run.store.recordOutcomes(run.toApplied(), settles, touched)
  for (const [domain, items] of touched) run.recorded.set(domain, items)
  run.sharing.schedule()
}

/** When and by whom something is recorded now. */
export function createRecording(run: Run): Recording {
  return { recordedAt: run.time(), apply: run.apply, secrets: run.secrets }
}
