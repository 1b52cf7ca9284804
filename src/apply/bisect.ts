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

/** What isolation works with: one rectangle of the refused write, sent in parts. */
interface Isolation {
  /** Sends a part and records what comes of it. */
  send(part: Part): Promise<Verdict>
  /**
   * Reports a part as the guilty one: it was refused alone, or where others passed, so nothing of
   * it was saved.
   */
  guilty(part: Part): Promise<void>
  hint(part: Part): Part | null
}

/**
 * Takes a refused write apart until the guilty items or domains stand alone, and applies the rest.
 * Only whole values are sent, but for deltas of a value whose secrets are not at hand. For one
 * guilty item or domain it takes at most 2⌈log₂ items⌉ + 2⌈log₂ domains⌉ + 2 writes.
 *
 * @param refusal what the service said; a name in its message is a hint, no more
 * @param doubted whether an earlier attempt of it may have taken effect
 * @param before what was recorded before the write
 */
export async function bisect(
  write: Write,
  refusal: Refused,
  doubted: boolean,
  before: ReadonlyMap<Domain, ReadonlyMap<ItemKey, RecordedItem>>,
  run: Run,
): Promise<void> {
  for (const rectangle of wholeValues(write, run)) {
    const whole: Part = { domains: rectangle.domains, items: Object.keys(rectangle.items) }
    let { message } = refusal
    // What is refused for another reason than the write was (too many calls, say) may have been
    // saved with the write.
    let unsaved = !doubted
    const isolation: Isolation = {
      send: async (part) => {
        if (run.signal.aborted) return 'ended'
        const items = Object.fromEntries(
          part.items
            .map((item) => [item, rectangle.items[item]])
            .filter(([, form]) => form !== undefined),
        ) as Record<ItemKey, Form>
        run.tell({
          type: 'write.isolating',
          time: run.time(),
          id: write.id,
          domains: part.domains,
          items: part.items,
        })
        const start = new Map(
          part.domains.map((domain) => [
            domain,
            partBefore(part, run.recorded.get(domain), before.get(domain)),
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
        if (outcome.kind === 'refused' && outcome.fatal)
          run.stop(`the service answered HTTP ${outcome.status}: ${outcome.message}`)
        return outcome.kind === 'refused' && !outcome.fatal ? 'refused' : 'ended'
      },
      guilty: async (part) => {
        run.result.refusals.push({ ...part, message })
        // What was recorded before is true again.
        if (unsaved)
          await recordItems(
            part,
            run,
            (domain) => partBefore(part, run.recorded.get(domain), before.get(domain)),
            [],
          )
      },
      hint: (part) => hinted(part, refusal.message, whole),
    }
    await rectangleParts(whole, isolation, rectangle.unchanged)
  }
}

/** What is recorded now, with the part's items as they were before the refused write. */
function partBefore(
  part: Part,
  now: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
  before: ReadonlyMap<ItemKey, RecordedItem> = new Map(),
): Map<ItemKey, RecordedItem> {
  const items = new Map(now)
  for (const item of part.items) {
    const held = before.get(item)
    if (held === undefined) items.delete(item)
    else items.set(item, held)
  }
  return items
}

/**
 * The write as rectangles of whole values: where a form adds to what is held, domains with equal
 * lists go together.
 */
function wholeValues(
  write: Write,
  run: Run,
): { domains: Domain[]; items: Record<ItemKey, Form>; unchanged: boolean }[] {
  const whole = (domain: Domain): Record<ItemKey, Form> =>
    Object.fromEntries(
      Object.entries(write.items).map(([item, form]): [ItemKey, Form] => {
        const target = run.findTarget(domain, item)
        const delta = form.name === 'append' || form.name === 'add' || form.name === 'remove'
        // A secret beside what the delta is about may not be at hand, and is not sent.
        const sendsWhole = delta && target !== null && run.secrets.canReveal(target)
        return [item, sendsWhole ? { name: 'replace', payload: target } : form]
      }),
    )
  const groups = groupBy(write.domains, (domain) =>
    canonicalizeJson(Object.entries(whole(domain)).map(([item, form]) => [item, form.payload])),
  )
  return [...groups.values()].map((domains) => ({
    domains,
    items: whole(domains[0] ?? ''),
    unchanged: groups.size === 1,
  }))
}

/** @param refused whether exactly this rectangle is known to be refused */
async function rectangleParts(whole: Part, isolation: Isolation, refused: boolean): Promise<void> {
  if (!refused) {
    const verdict = await isolation.send(whole)
    if (verdict !== 'refused') return
  }
  const suspect = isolation.hint(whole)
  if (suspect !== null) {
    const verdict = await isolation.send(without(whole, suspect))
    if (verdict === 'ended') return
    // The hint was right when the rest passes; the suspect still has to be heard.
    if (verdict === 'fine' && suspect.items.length < whole.items.length)
      return suspects(suspect, isolation)
    if (verdict === 'fine')
      return (await isolation.send(suspect)) === 'refused'
        ? parts(suspect, isolation, true)
        : undefined
  }
  return parts(whole, isolation, false)
}

/**
 * A part that is known to be refused; `innocent`: its values are known to be good for other
 * domains.
 */
async function parts(part: Part, isolation: Isolation, innocent: boolean): Promise<void> {
  const { domains, items } = part
  if (items.length === 1 && domains.length === 1) return isolation.guilty(part)
  if (items.length === 1) return domainParts(part, isolation)
  const refused = await refusedHalves(part, isolation)
  if (refused.length === 0) return
  if (domains.length > 1) return domainParts(part, isolation)
  // One domain that refuses what others took is itself the trouble.
  if (innocent) return isolation.guilty(part)
  for (const half of refused) await parts(half, isolation, false)
}

/**
 * Items that hold a guilty one, though they were not sent alone; their domains took other items.
 */
async function suspects(part: Part, isolation: Isolation): Promise<void> {
  if (part.items.length === 1)
    return (await isolation.send(part)) === 'refused' ? isolation.guilty(part) : undefined
  for (const half of await refusedHalves(part, isolation)) await heard(half, isolation)
}

/**
 * Halves items of which one is guilty, and follows the half that holds it. Both halves where both
 * were refused, else none.
 */
async function refusedHalves({ domains, items }: Part, isolation: Isolation): Promise<Part[]> {
  const [first, second] = halves(items).map((half) => ({ domains, items: half }))
  if (first === undefined || second === undefined) return []
  const one = await isolation.send(first)
  if (one === 'fine') await suspects(second, isolation)
  if (one !== 'refused') return []
  const other = await isolation.send(second)
  if (other === 'fine') await heard(first, isolation)
  return other === 'refused' ? [first, second] : []
}

/** Items that were sent and refused on domains that took others. */
async function heard(part: Part, isolation: Isolation): Promise<void> {
  return part.items.length === 1 ? isolation.guilty(part) : suspects(part, isolation)
}

/** A part that is refused whole and whose items were no help: its domains are halved. */
async function domainParts(part: Part, isolation: Isolation): Promise<void> {
  if (part.items.length === 1) return singleItem(part, isolation, false)
  const sent = await sendDomainHalves(part, isolation)
  const innocent = sent.some(({ verdict }) => verdict === 'fine')
  for (const { half, verdict } of sent)
    if (verdict === 'refused') await domainHeard(half, isolation, innocent)
}

/** Both halves of a part's domains, and what came of them; none where the apply ended meanwhile. */
async function sendDomainHalves(
  { domains, items }: Part,
  isolation: Isolation,
): Promise<{ half: Part; verdict: Verdict }[]> {
  const sent: { half: Part; verdict: Verdict }[] = []
  for (const half of halves(domains).map((some) => ({ domains: some, items }))) {
    const verdict = await isolation.send(half)
    if (verdict === 'ended') return []
    sent.push({ half, verdict })
  }
  return sent
}

async function domainHeard(part: Part, isolation: Isolation, innocent: boolean): Promise<void> {
  return part.domains.length > 1 ? domainParts(part, isolation) : parts(part, isolation, innocent)
}

/**
 * Follows a refused item to one domain that refuses it. When no half passed on the way, the item
 * itself is guilty, for all domains; otherwise some domains are, and each half that was refused is
 * followed as well.
 *
 * @param passed whether the item is known to pass on some domain
 */
async function singleItem(part: Part, isolation: Isolation, passed: boolean): Promise<void> {
  const unheard: Part[] = []
  let good = passed
  let at = part
  while (at.domains.length > 1) {
    const sent = await sendDomainHalves(at, isolation)
    if (sent.length === 0) return
    const [next, ...others] = sent
      .filter(({ verdict }) => verdict === 'refused')
      .map(({ half }) => half)
    good ||= sent.some(({ verdict }) => verdict === 'fine')
    if (next === undefined) break
    unheard.push(...others)
    at = next
  }
  if (!good) return isolation.guilty(part)
  if (at.domains.length === 1) await isolation.guilty(at)
  for (const rest of unheard) await singleItem(rest, isolation, true)
}

/** The item or domain of a part that the message names, if it names one and there are others. */
function hinted(part: Part, message: string, whole: Part): Part | null {
  const words = new Set(message.toLowerCase().match(/[a-z0-9_.-]+/g) ?? [])
  const bare = (word: string) => words.has(word) || words.has(`${word}.`)
  const items = part.items.filter(bare)
  if (items.length === 1 && part.items.length > 1) return { domains: whole.domains, items }
  const domains = part.domains.filter(bare)
  return domains.length === 1 && part.domains.length > 1 ? { domains, items: whole.items } : null
}

function without(whole: Part, suspect: Part): Part {
  if (suspect.items.length < whole.items.length)
    return {
      domains: whole.domains,
      items: whole.items.filter((item) => !suspect.items.includes(item)),
    }
  return {
    domains: whole.domains.filter((domain) => !suspect.domains.includes(domain)),
    items: whole.items,
  }
}

function halves<T>(list: T[]): [T[], T[]] {
  const middle = Math.ceil(list.length / 2)
  return [list.slice(0, middle), list.slice(middle)]
}
