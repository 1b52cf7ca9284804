import { listClearedItems } from '../../core/catalog/wire-names.ts'
import { type Form, type Write, isDelete, toPart } from '../../core/model/change.ts'
import type { Domain, ItemKey, Part } from '../../core/model/item.ts'
import { groupBy } from '../../core/model/lists.ts'
import { isNotAccepted, type Outcome } from '../../core/model/outcome.ts'
import { canonicalizeJson } from '../../core/model/text/canonical-json.ts'
import { attempt, recordItems } from './attempt.ts'
import { type Answer, type Bisection, bisectRectangle } from './bisect-part.ts'
import { PairSet, PartOutcomes, selectParts } from './parts.ts'
import {
  explainPossiblySaved,
  explainUnrecorded,
  reportInDoubt,
  reportRefusal,
} from './report-parts.ts'
import type { Run } from './run.ts'
import { explainAbort, type Sent } from './send-write.ts'
import type { RecordedItem } from '../../state/store/store.ts'

type Refused = Extract<Outcome, { kind: 'refused' }>

/**
 * A part that is neither confirmed nor refused, with its message, or an interrupt, without one,
 * ended the bisection of its rectangle.
 */
class Ended extends Error {}

/**
 * Bisects a refused write until the refused items of domains are isolated, and applies the rest.
 * Only whole values are sent, except for deltas of a value with unavailable secrets. One bad item,
 * one bad domain, or one item that one domain refuses takes at most 2⌈log₂ items⌉ + 2⌈log₂
 * domains⌉ + 2 writes, and one more if the service's message names another one.
 *
 * @param refusal answer of the service; a name in its message is only a hint
 * @param doubted whether an earlier attempt may have taken effect
 * @param before state before the write
 */
export async function bisect(
  write: Write,
  refusal: Refused,
  doubted: boolean,
  before: RefusedWrite['before'],
  run: Run,
): Promise<void> {
  const outcomes = new PartOutcomes(toPart(write))
  const refused: RefusedWrite = { write, refusal, doubted, before, outcomes, isBlocked: true }
  const reportRest = (why: string) => reportInDoubt(write.id, outcomes.listUnsettled(), why, run)
  try {
    const ended = await bisectAll(refused, run)
    const unsaved = outcomes
      .listUnsettled()
      .flatMap((part) => selectParts(part, (domain, item) => !isRecordedInDoubt(domain, item, run)))
    await recordItems({ domains: [] }, run, () => new Map(), {
      writes: [write.id],
      moves: [
        { from: 'inDoubt', to: 'refused', writes: 1, parts: 0 },
        ...unsaved.flatMap((part) => outcomes.computeMoves(part, 'refused')),
      ],
    })
    for (const part of unsaved) outcomes.settle(part, 'refused')
    if (refused.isBlocked && isNotAccepted(refusal) && !run.signal.aborted)
      run.stop({ message: `${refusal.message} Each part of write ${write.id} got this answer` })
    reportRest(`a part of the refused write: ${ended ?? explainAbort(run.signal).message}`)
  } catch (error) {
    reportRest(explainUnrecorded(error))
    throw error
  }
}

/** A refused write, and what its bisection has settled so far. */
interface RefusedWrite {
  write: Write
  refusal: Refused
  /** Whether an earlier attempt may have taken effect. */
  doubted: boolean
  /** State of the domains before the write. */
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>
  outcomes: PartOutcomes
  /** Whether all answers so far are the same refusal. */
  isBlocked: boolean
}

/** Bisects each rectangle of a write. Returns the message of a part that ended the apply. */
async function bisectAll(refused: RefusedWrite, run: Run): Promise<string | null> {
  let ended: string | null = null
  for (const rectangle of splitByValue(refused.write, run)) {
    const whole: Part = { domains: rectangle.domains, items: Object.keys(rectangle.items) }
    const bisection = new RectangleBisection(refused, rectangle, run)
    const answer = rectangle.unchanged ? refused.refusal : null
    try {
      await bisectRectangle(whole, bisection, answer)
    } catch (error) {
      if (!(error instanceof Ended)) throw error
      if (error.message !== '') ended = error.message
    }
  }
  return ended
}

/** Sends and records the parts of one rectangle of a refused write. */
class RectangleBisection implements Bisection {
  readonly unknownDomains: Set<Domain>
  readonly bundles: ItemKey[][]
  readonly #refused: RefusedWrite
  readonly #rectangle: Rectangle
  readonly #run: Run
  /** Parts that the service may have saved although it refused them. */
  readonly #possiblySaved = new PairSet()
  readonly #answers = new Map<string, Answer>()
  /** The first refusal of a call that was accepted, else of the write. */
  #reason: Refused
  #last: Answer

  constructor(refused: RefusedWrite, rectangle: Rectangle, run: Run) {
    const items = Object.keys(rectangle.items)
    this.#refused = refused
    this.#rectangle = rectangle
    this.#run = run
    this.#last = refused.refusal
    this.#reason = refused.refusal
    if (refused.doubted) this.#possiblySaved.add({ domains: rectangle.domains, items })
    this.unknownDomains = run.unknownDomains
    this.bundles = isDelete(refused.write) ? items.map((item) => [item]) : run.bundleItems(items)
  }

