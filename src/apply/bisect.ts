import type { Form, Write } from '../model/change.ts'
import { canonicalizeJson } from '../model/canonical-json.ts'
import { groupBy } from '../model/group-by.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import type { Outcome } from '../model/outcome.ts'
import type { RecordedItem } from '../state/store.ts'
import { attempt, recordItems } from './attempt.ts'
import type { Run } from './run.ts'

/** Domains × items of a refused write. */
interface Part {
  domains: Domain[]
  items: ItemKey[]
}

type Refused = Extract<Outcome, { kind: 'refused' }>
type Verdict = 'fine' | 'refused' | 'ended'

/** Bisection of one rectangle of a refused write. */
interface Bisection {
  /** Sends a part and records its outcome. */
  send(part: Part): Promise<Verdict>
  /**
   * Reports a part as the culprit: it was refused alone, or where others passed, so nothing of it
   * was saved.
   */
  reportCulprit(part: Part): Promise<void>
  findHint(part: Part): Part | null
}

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
  for (const rectangle of splitByValue(write, run)) {
    const whole: Part = { domains: rectangle.domains, items: Object.keys(rectangle.items) }
    let { message } = refusal
    // A part refused for another reason than the write (too many calls, for example) may have been
    // saved with the write.
    let unsaved = !doubted
    const bisection: Bisection = {
      send: async (part) => {
        if (run.signal.aborted) return 'ended'
        const items = Object.fromEntries(
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
          { ...write, domains: part.domains, items },
          start,
          now,
          run,
          () => [],
        )
        const { outcome } = sent
        if (outcome.kind === 'confirmed') return 'fine'
        if (outcome.kind === 'refused') {
          message = outcome.message
          unsaved &&=
            !sent.doubted && outcome.status === refusal.status && outcome.code === refusal.code
        }
        if (outcome.kind === 'refused' && outcome.fatal) run.stop(outcome.message)
        return outcome.kind === 'refused' && !outcome.fatal ? 'refused' : 'ended'
      },
      reportCulprit: async (part) => {
        run.result.refusals.push({ ...part, message })
        // Nothing was saved, so the state before the write is restored.
        if (unsaved)
          await recordItems(
            part,
            run,
            (domain) => restorePart(part, run.recorded.get(domain), before.get(domain)),
            [],
          )
      },
      findHint: (part) => findHintedPart(part, refusal.message, whole),
    }
    await bisectRectangle(whole, bisection, rectangle.unchanged)
  }
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

/** @param refused whether exactly this rectangle is known to be refused */
async function bisectRectangle(whole: Part, bisection: Bisection, refused: boolean): Promise<void> {
  if (!refused) {
    const verdict = await bisection.send(whole)
    if (verdict !== 'refused') return
  }
  const hintedPart = bisection.findHint(whole)
  if (hintedPart !== null) {
    const verdict = await bisection.send(excludePart(whole, hintedPart))
    if (verdict === 'ended') return
    // The rest passes, so the hint was right; the hinted part is tested next.
    if (verdict === 'fine' && hintedPart.items.length < whole.items.length)
      return bisectItems(hintedPart, bisection)
    if (verdict === 'fine')
      return (await bisection.send(hintedPart)) === 'refused'
        ? bisectPart(hintedPart, bisection, true)
        : undefined
  }
  return bisectPart(whole, bisection, false)
}

/** Bisects a refused part. `acceptedElsewhere`: other domains accept its values. */
async function bisectPart(
  part: Part,
  bisection: Bisection,
  acceptedElsewhere: boolean,
): Promise<void> {
  const { domains, items } = part
  if (items.length === 1 && domains.length === 1) return bisection.reportCulprit(part)
  if (items.length === 1) return bisectDomains(part, bisection)
  const refused = await sendItemHalves(part, bisection)
  if (refused.length === 0) return
  if (domains.length > 1) return bisectDomains(part, bisection)
  // A domain that refuses what others accept is itself the culprit.
  if (acceptedElsewhere) return bisection.reportCulprit(part)
  for (const half of refused) await bisectPart(half, bisection, false)
}

/**
 * Bisects items with a culprit among them that were not sent alone; their domains accept other
 * items.
 */
async function bisectItems(part: Part, bisection: Bisection): Promise<void> {
  if (part.items.length === 1)
    return (await bisection.send(part)) === 'refused' ? bisection.reportCulprit(part) : undefined
  for (const half of await sendItemHalves(part, bisection))
    await bisectRefusedItems(half, bisection)
}

