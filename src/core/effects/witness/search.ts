import type { JsonObject } from '../../model/json.ts'
import { addUp } from '../../model/lists.ts'
import { Unknown } from '../../trace/answer.ts'
import { fields } from '../../trace/fields.ts'
import { parseRequest, type Facts } from '../../trace/request.ts'
import { openRuns, type Compiled } from '../../trace/trace.ts'
import { BadRequest } from '../../trace/url.ts'
import { compareRequest, compareStrength, type Delta, type EffectClass } from '../compare.ts'
import type { Sides } from '../sides.ts'
import { addPart, nameFacts } from './facts.ts'

/** A request with a delta `differs`. */
interface Found {
  request: JsonObject
  class: EffectClass
  deltas: Delta[]
}

/** Greatest number of requests that are tried, and of those that are freed of obstacles. */
const [maxTried, maxFreed] = [4_000, 25]

/** The search for a witness: what was found so far, and how many requests were tried. */
export class Search {
  best: Found | null = null
  tried = 0
  /** Why answers that may differ are unknown. */
  readonly reasons = new Set<string>()
  readonly #sides: Sides
  readonly #ceiling: EffectClass
  readonly #facts: readonly JsonObject[]
  readonly #vary: (url: string) => string[]
  #freed = 0
  #least: string[] | null = null

  /**
   * @param ceiling the strongest class that there can be
   * @param facts parts with which a request may get past what denies it
   * @param vary lists other forms of a URL that may do so
   */
  constructor(
    sides: Sides,
    ceiling: EffectClass,
    facts: readonly JsonObject[],
    vary: (url: string) => string[],
  ) {
    this.#vary = vary
    this.#sides = sides
    this.#ceiling = ceiling
    this.#facts = facts
  }

  /**
   * Tries a request with some parts, and if both sides deny it, also with other facts that get it
   * past that. Tells whether the search is at its end.
   */
  try(plain: JsonObject, ...parts: JsonObject[]): boolean {
    const request = parts.reduce(addPart, plain)
    const found = this.#compare(request)
    if (found === 'strongest' || this.tried >= maxTried) return true
    if (found === null || this.#freed >= maxFreed) return false
    if (this.#countObstacles(request) === 0) return false
    this.#freed++
    return this.#compare(this.open(request, parts)) === 'strongest'
  }

  /** Changes facts but those of some parts, one by one, so that both sides deny a request less. */
  open(request: JsonObject, kept: readonly JsonObject[] = []): JsonObject {
    const names = new Set(kept.map(nameFacts))
    const parts = this.#facts.filter((part) => !names.has(nameFacts(part)))
    return this.#improve(this.openUrl(request), () => parts)
  }

  /** Changes the form of a request's URL so that fewer checks of both sides deny it. */
  openUrl(request: JsonObject): JsonObject {
    return this.#improve(request, ({ url }) =>
      this.#vary(String(url)).map((each) => ({ url: each })),
    )
  }

  /** Adds parts to a request, those with which fewer checks of both sides deny it. */
  #improve(request: JsonObject, list: (request: JsonObject) => JsonObject[]): JsonObject {
    let [best, least] = [request, this.#countObstacles(request)]
    for (let turn = 0; turn < 2 && least > 0; turn++)
      for (const part of list(best)) {
        if (least === 0) break
        const changed = addPart(best, part)
        const count = this.#countObstacles(changed)
        if (count < least) [best, least] = [changed, count]
      }
    return best
  }

  /** Compares both sides; null for what is no request. */
  #compare(request: JsonObject): 'strongest' | 'other' | null {
    this.tried++
    return readSigned(request, (own) => {
      const { deltas } = compareRequest(this.#sides, own, 'unknown')
      this.#noteReasons(deltas)
      const differing = deltas.filter(({ verdict }) => verdict === 'differs')
      const [strongest] = differing.toSorted(compareStrength)
      if (strongest === undefined) return 'other'
      const found = { request: own, class: strongest.class, deltas }
      const isStronger =
        this.best === null ||
        compareStrength(strongest, { class: this.best.class, verdict: 'differs' }) < 0
      if (isStronger) this.best = found
      return strongest.class === this.#ceiling ? 'strongest' : 'other'
    })
  }

  /** Notes why answers are unknown; which check decides is nobody's question here. */
  #noteReasons(deltas: readonly Delta[]): void {
    const noted = deltas.filter(({ field }) => field !== 'access.deciding')
    for (const answer of noted.flatMap(({ before, after }) => [before, after]))
      if ('unknown' in answer) for (const reason of answer.unknown) this.reasons.add(reason)
  }

  /** What kept the least hindered request from being served; empty if one was served. */
  get obstacles(): readonly string[] {
    return this.#least ?? []
  }

  /** Counts what keeps both sides from serving a request. */
  #countObstacles(request: JsonObject): number {
    const { before, after, domain } = this.#sides
    const count = readSigned(request, (own) => {
      const facts = parseRequest(own, domain)
      const other = listObstacles(after, facts)
      const shared = [...listObstacles(before, facts)].map(([name, each]) => ({
        name,
        weight: Math.min(each, other.get(name) ?? 0),
      }))
      const hindered = shared.filter(({ weight }) => weight > 0).map(({ name }) => name)
      if (this.#least === null || hindered.length < this.#least.length) this.#least = hindered
      return addUp(shared, ({ weight }) => weight)
    })
    return count ?? Number.POSITIVE_INFINITY
  }
}

/** Reads a request, without a signature that contradicts what is computed; null if it is none. */
function readSigned<T>(request: JsonObject, read: (request: JsonObject) => T): T | null {
  try {
    return read(request)
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error
    const { signature, ...plain } = request
    return signature === undefined ? null : readSigned(plain, read)
  }
}

/** What may keep a request from being served: each check, the connection and the redirect. */
const hindering = fields.filter(
  ({ stage, name }) => stage === 'checks' || (name === 'decision' && stage !== 'access'),
)

/** How much each of them keeps a request from being served. */
function listObstacles(compiled: Compiled, facts: Facts): Map<string, number> {
  const runs = openRuns(compiled, facts)
  return new Map(
    hindering.map(({ stage, name, read }) => {
      const answer = runs.answer(read)
      const isIn = ['deny', 'refused', 'redirect'].includes(String(answer))
      return [stage === 'checks' ? name : stage, answer instanceof Unknown ? 0.5 : Number(isIn)]
    }),
  )
}
