import { getOrAdd } from '../model/lists.ts'
import { settle } from '../effects/patterns/languages.ts'
import type { Settings } from '../trace/readings.ts'
import { findUrl, type Budget, type Space, type Wanted } from '../effects/patterns/find-url.ts'
import {
  coverByText,
  forgetEntries,
  listReadingsOf,
  seeUrl,
  type Entry,
  type Proof,
  type SeenUrl,
} from '../effects/patterns/pattern.ts'
import { findRests, type Rests } from './rests.ts'

/** States that are visited for one list. */
export const maxStates = 60_000
/** States after which the automata of a list are not kept for the next one. */
const maxKept = 1000
/** Greatest number of automata in one search. */
const maxLanguages = 200

/** On what it rests that entries cover others, and how they do. */
export interface Cover {
  rests: Rests
  proof: Proof
}

/** Compares the patterns of one list for one domain, and under settings. */
export class Desk {
  readonly domain: string
  readonly settings: Settings
  /** Searches that took too much. */
  givenUp = 0
  readonly #states: number
  readonly #budget: Budget
  readonly #samples = new Map<Entry, Map<string, SeenUrl | null>>()

  constructor(domain: string, settings: Settings, states: number) {
    this.domain = domain
    this.settings = settings
    this.#states = states
    this.#budget = { states }
  }

  /** Whether nothing more is searched and compared. */
  get isSpent(): boolean {
    return this.#budget.states <= 0
  }

  /** Counts comparisons without automata. */
  spend(count: number): void {
    this.#budget.states -= count
  }

  /** Forgets large automata, and counts what was spent. */
  close(): number {
    const spent = this.#states - this.#budget.states
    if (spent > maxKept) forgetEntries()
    return spent
  }

  /** Whether a rule matches a URL; null if that is not known. */
  answer(entries: readonly Entry[], seen: SeenUrl): boolean | null {
    const decidable = entries.filter(({ isDecidable }) => isDecidable)
    if (decidable.some((entry) => entry.matches(this.settings, seen))) return true
    return decidable.length === entries.length ? false : null
  }

  /** A URL that an entry matches, of those that all forms of R2 have. */
  sample(entry: Entry, settings: Settings): SeenUrl | null {
    const known = getOrAdd(this.#samples, entry, () => new Map<string, SeenUrl | null>())
    return getOrAdd(known, entry.nameAnswers(settings), () => {
      const host = `https://${this.domain.startsWith('.') ? 'x' : ''}${this.domain}`
      const text = this.#writeSample(entry, settings, host)
      return text === null ? null : seeUrl(text)
    })
  }

  #writeSample(entry: Entry, settings: Settings, host: string): string | null {
    if (!entry.isDecidable) return null
    const { kind, text } = entry.shape(settings)
    if (kind === 'all') return `${host}/`
    if (kind === 'ext') return `${host}/x.${text}`
    if (kind === 'dir') return `${host}${text}x`
    if (kind === 'route') return host + text
    const must = [entry.languages(settings)]
    return kind === 'none' ? null : (this.#find('plain', { must, never: [] }) ?? null)
  }

  /** Lists samples of entries. */
  listSamples(entries: readonly Entry[]): SeenUrl[] {
    return entries.flatMap((entry) => this.sample(entry, this.settings) ?? [])
  }

  /**
   * A URL that an entry matches, if it matches any: a pattern that covers it matches the URL. Null
   * if none is known.
   */
  listEvidence(entry: Entry): (string | null)[] {
    if (!entry.isDecidable) return ['']
    if (entry.shape(this.settings).kind === 'none') return []
    return [this.sample(entry, this.settings)?.url ?? null]
  }

  /** Finds a URL in the form of R2; undefined, and counted, if that takes too much. */
  find(settings: Settings, wanted: Wanted): string | null | undefined {
    return this.#find(settle(settings, 2) as Space, wanted)
  }

  #find(space: Space, wanted: Wanted): string | null | undefined {
    const count = wanted.must.reduce((sum, { length }) => sum + length, wanted.never.length)
    const found =
      count > maxLanguages ? undefined : findUrl(this.domain, space, wanted, this.#budget)
    if (found === undefined) this.givenUp++
    return found
  }

  /**
   * Finds how entries cover others, and on what it rests; null if they don't.
   *
   * @param numbers the readings that `holds` asks for
   * @param holds what must hold besides
   */
  findCover(
    wide: readonly Entry[],
    narrow: readonly Entry[],
    numbers: readonly number[] = [],
    holds: (settings: Settings) => boolean = () => true,
  ): Cover | null {
    let proof: Proof = 'text'
    const asked = [...numbers, ...listReadingsOf([...wide, ...narrow])]
    const rests = findRests(this.settings, asked, (settings) => {
      const found = holds(settings) && this.cover(wide, narrow, settings)
      if (found === undefined || found === false) return found
      if (settings === this.settings) proof = found
      return true
    })
    return rests && { rests, proof }
  }

  /**
   * How entries cover others; false if they don't, undefined if it is not decided.
   *
   * @param isThorough whether plain texts are compared together too, which rarely matters
   */
  cover(
    wide: readonly Entry[],
    narrow: readonly Entry[],
    settings: Settings,
    isThorough = false,
  ): Proof | false | undefined {
    const usable = wide.filter(({ isDecidable }) => isDecidable)
    const proofs = narrow.map((entry) => {
      for (const each of usable) {
        const proof = coverByText(each, entry, settings)
        if (proof !== null) return proof
      }
      return null
    })
    if (!proofs.includes(null)) return joinProofs(proofs)
    if (narrow.some(({ isDecidable }) => !isDecidable)) return undefined
    const hasAutomaton = [...usable, ...narrow].some(
      (entry) => entry.shape(settings).kind === 'automaton',
    )
    const isAll = (entry: Entry) => entry.shape(settings).kind === 'all'
    // Only a pattern for everything matches what is not printable once it is decoded.
    const isWider = narrow.some(isAll) && settle(settings, 2) === 'decoded'
    if (isWider || usable.length === 0 || (!hasAutomaton && !isThorough)) return false
    const isMissed = narrow.some((entry) => {
      const seen = this.sample(entry, settings)
      return seen !== null && !usable.some((each) => each.matches(settings, seen))
    })
    if (isMissed) return false
    const list = (entries: readonly Entry[]) => entries.flatMap((each) => each.languages(settings))
    const found = this.find(settings, { must: [list(narrow)], never: list(usable) })
    if (found === undefined) return undefined
    return found === null ? 'automaton' : false
  }
}

function joinProofs(proofs: (Proof | null)[]): Proof {
  const used = new Set(proofs)
  for (const proof of ['automaton', 'prefix', 'suffix'] as const) if (used.has(proof)) return proof
  return 'text'
}
