import type { Language } from '../effects/witness/languages.ts'
import type { Settings } from '../trace/readings.ts'
import { findUrl, type Budget, type Space, type Wanted } from './find-url.ts'
import {
  coverByText,
  forgetEntries,
  listOpenReadings,
  seeUrl,
  type Entry,
  type Proof,
  type SeenUrl,
} from './pattern.ts'
import { listWorlds, type World } from './worlds.ts'

/** States that are visited for one list; beyond them nothing more is decided. */
const maxStates = 50_000
/** States after which the automata of a list are not kept for the next one. */
const maxKept = 10_000
/** Greatest number of automata in one search. */
const maxLanguages = 200

/** Compares the patterns of one list for one domain. */
export class Desk {
  readonly domain: string
  readonly settings: Settings
  readonly #budget: Budget = { states: maxStates }
  readonly #samples = new Map<Entry, Map<string, SeenUrl | null>>()
  readonly #worlds = new Map<readonly Entry[], { decidable: readonly Entry[]; worlds: World[] }>()
  readonly #answers = new Map<readonly Entry[], Map<string, boolean | null>>()

  constructor(domain: string, settings: Settings) {
    this.domain = domain
    this.settings = settings
  }

  /** Whether nothing more is searched. */
  get isSpent(): boolean {
    return this.#budget.states <= 0
  }

  /** Forgets large automata. */
  close(): void {
    if (this.#budget.states < maxStates - maxKept) forgetEntries()
  }

  /** Whether a rule matches a URL in every world or in none; null if neither is known. */
  answer(entries: readonly Entry[], seen: SeenUrl): boolean | null {
    const known = this.#answers.get(entries) ?? new Map<string, boolean | null>()
    this.#answers.set(entries, known)
    const found = known.get(seen.url)
    if (found !== undefined) return found
    const { decidable, worlds } = this.#readWorlds(entries)
    const matched = worlds.map(({ settings }) =>
      decidable.some((entry) => entry.matches(settings, seen)),
    )
    const isSame = matched.length > 0 && matched.every((is) => is === matched[0])
    const isKnown = isSame && (matched[0] === true || decidable.length === entries.length)
    const answer = isKnown ? (matched[0] ?? null) : null
    known.set(seen.url, answer)
    return answer
  }

  /** A short URL that an entry matches in a world, of those that all forms of R2 have. */
  sample(entry: Entry, settings: Settings): SeenUrl | null {
    const known = this.#samples.get(entry) ?? new Map<string, SeenUrl | null>()
    this.#samples.set(entry, known)
    const world = entry.nameWorld(settings)
    const found = known.get(world)
    if (found !== undefined) return found
    const path = entry.seesHost ? undefined : entry.paths.get(world)
    const host = `https://${this.domain.startsWith('.') ? 'x' : ''}${this.domain}`
    const text = path === undefined ? this.#writeSample(entry, settings, host) : path && host + path
    const made = text === null ? null : seeUrl(text)
    known.set(world, made)
    if (!entry.seesHost) entry.paths.set(world, made && made.Q)
    return made
  }

  #writeSample(entry: Entry, settings: Settings, host: string): string | null {
    if (!entry.isDecidable) return null
    const { kind, text } = entry.shape(settings)
    if (kind === 'all') return `${host}/`
    if (kind === 'ext') return `${host}/x.${text}`
    if (kind === 'dir') return `${host}${text}x`
    if (kind === 'route') return host + text
    const must = [entry.languages(settings)]
    return kind === 'none' ? null : (this.find('plain', { must, never: [] }) ?? null)
  }

  /** Samples of entries in all their worlds. */
  listSamples(entries: readonly Entry[]): SeenUrl[] {
    const found = new Map<string, SeenUrl>()
    for (const entry of entries)
      for (const { settings } of this.#readWorlds(entry.alone).worlds) {
        const seen = this.sample(entry, settings)
        if (seen !== null) found.set(seen.url, seen)
      }
    return [...found.values()]
  }

  #readWorlds(entries: readonly Entry[]): { decidable: readonly Entry[]; worlds: World[] } {
    const known = this.#worlds.get(entries)
    if (known !== undefined) return known
    const decidable = entries.filter(({ isDecidable }) => isDecidable)
    const open = listOpenReadings(this.settings, decidable)
    const made = { decidable, worlds: listWorlds(this.settings, open) ?? [] }
    this.#worlds.set(entries, made)
    return made
  }

  /** The languages of a rule in each world; a URL in all groups is matched in every world. */
  everywhere(entries: readonly Entry[]): Language[][] {
    const worlds = listWorlds(this.settings, listOpenReadings(this.settings, entries)) ?? []
    return worlds.map(({ settings }) => entries.flatMap((each) => each.languages(settings)))
  }

  /** Finds a URL; undefined if that takes too much. */
  find(space: Space, wanted: Wanted): string | null | undefined {
    if (wanted.must.length === 0) return undefined
    const count = wanted.must.reduce((sum, { length }) => sum + length, wanted.never.length)
    if (count > maxLanguages) return undefined
    return findUrl(this.domain, space, wanted, this.#budget)
  }

  /**
   * How entries cover others in a world; false if they don't, undefined if it is not decided.
   *
   * @param isThorough whether plain texts are compared together too, which rarely matters
   */
  cover(
    wide: readonly Entry[],
    narrow: readonly Entry[],
    settings: Settings,
    space: Space,
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
    const isWider = narrow.some(isAll) && (space === 'loose' || space === 'decoded')
    if (isWider || usable.length === 0 || (!hasAutomaton && !isThorough)) return false
    const isMissed = narrow.some((entry) => {
      const seen = this.sample(entry, settings)
      return seen !== null && !usable.some((each) => each.matches(settings, seen))
    })
    if (isMissed) return false
    const list = (entries: readonly Entry[]) => entries.flatMap((each) => each.languages(settings))
    const found = this.find(space, { must: [list(narrow)], never: list(usable) })
    if (found === undefined) return undefined
    return found === null ? 'automaton' : false
  }
}

function joinProofs(proofs: (Proof | null)[]): Proof {
  const used = new Set(proofs)
  for (const proof of ['automaton', 'prefix', 'suffix'] as const) if (used.has(proof)) return proof
  return 'text'
}
