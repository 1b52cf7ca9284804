import { settle } from '../effects/witness/languages.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { Unknown } from '../trace/answer.ts'
import { formatMinutes } from '../trace/request.ts'
import { readPlain } from '../trace/secret-text.ts'
import type { Settings } from '../trace/readings.ts'
import type { Rule } from '../trace/rule.ts'
import type { Desk } from './desk.ts'
import { createFinding, nameRule, type Finding, type Reached } from './finding.ts'
import {
  findCore,
  listOpenReadings,
  listTexts,
  seeUrl,
  type Entry,
  type Proof,
  type SeenUrl,
} from './pattern.ts'
import type { RankedList, RankedRule } from './ranked-rules.ts'
import { TextIndex } from './text-index.ts'
import { findUnder, isEverywhere, listOpen, listWorlds, type Under } from './worlds.ts'

/** What is known of the rules of a list. */
export interface ListResult {
  findings: Finding[]
  reached: Reached[]
}

/** How an earlier rule hides a rule, and where. */
interface Cover {
  by: RankedRule
  under: Under
  proof: Proof
}

/** Samples of a rule that are compared with other rules before any automaton is. */
const maxSamples = 4

/**
 * Finds the rules of a first-match list that never decide, and a request for each of the others
 * (request semantics, 7).
 *
 * @param avoid entries of rules that change the URL before; requests must match none of them
 */
export function checkFirstMatch(list: RankedList, desk: Desk, avoid: Entry[]): ListResult {
  const result: ListResult = { findings: [], reached: [] }
  const index = new TextIndex(list.rules.map(({ entries }) => entries.map(findCore)))
  for (const rule of list.rules) {
    if (desk.isSpent) break
    const check = new RuleCheck(list, rule, desk, avoid, index)
    const finding = check.findFirst()
    if (finding !== null) result.findings.push(finding)
    if (finding?.severity === 'warning') continue
    const reached = check.findReached()
    if (reached !== null) result.reached.push(reached)
    else if (finding === null)
      result.findings.push(createUndecided(rule.rule, listTexts(rule.entries)))
  }
  return result
}

/** Creates the finding of a rule about which nothing is known; names the secrets that it has. */
export function createUndecided(rule: Rule, of: Json): Finding {
  const text = readPlain<unknown>(of)
  const secrets = text instanceof Unknown ? text.reasons : []
  const names = secrets.map((reason) => reason.replace(/^\S+ /, '').replace(':', ' '))
  const why = names.length === 0 ? '' : `: it depends on ${names.join(' and ')}`
  const detail = `nothing could be decided about ${nameRule(rule)}${why}`
  return createFinding('rule-undecided', rule, detail)
}

class RuleCheck {
  readonly #list: RankedList
  readonly #own: RankedRule
  readonly #desk: Desk
  readonly #avoid: Entry[]
  /** The rules that rank before it in some world. */
  readonly #earlier: RankedRule[]
  readonly #index: TextIndex
  readonly #samples: (string | null)[]
  readonly #near: RankedRule[]
  #covers: Cover[] | undefined
  /** The first finding that holds in some worlds; after it, only those everywhere count. */
  #note: Finding | null = null
  #reached: Reached | null | undefined

  constructor(list: RankedList, own: RankedRule, desk: Desk, avoid: Entry[], index: TextIndex) {
    this.#list = list
    this.#own = own
    this.#desk = desk
    this.#avoid = avoid
    this.#index = index
    this.#earlier = list.rules.filter(
      (each) =>
        each !== own &&
        (list.listOrderReadings(each, own).length > 0 || list.isBefore(each, own, desk.settings)),
    )
    this.#samples = own.entries.flatMap((entry) => desk.listEvidence(entry))
    this.#near = this.#listNear(true)
    desk.spend(1 + this.#earlier.length / 100)
  }

