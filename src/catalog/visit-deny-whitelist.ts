import type { VisitDenyWhitelist } from '../generated/items.ts'
import type { Form } from '../model/change.ts'
import type { ItemState, Value, Wire } from '../model/item.ts'
import { isObject, type Json } from '../model/json.ts'
import type { Problem } from '../model/problem.ts'
import { castAccepted } from './cast-accepted.ts'
import { getCertainValue, type ItemRow } from './item-spec.ts'
import { refuseAction } from './problems.ts'

/**
 * URLs that anti-leech lets pass. There are only deltas: each entry is switched on or off, the
 * others stay (specification, "visit_deny_whitelist").
 */
export const visitDenyWhitelist: ItemRow = {
  check,
  buildWhole,
  buildDeltas: (held, desired) => {
    const payload = buildWhole(held, desired)?.payload
    if (getCertainValue(held) === undefined || !Array.isArray(payload)) return []
    return payload.map((entry) => ({ name: 'switch', payload: [entry] }))
  },
  joinDeltas: (parts) => ({
    name: 'switch',
    payload: byUrl(parts.flatMap(({ payload }) => (Array.isArray(payload) ? payload : []))),
  }),
  reduce,
  unset: (held) => {
    const urls = new Set(held.candidates.flatMap(urlsOf))
    return urls.size === 0 ? null : switches([], [...urls])
  },
  answerForm: { build: buildAnswer, matches: matchesAnswer },
}

function check(value: Json): Problem[] {
  const mend = 'Leave the entry out: what was recorded is then removed.'
  return castAccepted<VisitDenyWhitelist>(value).flatMap((entry, i) =>
    entry.turn_on ? [] : [refuseAction(`/${i}/turn_on`, `"turn_on: false" is an action. ${mend}`)],
  )
}

function buildWhole(held: ItemState, desired: Value): Form | null {
  const after = urlsOf(desired)
  const before = getCertainValue(held) === undefined ? null : urlsOf(getCertainValue(held) ?? [])
  const maybe = held.candidates.flatMap(urlsOf)
  const on = before === null ? after : after.filter((url) => !before.includes(url))
  const off = [...new Set(before ?? maybe)].filter((url) => !after.includes(url))
  return on.length + off.length === 0 ? null : { name: 'switch', payload: switches(on, off) }
}

/** Entries in order: of two for one URL the later one counts. */
function reduce(held: Value | undefined, payload: Wire): Value | undefined {
  const urls = new Set(urlsOf(held ?? []))
  for (const entry of Array.isArray(payload) ? payload : []) {
    if (!isObject(entry) || typeof entry['url'] !== 'string') continue
    if (entry['turn_on'] === false) urls.delete(entry['url'])
    else urls.add(entry['url'])
  }
  return urls.size === 0 ? undefined : switches([...urls], [])
}

/** Builds `{url: [<path>, …]}` (specification, "POST /domain/config", rule 7). */
function buildAnswer(payload: Wire): Json {
  const entries = Array.isArray(payload) ? payload.filter(isObject) : []
  const on = new Map(entries.map((entry) => [entry['url'] ?? null, entry['turn_on'] === true]))
  return { url: [...on].flatMap(([url, turnedOn]) => (turnedOn ? [url] : [])) }
}

/** The list may name more URLs than were sent: those that were let pass before. */
function matchesAnswer(payload: Wire, answer: Json): boolean {
  const urls = isObject(answer) ? answer['url'] : undefined
  if (!Array.isArray(urls) || !Array.isArray(payload)) return false
  const entries = payload.filter(isObject)
  return entries.every(({ url = null, turn_on }) => turn_on === urls.includes(url))
}

function switches(on: string[], off: string[]): Json[] {
  return byUrl([
    ...on.map((url) => ({ url, turn_on: true })),
    ...off.map((url) => ({ url, turn_on: false })),
  ])
}

function byUrl(entries: Json[]): Json[] {
  const urlOf = (entry: Json): string => (isObject(entry) ? String(entry['url']) : '')
  return entries.toSorted((a, b) => (urlOf(a) < urlOf(b) ? -1 : urlOf(a) > urlOf(b) ? 1 : 0))
}

function urlsOf(value: Value): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry) =>
    isObject(entry) && typeof entry['url'] === 'string' && entry['turn_on'] !== false
      ? [entry['url']]
      : [],
  )
}
