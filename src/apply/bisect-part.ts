import { append } from '../model/append.ts'
import type { Domain, ItemKey } from '../model/item.ts'

/** Domains × items of a refused write. */
export interface Part {
  domains: Domain[]
  items: ItemKey[]
}

/** Result of sending a part; `ended`: the apply ended meanwhile. */
export type Verdict = 'fine' | 'refused' | 'ended'

/** Bisection of one rectangle of a refused write. */
export interface Bisection {
  /** Sends a part and records its outcome. */
  send(part: Part): Promise<Verdict>
  /**
   * Reports a part as the culprit: it was refused alone, or where others passed, so nothing of it
   * was saved.
   */
  reportCulprit(part: Part): Promise<void>
  /** Finds the part that the service's message names; null if it names none. */
  findHint(part: Part): Part | null
}

/**
 * Bisects a rectangle of a refused write.
 *
 * @param refused whether exactly this rectangle is known to be refused
 */
export async function bisectRectangle(
  whole: Part,
  bisection: Bisection,
  refused: boolean,
): Promise<void> {
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
    append(pending, others)
    current = next
  }
  if (!passes) return bisection.reportCulprit(part)
  if (current.domains.length === 1) await bisection.reportCulprit(current)
  for (const rest of pending) await bisectSingleItem(rest, bisection, true)
}

/** Finds the item or domain that a message names, if it names exactly one and there are others. */
export function findHintedPart(part: Part, message: string, whole: Part): Part | null {
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
