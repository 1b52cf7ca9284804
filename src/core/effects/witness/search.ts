import type { JsonObject } from '../../model/json.ts'
import { Unknown } from '../../trace/answer.ts'
import { fields } from '../../trace/fields.ts'
import { parseRequest, type Facts } from '../../trace/request.ts'
import { openRuns, type Compiled } from '../../trace/trace.ts'
import { BadRequest } from '../../trace/url.ts'
import { compareRequest, compareStrength, type Delta, type EffectClass } from '../compare.ts'
import type { Sides } from '../sides.ts'
import { addPart, type Facts as KnownFacts } from './facts.ts'

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
  readonly #facts: KnownFacts
  readonly #vary: (url: string) => string[]
  #freed = 0
  #least: string[] | null = null

  /**
   * @param ceiling the strongest class that there can be
   * @param facts facts with which a request may get past what denies it
   * @param vary lists other forms of a URL that may do so
   */
  constructor(
    sides: Sides,
    ceiling: EffectClass,
    facts: KnownFacts,
    vary: (url: string) => string[],
  ) {
    this.#vary = vary
    this.#sides = sides
    this.#ceiling = ceiling
    this.#facts = facts
  }

  /**
   * Tries a request, and if both sides deny it, also with other facts that get it past that. Tells
   * whether the search is at its end.
   *
   * @param kept names of facts that make the request what it is
   */
  try(request: JsonObject, kept: readonly string[]): boolean {
    const found = this.#compare(request)
    if (found === 'strongest' || this.tried >= maxTried) return true
    if (found === 'bad' || this.#freed >= maxFreed) return false
    if (this.#countObstacles(request) === 0) return false
    this.#freed++
    return this.#compare(this.open(request, kept)) === 'strongest'
  }

  /** Changes facts of a request, one after the other, so that both sides deny it less. */
  open(request: JsonObject, kept: readonly string[]): JsonObject {
    let best = this.openUrl(request)
    let least = this.#countObstacles(best)
    for (let turn = 0; turn < 2 && least > 0; turn++)
      for (const [name, parts] of this.#facts) {
        if (kept.includes(name)) continue
        for (const part of parts) {
          if (least === 0) break
          const changed = addPart(best, part)
          const count = this.#countObstacles(changed)
          if (count < least) [best, least] = [changed, count]
        }
      }
    return best
  }

  /** Changes the form of a request's URL so that fewer checks of both sides deny it. */
  openUrl(request: JsonObject): JsonObject {
    let [best, least] = [request, this.#countObstacles(request)]
    for (let turn = 0; turn < 2 && least > 0; turn++)
      for (const url of this.#vary(String(best['url']))) {
        const count = this.#countObstacles({ ...best, url })
        if (count < least) [best, least] = [{ ...best, url }, count]
      }
    return best
  }

  #compare(request: JsonObject): 'strongest' | 'other' | 'bad' {
    this.tried++
    try {
      const { deltas } = compareRequest(this.#sides, request, 'unknown')
      this.#noteReasons(deltas)
      const differing = deltas.filter(({ verdict }) => verdict === 'differs')
      const [strongest] = differing.toSorted(compareStrength)
      if (strongest === undefined) return 'other'
      const found = { request, class: strongest.class, deltas }
      const isStronger =
        this.best === null ||
        compareStrength(strongest, { class: this.best.class, verdict: 'differs' }) < 0
      if (isStronger) this.best = found
      return strongest.class === this.#ceiling ? 'strongest' : 'other'
    } catch (error) {
      const plain = withoutSignature(request)
      if (error instanceof BadRequest) return plain === null ? 'bad' : this.#compare(plain)
      throw error
    }
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
    try {
      const { before, after, domain } = this.#sides
      const facts = parseRequest(request, domain)
      const [one, two] = [before, after].map((side) => listObstacles(side, facts))
      const shared = [...(one ?? [])].map(([name, each]): [string, number] => [
        name,
        Math.min(each, two?.get(name) ?? 0),
      ])
      const hindered = shared.filter(([, each]) => each > 0).map(([name]) => name)
      if (this.#least === null || hindered.length < this.#least.length) this.#least = hindered
      return shared.reduce((sum, [, each]) => sum + each, 0)
    } catch (error) {
      const plain = withoutSignature(request)
      if (error instanceof BadRequest)
        return plain === null ? Number.POSITIVE_INFINITY : this.#countObstacles(plain)
      throw error
    }
  }
}

/** A request without a signature fact, which may contradict what is computed; null without one. */
function withoutSignature(request: JsonObject): JsonObject | null {
  const { signature, ...rest } = request
  return signature === undefined ? null : rest
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
