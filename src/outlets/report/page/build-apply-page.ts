import type { Domain, ItemKey } from '../../../core/model/item.ts'
import type { Page } from '../../../core/model/page/page.ts'
import { selectDefinite, type PlanTimes } from '../../../core/model/plan.ts'
import { collectOutcomes, type Unconfirmed } from '../apply/outcomes.ts'
import { formatResult, splitEvents, type ApplyReport } from '../apply/markdown.ts'
import { isWaiting } from '../apply/text.ts'
import { buildPlanned } from './build-plan-page.ts'
import { addHealth } from './build-rollout.ts'
import { beginPage, type PageAbout } from './page-about.ts'
import { mapSome, pluralize } from '../../../core/model/text/words.ts'
import { toPart, type Change, type Write } from '../../../core/model/change.ts'
import type { ApplyEvent } from '../../../core/model/events.ts'

/** Refusals that are among the warnings; the matrix has all of them. */
const maxRefusals = 100

/**
 * Builds the page of an apply: what was planned, and how each change ended.
 *
 * @param hasItem tests whether state has an item after the apply; null if that is not known
 */
export function buildApplyPage(
  report: ApplyReport,
  times: PlanTimes,
  about: PageAbout,
  hasItem: ((domain: Domain, item: ItemKey) => boolean) | null,
): Page {
  const { plan, events, status } = report
  const isRunning = status === 'running'
  const { own, back } = splitEvents(events)
  const writes = plan === null ? [] : selectDefinite(plan).writes
  const { refused } = collectOutcomes(isRunning ? [] : writes, own)
  const countRest = (rest: number) => `… and ${pluralize(rest, 'more refusal')}`
  const refusals = mapSome(refused, maxRefusals, formatRefusal, countRest)
  const warnings = [...refusals, ...about.warnings]
  const head = beginPage('apply', formatOutcome(report), { ...about, warnings })
  if (plan === null) return head
  const findState = isRunning ? () => null : findChangeStates(writes, own, back, hasItem)
  const planned = buildPlanned(plan, times, about, findState)
  const rollout = addHealth(events, writes, planned.waves, about.redact)
  if (rollout === null) return { ...head, ...planned }
  const { waves, rollback } = rollout
  return { ...head, ...planned, waves, rollback: rollback ?? undefined }
}

/** Formats the result, the reason of an early end, and the error. */
function formatOutcome(report: ApplyReport): string {
  const { events, status, problem } = report
  const finished = events.findLast((event) => event.type === 'apply.finished')
  const stopped = finished?.stopped ?? null
  return [
    formatResult(report, finished),
    ...(stopped === null ? [] : [isWaiting(status) ? `${stopped}.` : `Stopped: ${stopped}.`]),
    ...(problem === null ? [] : [problem.replaceAll('\n', ' ')]),
  ].join(' ')
}

function formatRefusal({ domains, items, message, place }: Unconfirmed): string {
  const where = place === null ? '' : ` (${place})`
  return `refused: ${items.join(', ')} of ${domains.join(', ')}${where}: ${message}`
}

/** Ends of a change, or of a part of one. The first of those of several writes counts. */
const stateNames = [
  'in-doubt',
  'refused',
  'rolled back',
  'not sent',
  'confirmed',
  'unchanged',
] as const
type State = (typeof stateNames)[number]

/**
 * Finds how each change ended, by the events of its apply. A write without an outcome is in-doubt
 * if it was begun. A cleared item ended as the one that clears it, and a released one when state no
 * longer has it.
 *
 * @param events of the apply, without those of a rollback by a health check
 * @param back events of that rollback
 * @param hasItem tests whether state has an item after the apply; null if that is not known
 */
function findChangeStates(
  writes: Write[],
  events: ApplyEvent[],
  back: ApplyEvent[],
  hasItem: ((domain: Domain, item: ItemKey) => boolean) | null,
): (change: Change) => string | null {
  const findState = createStateLookup(writes, events)
  const rolledBack = collectRolledBack(back)
  const states = new Map<string, State>()
  for (const write of writes)
    for (const key of listKeys(toPart(write))) {
      const state = findState(write.id, key)
      const last = state === 'confirmed' ? (rolledBack.get(key) ?? state) : state
      states.set(key, findWorst(states.get(key), last))
    }
  return ({ domain, item, action, reason, by }) => {
    if (reason === 'cleared') return states.get(formatKey(domain, by ?? item)) ?? null
    if (action !== 'release') return states.get(formatKey(domain, item)) ?? null
    if (hasItem === null) return null
    return hasItem(domain, item) ? 'not sent' : 'confirmed'
  }
}

/** Creates a lookup of the state of a part of a write, by the number of the write and the key. */
function createStateLookup(
  writes: Write[],
  events: ApplyEvent[],
): (write: number, key: string) => State {
  const { ends, notSent, refused, inDoubt } = collectOutcomes(writes, events)
  const begun = new Set(events.flatMap((event) => (event.type === 'write.started' ? event.id : [])))
  const parts = new Map<string, State>()
  const add = (entries: Unconfirmed[], state: State) => {
    for (const entry of entries)
      for (const key of listKeys(entry)) parts.set(`${entry.id} ${key}`, state)
  }
  add(notSent, 'not sent')
  add(refused, 'refused')
  add(inDoubt, 'in-doubt')
  return (write, key) => {
    const end = ends.get(write)
    // Until an outcome follows, the effect of a write that was begun is not known.
    if (end === 'not begun') return begun.has(write) ? 'in-doubt' : 'not sent'
    if (end === 'unchanged') return 'unchanged'
    return parts.get(`${write} ${key}`) ?? 'confirmed'
  }
}

/** Finds what a rollback did to domains and items; a refused one leaves them as they were. */
function collectRolledBack(events: ApplyEvent[]): Map<string, State> {
  const keysByWrite = new Map<number, string[]>()
  const states = new Map<string, State>()
  const setAll = (keys: string[], state: State) => {
    for (const key of keys) states.set(key, state)
  }
  for (const event of events) {
    if (event.type === 'write.started') keysByWrite.set(event.id, listKeys(event))
    if (event.type === 'write.confirmed') setAll(keysByWrite.get(event.id) ?? [], 'rolled back')
    if (event.type === 'part.confirmed') setAll(listKeys(event), 'rolled back')
    if (event.type === 'write.in-doubt') setAll(listKeys(event), 'in-doubt')
  }
  return states
}

function listKeys({ domains, items }: { domains: Domain[]; items: ItemKey[] }): string[] {
  return domains.flatMap((domain) => items.map((item) => formatKey(domain, item)))
}

function findWorst(a: State | undefined, b: State): State {
  return a === undefined || stateNames.indexOf(b) < stateNames.indexOf(a) ? b : a
}

function formatKey(domain: Domain, item: ItemKey): string {
  return `${domain} ${item}`
}