  /** The earlier rules that may match a sample of it; with `isPartly`, of some worlds. */
  #listNear(isPartly: boolean): RankedRule[] {
    const found = this.#index.find(this.#samples, isPartly)
    this.#desk.spend(found.length / 8)
    const near = new Set(found.map((i) => this.#list.rules[i]))
    return this.#earlier.filter((each) => near.has(each))
  }

  /** The first code that holds in every world; else the first that holds in some. */
  findFirst(): Finding | null {
    for (const find of [
      () => this.#findDuplicate(),
      () => findEmpty(this.#own.rule, this.#own.entries, this.#desk),
      () => this.#findContradiction(),
      () => this.#findShadow(),
      () => this.#findUnion(),
      () => findUnordered(this.#list, this.#own, this.#list.rules, this.#desk, this.#note !== null),
    ]) {
      const found = find()
      if (found !== null && isEverywhere(found.under)) return found
      this.#note ??= found
    }
    return this.#note
  }

  #create(
    code: Finding['code'],
    text: string,
    others: RankedRule[],
    { under, proof }: { under: Under; proof: Proof },
  ): Finding {
    const witness = this.#findCommon(others)
    const other = others.map(({ rule }) => rule)
    const detail = `${nameRule(this.#own.rule)} ${text} ${other.map(nameRule).join(', ')}`
    return createFinding(code, this.#own.rule, detail, { other, under, proof, witness })
  }

  #findCommon(others: RankedRule[]): JsonObject | null {
    const seen = this.#listSamples().find((each) =>
      [this.#own, ...others].every(({ entries }) => this.#desk.answer(entries, each) === true),
    )
    if (seen === undefined || others.length !== 1) return null
    const { window } = this.#own
    return { url: seen.url, ...(window === null ? {} : { time: formatMinutes(window.from) }) }
  }

  #listSamples(): SeenUrl[] {
    return this.#desk.listSamples(this.#own.entries.slice(0, maxSamples))
  }

  /** The order that two rules have in a world. */
  #orders(other: RankedRule): [number[], (settings: Settings) => boolean] {
    const readings = this.#list.listOrderReadings(other, this.#own)
    return [readings, (settings) => this.#list.isBefore(other, this.#own, settings)]
  }

  #findDuplicate(): Finding | null {
    const same = this.#earlier.filter(
      ({ name, effect, window }) =>
        name === this.#own.name &&
        effect === this.#own.effect &&
        window?.from === this.#own.window?.from &&
        window?.to === this.#own.window?.to,
    )
    const found = same.flatMap((by) => {
      const [readings, isBefore] = this.#orders(by)
      const under = findUnder(this.#desk.settings, readings, isBefore)
      return under === null ? [] : [{ by, under, proof: 'text' as const }]
    })
    const best = chooseBest(found)
    return best && this.#create('rule-duplicate', 'repeats', [best.by], best)
  }

