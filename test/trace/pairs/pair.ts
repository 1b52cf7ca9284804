import { catalogue, getItemSpec } from '../../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../../src/core/catalog/parse-item.ts'
import { isObject, isSameJson, type Json } from '../../../src/core/model/json.ts'
import { Chance } from '../../simulation/chance.ts'
import { accessItems } from './access-items.ts'
import { buildRequest } from './build-request.ts'
import { buildUrl, type SignedUrl } from './build-url.ts'
import { cacheItems } from './cache-items.ts'
import { createDraft, type Draft } from './draft.ts'
import { originItems } from './origin-items.ts'
import { drawSettings, zones } from './readings.ts'
import { responseItems } from './response-items.ts'

/** A configuration of a domain, a request, and how the trace of the two is settled. */
export interface Pair {
  domain: string
  /** Item → candidates: canonical value, null (unset) or {$unknown: true}; no key: unmanaged. */
  items: Record<string, Json[]>
  /** The facts of the request. */
  request: Record<string, Json>
  /** Readings by name, and `unmanaged`. */
  assume: Record<string, Json>
  visitor: 'usual' | 'unknown'
  /** Zone of the service. */
  timezone?: string
}

const groups = [accessItems, cacheItems, originItems, responseItems]
const makers: Record<string, (draft: Draft) => Json> = {
  ...accessItems,
  ...cacheItems,
  ...originItems,
  ...responseItems,
}
const itemNames = [...catalogue.keys()]

/** Probabilities that an item is set, where a usual one would make pairs dull. */
const shares: Record<string, number> = {
  https: 0.92,
  origin: 0.92,
  extend: 0.05,
  ip_white_list: 0.3,
  visit_timestamp: 0.35,
  deny_protocol: 0.1,
}

/** How the items of a pair are chosen. */
interface Mixture {
  /** Probability that an item is set. */
  density: number
  /** Items that are set more often. */
  focus: string[]
  unmanaged: number
  inDoubt: number
}

/** Builds the pair of this seed; equal seeds give equal pairs. */
export function buildPair(seed: number, kind: 'managed' | 'mixed'): Pair {
  const chance = new Chance(`pair ${kind} ${seed}`)
  const isMixed = kind === 'mixed'
  const draft = createDraft(chance)
  const mixture: Mixture = {
    density: chance.pick([0.1, 0.25, 0.5, 0.85]),
    focus: Object.keys(chance.pick(groups)),
    unmanaged: isMixed ? chance.pick([0.02, 0.1, 0.3, 0.6]) : 0,
    inDoubt: isMixed ? chance.pick([0, 0.05, 0.12]) : 0,
  }
  const items = drawItems(draft, mixture)
  const share = isMixed ? chance.pick([0, 0.05, 0.3, 1, 1]) : 0
  const assume = isMixed
    ? drawSettings({ ...draft, chance: chance.fork('readings') }, share, itemNames)
    : {}
  const timezone = chance.pick(zones)
  const zone = chance.happens(0.8) ? timezone : 'UTC'
  const gaps = isMixed ? chance.pick([0, 0.1, 0.3, 0.7]) : 0.02
  const signed = buildUrl({ ...draft, chance: chance.fork('url') }, zone)
  const signature = drawSignature(chance, signed, items)
  const style = { gaps, zone, signature }
  const request = buildRequest({ ...draft, chance: chance.fork('request') }, signed, style)
  const visitor = isMixed && chance.happens(0.3) ? 'usual' : 'unknown'
  const pair: Pair = { domain: draft.domain, items, request, visitor, assume }
  return chance.happens(isMixed ? 0.6 : 0.9) ? { ...pair, timezone } : pair
}

/** Draws whether the signature is said to be right, which never contradicts the computation. */
function drawSignature(
  chance: Chance,
  { truth }: SignedUrl,
  items: Record<string, Json[]>,
): SignedUrl['truth'] {
  const isSingle = (items['visit_timestamp'] ?? []).length === 1
  return isSingle && chance.happens(0.75) ? truth : null
}

function drawItems(draft: Draft, mixture: Mixture): Record<string, Json[]> {
  const drawn = itemNames.flatMap((name): [string, Json[]][] => {
    const chance = draft.chance.fork(name)
    if (chance.happens(mixture.unmanaged)) return []
    const usual = mixture.focus.includes(name) ? 0.85 : mixture.density
    const isSet = chance.happens(shares[name] ?? usual)
    const value = isSet ? makeValue(name, { ...draft, chance }) : null
    const isInDoubt = chance.happens(isSet ? mixture.inDoubt : mixture.inDoubt / 3)
    return [[name, isInDoubt ? addDoubt(name, { ...draft, chance }, value) : [value]]]
  })
  const items = Object.fromEntries(drawn)
  // A write of one list of addresses empties the other, so both are rare.
  const isBlack = items['ip_black_list']?.some((candidate) => candidate !== null) === true
  const isWhite = items['ip_white_list']?.length === 1
  return isBlack && isWhite && draft.chance.happens(0.8)
    ? { ...items, ip_white_list: [null] }
    : items
}

/** Adds one or two other candidates, in any order. */
function addDoubt(name: string, draft: Draft, value: Json): Json[] {
  const { chance } = draft
  const candidates = [value]
  for (let i = chance.between(1, 2); i > 0; i--) {
    const kind = chance.draw()
    const other =
      kind < 0.2
        ? { $unknown: true }
        : kind < 0.4
          ? null
          : kind < 0.7 && value !== null
            ? dropEntry(chance, name, value)
            : makeValue(name, draft)
    if (candidates.some((each) => isSameJson(each, other))) continue
    candidates.splice(chance.between(0, candidates.length), 0, other)
  }
  return candidates.length > 1 ? candidates : [...candidates, { $unknown: true }]
}

/** Drops an entry of the list of a value, if it has one and stays valid. */
function dropEntry(chance: Chance, name: string, value: Json): Json {
  const drop = (list: Json[]) => list.toSpliced(chance.between(0, list.length - 1), 1)
  const shorter = Array.isArray(value)
    ? drop(value)
    : isObject(value) && Array.isArray(value['list'])
      ? { ...value, list: drop(value['list']) }
      : value
  return parseItem(getItemSpec(name), shorter, 'manifest').value ?? value
}

/**
 * Makes a valid value in its canonical form.
 *
 * @throws Error if the maker of the item made an invalid one
 */
function makeValue(name: string, draft: Draft): Json {
  const raw = makers[name]?.(draft) ?? null
  const { value, problems } = parseItem(getItemSpec(name), raw, 'manifest')
  if (value === null)
    throw new Error(`${name} ${JSON.stringify(raw)} is invalid: ${problems[0]?.detail}`)
  return value
}
