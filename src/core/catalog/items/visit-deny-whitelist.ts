import type { VisitDenyWhitelist } from '../generated/items.ts'
import type { Form } from '../../model/change.ts'
import type { ItemState, Value, Wire } from '../../model/item.ts'
import { isObject, parseJson, type Json, toList } from '../../model/json.ts'
import { compare } from '../../model/lists.ts'
import type { Problem } from '../../model/problem.ts'
import { castPlain, getCertainValue, type ItemRow } from '../item-spec.ts'
import type { Observation } from '../observation.ts'
import { describeAction } from '../problems.ts'
import { toText } from '../value/canonical.ts'

/**
 * URLs exempt from anti-leech. Every write is a delta: each entry is switched on or off, the others
 * stay (specification, "visit_deny_whitelist").
 */
export const visitDenyWhitelist: ItemRow = {
  identity: ['url'],
  check,
  buildWhole,
  buildDeltas: (state, desired) => {
    const payload = buildWhole(state, desired)?.payload
    if (getCertainValue(state) === undefined || !Array.isArray(payload)) return []
    return payload.map((entry) => ({ name: 'switch', payload: [entry] }))
  },
  deltaForms: ['switch'],
  joinDeltas: (parts) => ({
    name: 'switch',
    payload: sortByUrl(parts.flatMap(({ payload }) => toList(payload))),
  }),
  reduce,
  unset: (state) => {
    const urls = new Set(state.candidates.flatMap(listUrls))
    return urls.size === 0 ? null : buildSwitches([], [...urls])
  },
  answerForm: { build: buildAnswer, matches: matchesAnswer },
  observe,
}

/** Accepts the form of the service's answers (specification, "POST /domain/config", rule 7) too. */
function observe(_known: Value | undefined, observed: Json): Observation {
  const urls = isObject(observed) && Object.keys(observed).length === 1 ? observed['url'] : null
  const payload = Array.isArray(urls) ? urls.map((url) => ({ url, turn_on: true })) : observed
  return { payload }
}

function check(value: Json): Problem[] {
  const remedy = 'Remove the entry instead: Edgewise then switches its URL off.'
  return castPlain<VisitDenyWhitelist>(value).flatMap((entry, i) =>
    entry.turn_on
      ? []
      : [describeAction(`/${i}/turn_on`, `"turn_on: false" is an action. ${remedy}`)],
  )
}

function buildWhole(state: ItemState, desired: Value): Form | null {
  const after = listUrls(desired)
  const before =
    getCertainValue(state) === undefined ? null : listUrls(getCertainValue(state) ?? [])
  const possible = state.candidates.flatMap(listUrls)
  const on = before === null ? after : after.filter((url) => !before.includes(url))
  const off = [...new Set(before ?? possible)].filter((url) => !after.includes(url))
  return on.length + off.length === 0 ? null : { name: 'switch', payload: buildSwitches(on, off) }
}

/** Applies entries in order: the later of two for one URL wins. */
function reduce(state: Value | undefined, payload: Wire): Value {
  const urls = new Set(listUrls(state ?? []))
  for (const entry of toList(payload)) {
    if (!isObject(entry)) continue
    const url = toText(entry['url'] ?? '')
    if (entry['turn_on'] === false) urls.delete(url)
    else urls.add(url)
  }
  return buildSwitches([...urls], [])
}

/** Builds `{url: [<path>, …]}` (specification, "POST /domain/config", rule 7). */
function buildAnswer(payload: Wire): Json {
  const entries = Array.isArray(payload) ? payload.filter(isObject) : []
  const on = new Map(entries.map((entry) => [entry['url'] ?? null, entry['turn_on'] === true]))
  return { url: [...on].flatMap(([url, turnedOn]) => (turnedOn ? [url] : [])) }
}

/** Tests whether every sent entry is reflected; the list may also contain URLs stored before. */
function matchesAnswer(payload: Wire, answer: Json): boolean {
  const urls = isObject(answer) ? answer['url'] : undefined
  if (!Array.isArray(urls) || !Array.isArray(payload)) return false
  const entries = payload.filter(isObject)
  return entries.every(({ url = null, turn_on }) => turn_on === urls.includes(url))
}

function buildSwitches(on: string[], off: string[]): Json[] {
  return sortByUrl([
    ...on.map((url) => ({ url: fromText(url), turn_on: true })),
    ...off.map((url) => ({ url: fromText(url), turn_on: false })),
  ])
}

/** The URL of a text, which begins with a slash, or the secret that it is the form of. */
function fromText(text: string): Json {
  return text.startsWith('{') ? (parseJson(text) ?? text) : text
}

function sortByUrl(entries: Json[]): Json[] {
  const getUrl = (entry: Json): string => (isObject(entry) ? toText(entry['url'] ?? '') : '')
  return entries.toSorted((a, b) => compare(getUrl(a), getUrl(b)))
}

function listUrls(value: Value): string[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((entry) =>
    isObject(entry) && entry['turn_on'] !== false ? [toText(entry['url'] ?? '')] : [],
  )
}
