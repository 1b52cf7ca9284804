import { settle } from '../effects/patterns/languages.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { Unknown } from '../trace/answer.ts'
import { formatMinutes } from '../trace/request.ts'
import { readPlain } from '../trace/secret-text.ts'
import type { Settings } from '../trace/readings.ts'
import type { Rule } from '../trace/rule.ts'
import type { Cover, Desk } from './desk.ts'
import { createFinding, nameRule, type Finding } from './finding.ts'
import {
  findCore,
  listReadingsOf,
  listTexts,
  seeUrl,
  type Entry,
  type Proof,
  type SeenUrl,
} from '../effects/patterns/pattern.ts'
import {
  isActive,
  listTimes,
  type RankedList,
  type RankedRule,
} from '../effects/patterns/ranked-rules.ts'
import { TextIndex } from './text-index.ts'
import { findRests, isEverywhere, type Rests } from './rests.ts'

/** How earlier rules hide a rule, and where. */
interface Hiding extends Cover {
  by: RankedRule[]
}

/** Samples of a rule that are compared with other rules before any automaton is. */
const maxSamples = 4
/** Samples of two rules that are compared with both. */
const maxMutual = 200
/** The readings that leave the order of two rules open unless the operator sets them. */
const unspecified = new Set([14, 38, 39])

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
  /** The rules that rank before it. */
  readonly #earlier: RankedRule[]
  /** The earlier rules that may match a sample of it. */
  readonly #near: RankedRule[]
  #covers: Hiding[] | undefined
  /** Searches of other rules that took too much. */
  readonly #givenUp: number

  constructor(list: RankedList, own: RankedRule, desk: Desk, index: TextIndex) {
    this.#list = list
    this.#own = own
    this.#desk = desk
    this.#earlier = list.rules.slice(0, list.rules.indexOf(own))
    this.#givenUp = desk.givenUp
    const evidence = own.entries.flatMap((entry) => desk.listEvidence(entry))
    const known = evidence.filter((url) => url !== null)
    const found = index.find(known.length === 0 ? [null] : known)
    const near = new Set(found)
    this.#near = this.#earlier.filter((_, i) => near.has(i))
    desk.spend(1 + this.#earlier.length / 100 + found.length / 8)
  }

  /** A repetition; or the first code that rests on nothing, else the first one. */
  findFirst(): Finding | null {
    const same = this.#findDuplicate()
    if (same !== null) return same
    let note: Finding | null = null
    for (const find of [
      () => findEmpty(this.#own.rule, this.#own.entries, this.#desk),
      () => this.#findContradiction(),
      () => this.#findShadow(),
      () => this.#findUnion(),
      () => this.#findUnordered(),
    ]) {
      const found = find()
      if (found !== null && isEverywhere(found.rests)) return found
      note ??= found
    }
    return note
  }

  /** Creates the finding of the cover that rests on the fewest readings, the first of these. */
  #create(code: Finding['code'], text: string, covers: Hiding[]): Finding | null {
    const count = ({ rests }: Hiding) => Object.keys(rests).length
    const [best] = covers.toSorted((a, b) => count(a) - count(b))
    if (best === undefined) return null
    const { by, rests, proof } = best
    const other = by.map(({ rule }) => rule)
    const detail = `${nameRule(this.#own.rule)} ${text} ${other.map(nameRule).join(', ')}`
    const witness = this.#findCommon(by)
    const isAlone = code === 'rule-unreachable' && by.length === 1
    const own = isAlone ? 'rule-shadowed' : code
    return createFinding(own, this.#own.rule, detail, { other, rests, proof, witness })
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

  /** Finds an earlier rule that does the same; rests on their order if rules between differ. */
  #findDuplicate(): Finding | null {
    const own = this.#own
    const same = this.#earlier.filter(
      ({ name, effect, window }) =>
        name === own.name &&
        effect === own.effect &&
        window?.from === own.window?.from &&
        window?.to === own.window?.to,
    )
    const { readings, isBefore, rules } = this.#list
    const found = [...new Set([...same.slice(0, 1), ...same.slice(-1)])].map((by) => {
      const rests = findRests(
        this.#desk.settings,
        readings(by, own),
        (settings) =>
          isBefore(by, own, settings) ||
          (isBefore(own, by, settings) &&
            rules.every(
              (each) =>
                each.effect === own.effect ||
                !isBefore(own, each, settings) ||
                !isBefore(each, by, settings),
            )),
      )
      return { by: [by], rests: rests ?? {}, proof: 'text' as const }
    })
    return this.#create('rule-duplicate', 'repeats', found)
  }

  /** The earlier rules that have all requests of this one. */
  #listCovers(): Hiding[] {
    return (this.#covers ??= this.#near.flatMap((by) => {
      this.#desk.spend(1)
      if (this.#desk.isSpent || !includesWindow(by, this.#own)) return []
      return this.#cover(by) ?? []
    }))
  }

  /** How a rule that ranks before this one has all its requests; with `isEqual`, no others. */
  #cover(by: RankedRule, isEqual = false): Hiding | null {
    const [own, desk, { readings, isBefore }] = [this.#own, this.#desk, this.#list]
    const found = desk.findCover(by.entries, own.entries, readings(by, own), (settings) => {
      if (!isBefore(by, own, settings)) return false
      return !isEqual || Boolean(desk.cover(own.entries, by.entries, settings))
    })
    return found && { by: [by], ...found }
  }

  #findContradiction(): Finding | null {
    const near = this.#listCovers().flatMap(({ by }) => by)
    const found = near.flatMap((by) => {
      if (by.effect === this.#own.effect || !includesWindow(this.#own, by)) return []
      return this.#cover(by, true) ?? []
    })
    return this.#create('rule-contradictory', 'matches the same as', found)
  }

  #findShadow(): Finding | null {
    return this.#create('rule-shadowed', 'is hidden by', this.#listCovers())
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
      const proof: Proof = by.length === 1 ? 'automaton' : 'union'
      return rests === null ? [] : [{ by, rests, proof }]
    })
    return this.#create('rule-unreachable', 'is hidden by', found)
  }

  #unite(rules: RankedRule[]): Rests | null {
    const [own, desk, { readings, isBefore }] = [this.#own, this.#desk, this.#list]
    desk.spend(rules.length / 4)
    const asked = [
      ...rules.flatMap((each) => readings(each, own)),
      ...listReadingsOf([...own.entries, ...rules.flatMap(({ entries }) => entries)]),
      ...(own.window === null ? [] : [76]),
    ]
    return findRests(desk.settings, asked, (settings) => {
      const before = rules.filter((each) => isBefore(each, own, settings))
      const found = listActive(own, before, settings).map((active) => {
        const wide = active.flatMap(({ entries }) => entries)
        return desk.cover(wide, own.entries, settings, true)
      })
      if (found.includes(false)) return false
      return found.includes(undefined) ? undefined : true
    })
  }

  /** Finds an earlier rule that overlaps, and ranks before it only by what nobody has set. */
  #findUnordered(): Finding | null {
    const [own, desk] = [this.#own, this.#desk]
    let note: Finding | null = null
    for (const other of this.#earlier) {
      const asked = this.#list.readings(other, own)
      const readings = asked.filter((each) => unspecified.has(each) && !desk.settings.own.has(each))
      if (readings.length === 0 || other.effect === own.effect) continue
      desk.spend(1)
      if (desk.isSpent) break
      const overlap = findOverlap(own, other, desk)
      if (overlap === null) continue
      const detail =
        `${nameRule(own.rule)} and ${nameRule(other.rule)} match the same request and differ, ` +
        `and nothing says which ranks first (${readings.map((each) => `R${each}`).join(', ')})`
      const more = { other: [other.rule], ...overlap }
      const finding = createFinding('rule-order-unspecified', own.rule, detail, more)
      if (isEverywhere(finding.rests)) return finding
      note ??= finding
    }
    return note
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

/** Finds that no request matches some entries. */
export function findEmpty(rule: Rule, entries: readonly Entry[], desk: Desk): Finding | null {
  if (entries.length === 0 || entries.some((each) => !each.isDecidable)) return null
  // In a chain of rewriting rules, all but the first see what the others made of the URL.
  const isLater = rule.item === 'source_url_rewrite' && rule.pointer !== '/0'
  const rests = findRests(
    desk.settings,
    [...listReadingsOf(entries), ...(isLater ? [58] : [])],
    (settings) => {
      if (isLater && settle(settings, 58) === 'chain') return undefined
      if (entries.some((entry) => desk.sample(entry, settings) !== null)) return false
      const must = [entries.flatMap((entry) => entry.languages(settings))]
      const found = must[0]?.length === 0 ? null : desk.find(settings, { must, never: [] })
      return found === undefined ? undefined : found === null
    },
  )
  if (rests === null) return null
  const detail = `no URL of ${desk.domain} matches ${nameRule(rule)}`
  return createFinding('rule-never-matches', rule, detail, { rests, proof: 'automaton' })
}

/** Finds a request that two rules match, and on which readings that rests. */
function findOverlap(
  a: RankedRule,
  b: RankedRule,
  desk: Desk,
): Pick<Finding, 'rests' | 'witness' | 'proof'> | null {
  const entries = [...a.entries, ...b.entries]
  desk.spend(entries.length ** 2 / 400)
  let witness: string | null = null
  const rests = findRests(desk.settings, listReadingsOf(entries), (settings) => {
    const common = listMutual(a, b, desk, settings).find((seen) =>
      [a, b].every((rule) =>
        rule.entries.some((each) => each.isDecidable && each.matches(settings, seen)),
      ),
    )
    const found = common?.url ?? searchCommon(a, b, desk, settings)
    if (settings === desk.settings)
      witness = common?.url ?? (settle(settings, 2) === 'as-sent' ? (found ?? null) : null)
    return found === undefined ? undefined : found !== null
  })
  if (rests === null) return null
  const request = witness === null ? null : { url: witness }
  return { rests, witness: request, proof: request === null ? 'automaton' : null }
}

/** Lists URLs of which both rules match one, if they are plain texts that overlap. */
function listMutual(a: RankedRule, b: RankedRule, desk: Desk, settings: Settings): SeenUrl[] {
  const entries = [...a.entries, ...b.entries].filter(({ isDecidable }) => isDecidable)
  const samples = entries.slice(0, maxMutual).flatMap((each) => desk.sample(each, settings) ?? [])
  const find = (rule: RankedRule, kind: string) =>
    rule.entries.find((each) => each.isDecidable && each.shape(settings).kind === kind)
  const crossed = [
    [a, b],
    [b, a],
  ].flatMap(([one = a, other = b]) => {
    const [suffix, place] = [find(one, 'ext'), find(other, 'dir')]
    const at = place && desk.sample(place, settings)
    return at && suffix ? seeUrl(`${at.url}.${suffix.form.text.replace(/^\./, '')}`) : []
  })
  return [...samples, ...crossed]
}

/** Searches a URL that two rules match, of which no sample is one. */
function searchCommon(
  a: RankedRule,
  b: RankedRule,
  desk: Desk,
  settings: Settings,
): string | null | undefined {
  const entries = [...a.entries, ...b.entries]
  if (entries.some(({ isDecidable }) => !isDecidable)) return undefined
  const isText = entries.every((each) => each.shape(settings).kind !== 'automaton')
  if (isText && entries.length <= maxMutual) return null
  const must = [a, b].map((rule) => rule.entries.flatMap((each) => each.languages(settings)))
  return desk.find(settings, { must, never: [] })
}

/** Whether a rule applies whenever another one does. */
function includesWindow(wide: RankedRule, narrow: RankedRule): boolean {
  if (wide.window === null || narrow.window === null) return true
  return wide.window.from <= narrow.window.from && wide.window.to >= narrow.window.to
}

/** The rules that apply together with a rule, at each minute that makes a difference (R76). */
function listActive(own: RankedRule, rules: RankedRule[], settings: Settings): RankedRule[][] {
  if (own.window === null) return [rules]
  return listTimes([own, ...rules])
    .filter((minute) => isActive(own, minute, settings))
    .map((minute) => rules.filter((each) => isActive(each, minute, settings)))
}