  /** The earlier rules that have all requests of this one. */
  #listCovers(): Cover[] {
    // After a note, only what covers it everywhere counts.
    return (this.#covers ??= this.#listNear(this.#note !== null).flatMap((by) => {
      this.#desk.spend(1)
      if (this.#desk.isSpent || !includesWindow(by, this.#own) || this.#isRefuted(by)) return []
      const found = this.#cover(by, this.#own)
      return found === null ? [] : [{ by, ...found }]
    }))
  }

  /** Whether a request matches this rule and not the other, in every world. */
  #isRefuted(by: RankedRule): boolean {
    return this.#listSamples().some(
      (seen) =>
        this.#desk.answer(by.entries, seen) === false &&
        this.#desk.answer(this.#own.entries, seen) === true,
    )
  }

  #cover(wide: RankedRule, narrow: RankedRule, isEqual = false): Omit<Cover, 'by'> | null {
    const [readings, isBefore] = this.#orders(narrow === this.#own ? wide : narrow)
    const { settings } = this.#desk
    const open = listOpen(settings, [
      ...readings,
      ...listOpenReadings(settings, [...wide.entries, ...narrow.entries]),
    ])
    let proof: Proof = 'text'
    const under = findUnder(
      settings,
      open,
      (world, space) => {
        if (!isBefore(world)) return false
        const found = this.#desk.cover(wide.entries, narrow.entries, world, space)
        if (found === undefined || found === false) return found
        if (proof === 'text' || found === 'automaton') proof = found
        if (!isEqual) return true
        const back = this.#desk.cover(narrow.entries, wide.entries, world, space)
        return back === undefined ? undefined : back !== false
      },
      'all',
      this.#note !== null,
    )
    return under === null ? null : { under, proof }
  }

  #findContradiction(): Finding | null {
    const found = this.#listCovers().flatMap(({ by }) => {
      if (by.effect === this.#own.effect || !includesWindow(this.#own, by)) return []
      const both = this.#cover(by, this.#own, true)
      return both === null ? [] : [{ by, ...both }]
    })
    const best = chooseBest(found)
    return best && this.#create('rule-contradictory', 'matches the same as', [best.by], best)
  }

  #findShadow(): Finding | null {
    const best = chooseBest(this.#listCovers())
    return best && this.#create('rule-shadowed', 'is hidden by', [best.by], best)
  }

  /** Finds whether the earlier rules have all requests together. */
  #findUnion(): Finding | null {
    if (this.#earlier.length < 2) return null
    const reached = this.findReached()
    if (reached !== null && (this.#note !== null || isEverywhere(reached.under))) return null
    const under = this.#unite(this.#earlier)
    if (under === null) return null
    let needed = this.#earlier
    for (const each of this.#earlier.toReversed()) {
      if (this.#desk.isSpent) break
      const fewer = needed.filter((other) => other !== each)
      const rest = fewer.length === 0 ? null : this.#unite(fewer)
      if (rest !== null && Object.keys(rest).length === Object.keys(under).length) needed = fewer
    }
    const code = needed.length === 1 ? 'rule-shadowed' : 'rule-unreachable'
    const proof = needed.length === 1 ? 'automaton' : 'union'
    return this.#create(code, 'is hidden by', needed, { under, proof })
  }

  #unite(rules: RankedRule[]): Under | null {
    const { settings } = this.#desk
    this.#desk.spend(rules.length / 4)
    const own = this.#own
    const open = listOpen(settings, [
      ...rules.flatMap((each) => this.#list.listOrderReadings(each, own)),
      ...listOpenReadings(settings, [...own.entries, ...rules.flatMap(({ entries }) => entries)]),
      ...(own.window === null ? [] : [76]),
    ])
    return findUnder(
      settings,
      open,
      (world, space) => {
        const before = rules.filter((each) => this.#list.isBefore(each, own, world))
        const sets = listActive(own, before, world)
        const found = sets.map((active) =>
          this.#desk.cover(
            active.flatMap(({ entries }) => entries),
            own.entries,
            world,
            space,
            true,
          ),
        )
        if (found.includes(false)) return false
        return found.includes(undefined) ? undefined : true
      },
      'all',
      this.#note !== null,
    )
  }

  /** Finds a request that the rule decides, in every world if there is one. */
  findReached(): Reached | null {
    return (this.#reached ??= this.#findReached())
  }

  #findReached(): Reached | null {
    const { settings } = this.#desk
    const { entries, rule } = this.#own
    const readings = this.#earlier.flatMap((each) => this.#list.listOrderReadings(each, this.#own))
    const all = [...entries, ...this.#earlier.flatMap((each) => each.entries), ...this.#avoid]
    const isKnown = all.every(({ isDecidable }) => isDecidable)
    const open = listOpen(settings, [...readings, ...listOpenReadings(settings, all)])
    let partly: Reached | null = null
    const near = new Set(this.#near)
    for (const { active, time } of listMinutes(this.#own, this.#earlier)) {
      const close = active.filter((each) => near.has(each))
      const rivals = [...active.map((each) => each.entries), this.#avoid]
      const isFree = (seen: SeenUrl) =>
        this.#desk.answer(entries, seen) === true &&
        [...close.map((each) => each.entries), this.#avoid].every(
          (each) => each.length === 0 || this.#desk.answer(each, seen) === false,
        )
      const samples = this.#desk.listSamples(entries)
      const sample = samples.find(isFree)
      if (sample !== undefined) return { rule, request: { url: sample.url, ...time }, under: {} }
      this.#desk.spend(rivals.length / 4)
      if (!isKnown || this.#desk.isSpent) continue
      const found = this.#searchEverywhere(rivals.flat())
      if (found !== null) return { rule, request: { url: found, ...time }, under: {} }
      const part: { url: string; under: Under } | null =
        partly === null ? this.#findPartly(samples, active, close, open) : null
      if (part !== null) partly = { rule, request: { url: part.url, ...time }, under: part.under }
    }
    return partly
  }

  #searchEverywhere(others: Entry[]): string | null {
    const { entries } = this.#own
    const { settings } = this.#desk
    const own = listWorlds(settings, listOpenReadings(settings, entries)) ?? []
    const isEmpty = own.some((world) =>
      entries.every((entry) => this.#desk.sample(entry, world.settings) === null),
    )
    if (isEmpty) return null
    const never = others.flatMap((entry) => this.#desk.everywhere([entry]).flat())
    return this.#desk.find('plain', { must: this.#desk.everywhere(entries), never }) ?? null
  }

  /** Finds a URL that it decides under some answers. */
  #findPartly(
    samples: SeenUrl[],
    active: RankedRule[],
    close: RankedRule[],
    open: number[],
  ): { url: string; under: Under } | null {
    const { settings } = this.#desk
    const { entries } = this.#own
    const before = (rules: RankedRule[], world: Settings) =>
      rules
        .filter((each) => this.#list.isBefore(each, this.#own, world))
        .flatMap((each) => each.entries)
        .concat(this.#avoid)
    const decides = (seen: SeenUrl, world: Settings) =>
      entries.some((entry) => entry.matches(world, seen)) &&
      !before(samples.includes(seen) ? close : active, world).some((entry) =>
        entry.matches(world, seen),
      )
    const search = (world: Settings) => {
      const list = (all: Entry[]) => all.flatMap((each) => each.languages(world))
      const wanted = { must: [list(entries)], never: list(before(active, world)) }
      const url = this.#desk.find('plain', wanted)
      return typeof url === 'string' ? seeUrl(url) : undefined
    }
    const worlds = listWorlds(settings, open) ?? []
    const sampled = worlds.flatMap(
      (world) => samples.find((each) => decides(each, world.settings)) ?? [],
    )
    for (const seen of sampled.length > 0
      ? sampled
      : worlds.flatMap((world) => search(world.settings) ?? [])) {
      const under = findUnder(settings, open, (each) => decides(seen, each))
      if (under !== null) return { url: seen.url, under }
    }
    return null
  }
}

/** The cover that holds in most worlds, the first of equal ones. */
function chooseBest(covers: Cover[]): Cover | null {
  const count = ({ under }: Cover) => Object.keys(under).length
  return covers.toSorted((a, b) => count(a) - count(b))[0] ?? null
}

/** Finds that no request matches some entries. */
export function findEmpty(rule: Rule, entries: readonly Entry[], desk: Desk): Finding | null {
  if (entries.length === 0 || entries.some((each) => !each.isDecidable)) return null
  const under = findUnder(
    desk.settings,
    listOpenReadings(desk.settings, entries),
    (world, space) => {
      if (entries.some((entry) => desk.sample(entry, world) !== null)) return false
      const must = [entries.flatMap((entry) => entry.languages(world))]
      const found = must[0]?.length === 0 ? null : desk.find(space, { must, never: [] })
      return found === undefined ? undefined : found === null
    },
    'all',
  )
  if (under === null) return null
  const detail = `no URL of ${desk.domain} matches ${nameRule(rule)}`
  return createFinding('rule-never-matches', rule, detail, { under, proof: 'automaton' })
}

/** Finds a rule that overlaps, has other fields, and is ordered only by an open reading. */
export function findUnordered(
  list: RankedList,
  own: RankedRule,
  rules: RankedRule[],
  desk: Desk,
  isTotal = false,
): Finding | null {
  const found: Finding[] = []
  for (const other of rules.slice(0, rules.includes(own) ? rules.indexOf(own) : rules.length)) {
    const readings = list.listOrderReadings(other, own)
    if (readings.length === 0 || other.effect === own.effect) continue
    desk.spend(1)
    if (desk.isSpent) break
    const overlap = findOverlap(own, other, desk, isTotal)
    if (overlap === null) continue
    const detail =
      `${nameRule(own.rule)} and ${nameRule(other.rule)} match the same request and differ, and ` +
      `nothing says which ranks first (${readings.map((number) => `R${number}`).join(', ')})`
    const finding = createFinding('rule-order-unspecified', own.rule, detail, {
      other: [other.rule],
      ...overlap,
    })
    if (isEverywhere(finding.under)) return finding
    found.push(finding)
  }
  return found[0] ?? null
}

function findOverlap(
  a: RankedRule,
  b: RankedRule,
  desk: Desk,
  isTotal: boolean,
): { under: Under; witness: JsonObject | null; proof: Proof | null } | null {
  const samples = [
    ...desk.listSamples([...a.entries.slice(0, maxSamples), ...b.entries.slice(0, maxSamples)]),
    ...[...crossSamples(a, b, desk), ...crossSamples(b, a, desk)].slice(0, maxSamples),
  ]
  const isCommon = (seen: SeenUrl, answers: (boolean | null)[]) =>
    [a, b].every(({ entries }) => answers.includes(desk.answer(entries, seen)))
  const common = samples.find((seen) => isCommon(seen, [true]))
  if (common !== undefined) return { under: {}, witness: { url: common.url }, proof: null }
  const entries = [...a.entries, ...b.entries]
  const isText = entries.every(
    ({ form: { kind, text } }) => kind !== 'regex' && kind !== 'secret' && !text.includes('*'),
  )
  if (isText && !samples.some((seen) => isCommon(seen, [true, null]))) return null
  if (entries.some(({ isDecidable }) => !isDecidable)) return null
  let witness: string | null = null
  const under = findUnder(
    desk.settings,
    listOpenReadings(desk.settings, entries),
    (world, space) => {
      const has = (seen: SeenUrl) =>
        [a, b].every((rule) => rule.entries.some((entry) => entry.matches(world, seen)))
      if (samples.some(has)) return true
      const must = [a, b].map((rule) => rule.entries.flatMap((each) => each.languages(world)))
      const found = isText ? null : desk.find(space, { must, never: [] })
      if (space === 'plain') witness ??= found ?? null
      return found === undefined ? undefined : found !== null
    },
    'some',
    isTotal,
  )
  if (under === null) return null
  const isWitness = witness !== null && isCommon(seeUrl(witness), [true])
  return { under, witness: isWitness ? { url: witness } : null, proof: 'automaton' }
}

/** Files with suffixes of one rule in directories of the other. */
function crossSamples(a: RankedRule, b: RankedRule, desk: Desk): SeenUrl[] {
  const suffixes = a.entries.filter(({ form }) => form.kind === 'ext').slice(0, 2)
  const places = b.entries.filter(({ form }) => form.kind === 'dir').slice(0, 2)
  return places.flatMap((place) => {
    const [at] = desk.listSamples([place])
    if (at === undefined) return []
    return suffixes.map(({ form }) => seeUrl(`${at.url}.${form.text.replace(/^\./, '')}`))
  })
}

/** Whether a rule applies whenever another one does. */
function includesWindow(wide: RankedRule, narrow: RankedRule): boolean {
  if (wide.window === null || narrow.window === null) return true
  return wide.window.from <= narrow.window.from && wide.window.to >= narrow.window.to
}

/** The rules that apply together with a rule, at each minute that makes a difference (R76). */
function listActive(own: RankedRule, rules: RankedRule[], settings: Settings): RankedRule[][] {
  const { window } = own
  if (window === null) return [rules]
  const isInside = settle(settings, 76) === 'inside'
  const isAt = (each: RankedRule, minute: number) => {
    const { from = 0, to = 0 } = each.window ?? {}
    return from <= minute && (isInside ? minute <= to : minute < to)
  }
  return listTimes([own, ...rules])
    .filter((minute) => isAt(own, minute))
    .map((minute) => rules.filter((each) => isAt(each, minute)))
}

/** The rules that may apply together with a rule, at some minutes; the time for a request. */
function listMinutes(
  own: RankedRule,
  rules: RankedRule[],
): { active: RankedRule[]; time: JsonObject }[] {
  const { window } = own
  if (window === null) return [{ active: rules, time: {} }]
  const times = listTimes([own, ...rules]).filter((at) => window.from <= at && at < window.to)
  const isAt = ({ window: other }: RankedRule, at: number) =>
    other === null || (other.from <= at && at <= other.to)
  return times.map((at) => ({
    active: rules.filter((each) => isAt(each, at)),
    time: { time: formatMinutes(at) },
  }))
}

function listTimes(rules: RankedRule[]): number[] {
  const limits = rules.flatMap(({ window }) =>
    window === null ? [] : [window.from, window.to, window.to + 1],
  )
  return [...new Set(limits)].toSorted((a, b) => a - b)
}
