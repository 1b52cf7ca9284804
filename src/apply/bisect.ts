import type { Form, Write } from '../model/change.ts'
import { canonicalizeJson } from '../model/canonical-json.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Outcome } from '../model/outcome.ts'
import type { RecordedItem } from '../state/store.ts'
import { attempt, recordItems } from './attempt.ts'
import { bisectRectangle, findHintedPart, type Bisection, type Part } from './bisect-part.ts'
import { PartOutcomes } from './part-outcomes.ts'
import { explainUnrecorded, reportInDoubt, reportRefusal } from './report-parts.ts'
import type { Run } from './run.ts'
import { explainAbort } from './send-write.ts'

type Answer = Pick<Refused, 'code' | 'message'>
type Refused = Extract<Outcome, { kind: 'refused' }>

/**
 * Bisects a refused write until the bad items or domains are isolated, and applies the rest. Only
 * whole values are sent, except for deltas of a value with unavailable secrets. One bad item or
 * domain takes at most 2⌈log₂ items⌉ + 2⌈log₂ domains⌉ + 2 writes.
 *
 * @param refusal answer of the service; a name in its message is only a hint
 * @param doubted whether an earlier attempt may have taken effect
 * @param before state before the write
 */
export async function bisect(
  write: Write,
  refusal: Refused,
  doubted: boolean,
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>,
  run: Run,
): Promise<void> {
  const outcomes = new PartOutcomes({ domains: write.domains, items: Object.keys(write.items) })
  const reportRest = (why: string) => reportInDoubt(write.id, outcomes.listInDoubt(), why, run)
  try {
    const ended = await bisectAll(write, refusal, doubted, before, outcomes, run)
    const unsaved = outcomes.listInDoubt().flatMap((part) => findUnsaved(part, run))
    await recordItems({ domains: [] }, run, () => new Map(), {
      writes: [write.id],
      moves: [
        { from: 'inDoubt', to: 'refused', writes: 1, parts: 0 },
        ...unsaved.flatMap((part) => outcomes.computeMoves(part, 'refused')),
      ],
    })
    for (const part of unsaved) outcomes.settle(part, 'refused')
    reportRest(`a part of the refused write: ${ended ?? explainAbort(run.signal)}`)
  } catch (error) {
    reportRest(explainUnrecorded(error))
    throw error
  }
}

/** Bisects each rectangle of a write. Returns the message of a part that ended the apply. */
async function bisectAll(
  write: Write,
  refusal: Refused,
  doubted: boolean,
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>,
  outcomes: PartOutcomes,
  run: Run,
): Promise<string | null> {
  let ended: string | null = null
  for (const rectangle of splitByValue(write, run)) {
    const whole: Part = { domains: rectangle.domains, items: Object.keys(rectangle.items) }
    let last: Answer = refusal
    const answers = new Map<string, Answer>()
    // A part refused for another reason than the write (too many calls, for example) may have been
    // saved with the write.
    let unsaved = !doubted
    const bisection: Bisection = {
      send: async (part) => {
        if (run.signal.aborted) return 'ended'
        const forms = Object.fromEntries(
          part.items
            .map((item) => [item, rectangle.items[item]])
            .filter(([, form]) => form !== undefined),
        ) as Record<ItemKey, Form>
        run.report({
          type: 'write.isolating',
          time: run.time(),
          id: write.id,
          domains: part.domains,
          items: part.items,
        })
        const start = new Map(
          part.domains.map((domain) => [
            domain,
            restorePart(part, run.recorded.get(domain), before.get(domain)),
          ]),
        )
        const now = new Map(
          part.domains.map((domain) => [domain, new Map(run.recorded.get(domain))]),
        )
        const sent = await attempt(
          { ...write, domains: part.domains, items: forms },
          start,
          now,
          run,
          ({ kind }) => ({
            writes: [],
            moves: kind === 'confirmed' ? outcomes.computeMoves(part, kind) : [],
          }),
        )
        const { outcome } = sent
        if (outcome.kind === 'confirmed') {
          outcomes.settle(part, 'confirmed')
          run.report({ type: 'part.confirmed', time: run.time(), id: write.id, ...part })
          return 'fine'
        }
        if (outcome.kind === 'refused') {
          last = outcome
          answers.set(formatPart(part), outcome)
          unsaved &&=
            !sent.doubted && outcome.status === refusal.status && outcome.code === refusal.code
        }
        if (outcome.kind === 'refused' && outcome.fatal) run.stop(outcome.message)
        if (outcome.kind === 'refused' && !outcome.fatal) return 'refused'
        ended = outcome.message
        return 'ended'
      },
      reportCulprit: async (part) => {
        // If nothing was saved, the state before the write is restored.
        await recordItems(
          unsaved ? part : { domains: [] },
          run,
          (domain) => restorePart(part, run.recorded.get(domain), before.get(domain)),
          { writes: [], moves: outcomes.computeMoves(part, 'refused') },
        )
        outcomes.settle(part, 'refused')
        // A part that was not sent alone has the answer to the last refused one.
        const { code, message } = answers.get(formatPart(part)) ?? last
        reportRefusal(write.id, { ...part, code, message }, run)
      },
      findHint: (part) => findHintedPart(part, refusal.message, whole),
    }
    await bisectRectangle(whole, bisection, rectangle.unchanged)
  }
  return ended
}

function formatPart({ domains, items }: Part): string {
  return `${items.join()} ${domains.join()}`
}

/** Finds the items of a part that the apply has not recorded as in-doubt. */
function findUnsaved({ domains, items }: Part, run: Run): Part[] {
  return domains.flatMap((domain) =>
    items.flatMap((item) => {
      const state = run.recorded.get(domain)?.get(item)
      const isInDoubt = state?.status === 'in-doubt' && state.apply === run.apply
      return isInDoubt ? [] : [{ domains: [domain], items: [item] }]
    }),
  )
}

/** Returns the current state, with the part's items as before the refused write. */
function restorePart(
  part: Part,
  now: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
  before: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
): Map<ItemKey, RecordedItem> {
  const items = new Map(now)
  for (const item of part.items) {
    const state = before.get(item)
    if (state === undefined) items.delete(item)
    else items.set(item, state)
  }
  return items
}

/**
 * Splits a write into rectangles of whole values: a delta becomes the whole value, and domains with
 * equal values form a rectangle.
 */
function splitByValue(
  write: Write,
  run: Run,
): { domains: Domain[]; items: Record<ItemKey, Form>; unchanged: boolean }[] {
  const buildWhole = (domain: Domain): Record<ItemKey, Form> =>
    Object.fromEntries(
      Object.entries(write.items).map(([item, form]): [ItemKey, Form] => {
        const target = run.findTarget(domain, item)
        const delta = form.name === 'append' || form.name === 'add' || form.name === 'remove'
        // The value may contain another secret, which is unavailable and which the delta does not
        // send.
        const sendsWhole = delta && target !== null && run.secrets.canReveal(target)
        return [item, sendsWhole ? { name: 'replace', payload: target } : form]
      }),
    )
  const groups = groupBy(write.domains, (domain) =>
    canonicalizeJson(
      Object.entries(buildWhole(domain)).map(([item, form]) => [item, form.payload]),
    ),
  )
  return [...groups.values()].map((domains) => ({
    domains,
    items: buildWhole(domains[0] ?? ''),
    unchanged: groups.size === 1,
  }))
}