  async send(part: Part): Promise<Answer | null> {
    const { write, outcomes } = this.#refused
    const run = this.#run
    if (run.signal.aborted) throw new Ended()
    run.report({ type: 'write.isolating', id: write.id, ...part })
    const start = new Map(part.domains.map((domain) => [domain, this.#restore(part, domain)]))
    const now = new Map(part.domains.map((domain) => [domain, new Map(run.recorded.get(domain))]))
    const items = selectForms(this.#rectangle, part)
    const sent = await attempt(
      { ...write, domains: part.domains, items },
      start,
      now,
      run,
      ({ kind }) => ({
        writes: [],
        moves: kind === 'confirmed' ? outcomes.computeMoves(part, kind) : [],
      }),
    )
    const { outcome } = sent
    this.#refused.isBlocked &&= isSameReason(outcome, this.#refused.refusal)
    if (outcome.kind === 'confirmed') {
      outcomes.settle(part, 'confirmed')
      run.report({ type: 'part.confirmed', id: write.id, ...part })
      return null
    }
    if (outcome.kind !== 'refused') throw new Ended(outcome.message)
    this.#keepAnswer(part, outcome, sent.doubted)
    if (!outcome.fatal) return outcome
    run.stop(outcome)
    throw new Ended(outcome.message)
  }

  #keepAnswer(part: Part, outcome: Refused, doubted: boolean): void {
    this.#last = outcome
    this.#answers.set(formatPart(part), outcome)
    // A part refused for another reason than the write (too many calls, for example) may have
    // been saved with the write, unless the write had one domain.
    if (isNotAccepted(this.#reason)) this.#reason = outcome
    const sameReason = isSameReason(outcome, this.#reason)
    if (doubted || (this.#refused.write.domains.length > 1 && !sameReason))
      this.#possiblySaved.add(part)
  }

  async reportCulprit(part: Part): Promise<void> {
    const { write, outcomes } = this.#refused
    const run = this.#run
    const isDoubtful = (domain: Domain, item: ItemKey) =>
      this.#possiblySaved.has(domain, item) && isRecordedInDoubt(domain, item, run)
    const doubtful = selectParts(part, isDoubtful)
    const refused = selectParts(part, (domain, item) => !isDoubtful(domain, item))
    // If nothing was saved, the state before the write is restored.
    const restored = new Map(
      refused.flatMap((some) => some.domains.map((domain) => [domain, some] as const)),
    )
    await recordItems(
      { domains: [...restored.keys()] },
      run,
      (domain) => this.#restore(restored.get(domain) ?? part, domain),
      {
        writes: [],
        moves: refused.flatMap((some) => outcomes.computeMoves(some, 'refused')),
      },
    )
    for (const some of refused) outcomes.settle(some, 'refused')
    for (const some of doubtful) outcomes.settle(some, 'inDoubt')
    // A part that was not sent alone has the answer to the last refused one.
    const { code, message } = this.#answers.get(formatPart(part)) ?? this.#last
    reportRefusal(write.id, { ...part, code, message }, run)
    reportInDoubt(write.id, doubtful, explainPossiblySaved(true), run)
  }

  #restore(part: Part, domain: Domain): ReturnType<typeof restorePart> {
    const { write, before } = this.#refused
    const run = this.#run
    return restorePart(part, write, run, run.recorded.get(domain), before.get(domain))
  }
}

function isSameReason(outcome: Sent['outcome'], { status, code }: Refused): boolean {
  return outcome.kind === 'refused' && outcome.status === status && outcome.code === code
}

function selectForms({ items }: Rectangle, part: Part): Record<ItemKey, Form> {
  return Object.fromEntries(
    part.items.flatMap((item) => {
      const form = items[item]
      return form === undefined ? [] : [[item, form]]
    }),
  )
}

function formatPart({ domains, items }: Part): string {
  return `${items.join()} ${domains.join()}`
}

/** Returns whether the apply has recorded an item as in-doubt. */
function isRecordedInDoubt(domain: Domain, item: ItemKey, run: Run): boolean {
  const state = run.recorded.get(domain)?.get(item)
  return state?.status === 'in-doubt' && state.apply === run.apply
}

/**
 * Returns the current state, with the part's items as before the refused write, and those that only
 * these items of the write clear.
 */
function restorePart(
  part: Part,
  write: Write,
  { itemKeys }: Run,
  now: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
  before: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
): Map<ItemKey, RecordedItem> {
  const items = new Map(now)
  const others = Object.keys(write.items).filter((item) => !part.items.includes(item))
  const kept = new Set(others.flatMap((item) => [item, ...listClearedItems(item, itemKeys)]))
  const cleared = part.items.flatMap((item) => listClearedItems(item, itemKeys))
  for (const item of [...part.items, ...cleared.filter((each) => !kept.has(each))]) {
    const state = before.get(item)
    if (state === undefined) items.delete(item)
    else items.set(item, state)
  }
  return items
}

/** Domains of a write that get the same values; `unchanged`: it was sent in this form. */
interface Rectangle {
  domains: Domain[]
  items: Record<ItemKey, Form>
  unchanged: boolean
}

/**
 * Splits a write into rectangles of whole values: a delta becomes the whole value, and domains with
 * equal values form a rectangle.
 */
function splitByValue(write: Write, run: Run): Rectangle[] {
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