/**
 * Sends the halves of a part's items, and bisects the half with the culprit. Returns both halves if
 * both were refused, otherwise none.
 */
async function sendItemHalves({ domains, items }: Part, bisection: Bisection): Promise<Part[]> {
  const [first, second] = splitInHalf(items).map((half) => ({ domains, items: half }))
  if (first === undefined || second === undefined) return []
  const firstVerdict = await bisection.send(first)
  if (firstVerdict === 'fine') await bisectItems(second, bisection)
  if (firstVerdict !== 'refused') return []
  const secondVerdict = await bisection.send(second)
  if (secondVerdict === 'fine') await bisectRefusedItems(first, bisection)
  return secondVerdict === 'refused' ? [first, second] : []
}

/** Bisects items that were sent and refused by domains that accept others. */
async function bisectRefusedItems(part: Part, bisection: Bisection): Promise<void> {
  return part.items.length === 1 ? bisection.reportCulprit(part) : bisectItems(part, bisection)
}

/** Halves the domains of a part that is refused and whose items gave no culprit. */
async function bisectDomains(part: Part, bisection: Bisection): Promise<void> {
  if (part.items.length === 1) return bisectSingleItem(part, bisection, false)
  const sent = await sendDomainHalves(part, bisection)
  const acceptedElsewhere = sent.some(({ verdict }) => verdict === 'fine')
  for (const { half, verdict } of sent)
    if (verdict === 'refused') await bisectDomainHalf(half, bisection, acceptedElsewhere)
}

/**
 * Sends both halves of a part's domains; returns the verdicts, or none if the apply ended
 * meanwhile.
 */
async function sendDomainHalves(
  { domains, items }: Part,
  bisection: Bisection,
): Promise<{ half: Part; verdict: Verdict }[]> {
  const sent: { half: Part; verdict: Verdict }[] = []
  for (const half of splitInHalf(domains).map((some) => ({ domains: some, items }))) {
    const verdict = await bisection.send(half)
    if (verdict === 'ended') return []
    sent.push({ half, verdict })
  }
  return sent
}

async function bisectDomainHalf(
  part: Part,
  bisection: Bisection,
  acceptedElsewhere: boolean,
): Promise<void> {
  return part.domains.length > 1
    ? bisectDomains(part, bisection)
    : bisectPart(part, bisection, acceptedElsewhere)
}

/**
 * Narrows a refused item down to one domain that refuses it. If no half passed, the item is the
 * culprit for all domains; otherwise the culprits are domains, and each refused half is narrowed
 * down as well.
 */
async function bisectSingleItem(part: Part, bisection: Bisection, passed: boolean): Promise<void> {
  const pending: Part[] = []
  let passes = passed
  let current = part
  while (current.domains.length > 1) {
    const sent = await sendDomainHalves(current, bisection)
    if (sent.length === 0) return
    const [next, ...others] = sent
      .filter(({ verdict }) => verdict === 'refused')
      .map(({ half }) => half)
    passes ||= sent.some(({ verdict }) => verdict === 'fine')
    if (next === undefined) break
    pending.push(...others)
    current = next
  }
  if (!passes) return bisection.reportCulprit(part)
  if (current.domains.length === 1) await bisection.reportCulprit(current)
  for (const rest of pending) await bisectSingleItem(rest, bisection, true)
}

/** Finds the item or domain that a message names, if it names exactly one and there are others. */
function findHintedPart(part: Part, message: string, whole: Part): Part | null {
  const words = new Set(message.toLowerCase().match(/[a-z0-9_.-]+/g) ?? [])
  const isNamed = (word: string) => words.has(word) || words.has(`${word}.`)
  const items = part.items.filter(isNamed)
  if (items.length === 1 && part.items.length > 1) return { domains: whole.domains, items }
  const domains = part.domains.filter(isNamed)
  return domains.length === 1 && part.domains.length > 1 ? { domains, items: whole.items } : null
}

function excludePart(whole: Part, excluded: Part): Part {
  if (excluded.items.length < whole.items.length)
    return {
      domains: whole.domains,
      items: whole.items.filter((item) => !excluded.items.includes(item)),
    }
  return {
    domains: whole.domains.filter((domain) => !excluded.domains.includes(domain)),
    items: whole.items,
  }
}

function splitInHalf<T>(list: T[]): [T[], T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}
