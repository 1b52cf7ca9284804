import { settle } from '../effects/witness/languages.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { Unknown } from '../trace/answer.ts'
import { formatMinutes } from '../trace/request.ts'
import { readPlain } from '../trace/secret-text.ts'
import type { Settings } from '../trace/readings.ts'
import type { Rule } from '../trace/rule.ts'
import type { Desk } from './desk.ts'
import { createFinding, nameRule, type Finding } from './finding.ts'
import {
  findCore,
  listReadingsOf,
  listTexts,
  seeUrl,
  type Entry,
  type Proof,
  type SeenUrl,
} from './pattern.ts'
import type { RankedList, RankedRule } from './ranked-rules.ts'
import { TextIndex } from './text-index.ts'
import { findRests, isEverywhere, type Rests } from './rests.ts'

/** How earlier rules hide a rule, and where. */
interface Cover {
  by: RankedRule[]
  rests: Rests
  proof: Proof
}

/** Samples of a rule that are compared with other rules before any automaton is. */
const maxSamples = 4

/** Finds the rules of a first-match list that never decide (request semantics, 7). */
export function checkFirstMatch(list: RankedList, desk: Desk): Finding[] {
  const index = new TextIndex(list.rules.map(({ entries }) => entries.map(findCore)))
  return list.rules.flatMap((rule) => {
    if (desk.isSpent) return []
    const check = new RuleCheck(list, rule, desk, index)
    return check.findFirst() ?? check.findUndecided() ?? []
  })
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
  /** The rules that rank before it in some world. */
  readonly #earlier: RankedRule[]
  readonly #index: TextIndex
  readonly #samples: (string | null)[]
  readonly #near: RankedRule[]
  #covers: Cover[] | undefined
  /** The first finding that holds in some worlds; after it, only those everywhere count. */
  #note: Finding | null = null
  /** Searches of other rules that took too much. */
  readonly #givenUp: number

  constructor(list: RankedList, own: RankedRule, desk: Desk, index: TextIndex) {
    this.#list = list
    this.#own = own
    this.#desk = desk
    this.#index = index
    this.#earlier = list.rules.filter(
      (each) =>
        each !== own &&
        (list.listOrderReadings(each, own).length > 0 || list.isBefore(each, own, desk.settings)),
    )
    this.#givenUp = desk.givenUp
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
      if (found !== null && isEverywhere(found.rests)) return found
      this.#note ??= found
    }
    return this.#note
  }

  #create(
    code: Finding['code'],
    text: string,
    others: RankedRule[],
    { rests, proof }: { rests: Rests; proof: Proof },
  ): Finding {
    const witness = this.#findCommon(others)
    const other = others.map(({ rule }) => rule)
    const detail = `${nameRule(this.#own.rule)} ${text} ${other.map(nameRule).join(', ')}`
    return createFinding(code, this.#own.rule, detail, { other, rests, proof, witness })
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
      const rests = findRests(this.#desk.settings, readings, isBefore)
      return rests === null ? [] : [{ by: [by], rests, proof: 'text' as const }]
    })
    const best = chooseBest(found)
    return best && this.#create('rule-duplicate', 'repeats', best.by, best)
  }

  /** The earlier rules that have all requests of this one. */
  #listCovers(): Cover[] {
    // After a note, only what covers it everywhere counts.
    return (this.#covers ??= this.#listNear(this.#note !== null).flatMap((by) => {
      this.#desk.spend(1)
      if (this.#desk.isSpent || !includesWindow(by, this.#own) || this.#isRefuted(by)) return []
      const found = this.#cover(by, this.#own)
      return found === null ? [] : [{ by: [by], ...found }]
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
    const open = [...readings, ...listReadingsOf([...wide.entries, ...narrow.entries])]
    let proof: Proof = 'text'
    const rests = findRests(
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
    return rests === null ? null : { rests, proof }
  }

  #findContradiction(): Finding | null {
    const near = this.#listCovers().flatMap(({ by }) => by)
    const found = near.flatMap((by) => {
      if (by.effect === this.#own.effect || !includesWindow(this.#own, by)) return []
      const both = this.#cover(by, this.#own, true)
      return both === null ? [] : [{ by: [by], ...both }]
    })
    const best = chooseBest(found)
    return best && this.#create('rule-contradictory', 'matches the same as', best.by, best)
  }

  #findShadow(): Finding | null {
    const best = chooseBest(this.#listCovers())
    return best && this.#create('rule-shadowed', 'is hidden by', best.by, best)
  }

  /** Finds two earlier rules, or the entries of one, that have all requests together. */
  #findUnion(): Finding | null {
    const { entries } = this.#own
    const matching = this.#listSamples()
      .filter((seen) => this.#desk.answer(entries, seen) === true)
      .map((seen) => this.#near.filter((each) => this.#desk.answer(each.entries, seen) !== false))
    if (matching.some(({ length }) => length === 0)) return null
    // All rules together are compared faster than each two.
    if (this.#earlier.length < 2 || this.#unite(this.#earlier) === null) return null
    const pairs = this.#earlier
      .flatMap((b, i) => [[b], ...this.#earlier.slice(0, i).map((a) => [a, b])])
      .filter((pair) => matching.every((rules) => rules.some((each) => pair.includes(each))))
    const found = pairs.flatMap((by) => {
      const rests = this.#desk.isSpent ? null : this.#unite(by)
      return rests === null ? [] : [{ by, rests, proof: 'union' as const }]
    })
    const best = chooseBest(found)
    if (best === null) return null
    return best.by.length === 1
      ? this.#create('rule-shadowed', 'is hidden by', best.by, { ...best, proof: 'automaton' })
      : this.#create('rule-unreachable', 'is hidden by', best.by, best)
  }

  #unite(rules: RankedRule[]): Rests | null {
    const { settings } = this.#desk
    this.#desk.spend(rules.length / 4)
    const own = this.#own
    const open = [
      ...rules.flatMap((each) => this.#list.listOrderReadings(each, own)),
      ...listReadingsOf([...own.entries, ...rules.flatMap(({ entries }) => entries)]),
      ...(own.window === null ? [] : [76]),
    ]
    return findRests(
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

  /** Finds that the rule, or an earlier one, could not be compared. */
  findUndecided(): Finding | null {
    const { rule, entries } = this.#own
    const all = [this.#own, ...this.#earlier].flatMap((each) => each.entries)
    const isDecided =
      all.every(({ isDecidable }) => isDecidable) && this.#desk.givenUp === this.#givenUp
    return isDecided ? null : createUndecided(rule, listTexts(entries))
  }
}

/** The cover that holds in most worlds, the first of equal ones. */
function chooseBest(covers: Cover[]): Cover | null {
  const count = ({ rests }: Cover) => Object.keys(rests).length
  return covers.toSorted((a, b) => count(a) - count(b))[0] ?? null
}

/** Finds that no request matches some entries. */
export function findEmpty(rule: Rule, entries: readonly Entry[], desk: Desk): Finding | null {
  if (entries.length === 0 || entries.some((each) => !each.isDecidable)) return null
  const rests = findRests(
    desk.settings,
    listReadingsOf(entries),
    (world, space) => {
      if (entries.some((entry) => desk.sample(entry, world) !== null)) return false
      const must = [entries.flatMap((entry) => entry.languages(world))]
      const found = must[0]?.length === 0 ? null : desk.find(space, { must, never: [] })
      return found === undefined ? undefined : found === null
    },
    'all',
  )
  if (rests === null) return null
  const detail = `no URL of ${desk.domain} matches ${nameRule(rule)}`
  return createFinding('rule-never-matches', rule, detail, { rests, proof: 'automaton' })
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
    if (isEverywhere(finding.rests)) return finding
    found.push(finding)
  }
  return found[0] ?? null
}

function findOverlap(
  a: RankedRule,
  b: RankedRule,
  desk: Desk,
  isTotal: boolean,
): { rests: Rests; witness: JsonObject | null; proof: Proof | null } | null {
  const samples = [
    ...desk.listSamples([...a.entries.slice(0, maxSamples), ...b.entries.slice(0, maxSamples)]),
    ...[...crossSamples(a, b, desk), ...crossSamples(b, a, desk)].slice(0, maxSamples),
  ]
  const isCommon = (seen: SeenUrl, answers: (boolean | null)[]) =>
    [a, b].every(({ entries }) => answers.includes(desk.answer(entries, seen)))
  const common = samples.find((seen) => isCommon(seen, [true]))
  if (common !== undefined) return { rests: {}, witness: { url: common.url }, proof: null }
  const entries = [...a.entries, ...b.entries]
  const isText = entries.every(
    ({ form: { kind, text } }) => kind !== 'regex' && kind !== 'secret' && !text.includes('*'),
  )
  if (isText && !samples.some((seen) => isCommon(seen, [true, null]))) return null
  if (entries.some(({ isDecidable }) => !isDecidable)) return null
  let witness: string | null = null
  const rests = findRests(
    desk.settings,
    listReadingsOf(entries),
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
  if (rests === null) return null
  const isWitness = witness !== null && isCommon(seeUrl(witness), [true])
  return { rests, witness: isWitness ? { url: witness } : null, proof: 'automaton' }
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

function listTimes(rules: RankedRule[]): number[] {
  const limits = rules.flatMap(({ window }) =>
    window === null ? [] : [window.from, window.to, window.to + 1],
  )
  return [...new Set(limits)].toSorted((a, b) => a - b)
}
