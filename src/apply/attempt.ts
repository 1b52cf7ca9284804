import type { Write } from '../model/change.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { RecordedItem } from '../state/record.ts'
import { withConfirmed, withIntents, type Recording } from './record-outcome.ts'
import { rewritten } from './returned.ts'
import type { Run } from './run.ts'
import { sendWrite, type Sent } from './send-write.ts'

type Items = ReadonlyMap<ItemKey, RecordedItem>

/**
 * Sends a write with its intent recorded before each attempt and its outcome after the last one.
 *
 * @param before what was recorded before the write, which is true again when nothing was saved
 */
export async function attempt(write: Write, before: ReadonlyMap<Domain, Items>, run: Run): Promise<Sent> {
  const intend = () => {
    const until = new Date(run.clock.now() + run.timeoutMs).toISOString()
    keep(write, run, (domain) => withIntents(before.get(domain) ?? new Map(), write.items, { ...recordingOf(run), until }))
  }
  intend()
  let first = true
  const sent = await sendWrite(write, {
    ...run,
    attempt: () => {
      // What is recorded of the first attempt has to hold for a later one as well: it may land later.
      if (!first) intend()
      first = false
    },
    waiting: (ms, message) => run.tell({ type: 'write.waiting', time: run.time(), id: write.id, seconds: Math.ceil(ms / 1000), message }),
  })
  const { outcome, doubted } = sent
  if (outcome.kind === 'confirmed') {
    const returned = rewritten(write.items, outcome.config, run.mask)
    keep(write, run, (domain) => withConfirmed(before.get(domain) ?? new Map(), write.items, returned, recordingOf(run)))
  } else if (!doubted && (outcome.kind === 'not sent' || (outcome.kind === 'refused' && write.domains.length === 1))) {
    // The specification says that an invalid item spoils a write, not what one bad domain does: a refusal proves that
    // nothing was saved only for what was sent to one domain.
    keep(write, run, (domain) => before.get(domain) ?? new Map())
  } else {
    keep(write, run, (domain) => withIntents(before.get(domain) ?? new Map(), write.items, recordingOf(run)))
  }
  return sent
}

/** Records something of every domain of a write, durably. */
export function keep(write: { domains: Domain[] }, { recorded, store }: Run, itemsOf: (domain: Domain) => Items): void {
  const touched = new Map(write.domains.map((domain) => [domain, new Map(itemsOf(domain))]))
  store.save(touched)
  for (const [domain, items] of touched) recorded.set(domain, items)
}

function recordingOf(run: Run): Recording {
  return { at: run.time(), apply: run.apply, templatesOf: run.templatesOf }
}
