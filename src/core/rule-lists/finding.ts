import type { JsonObject } from '../model/json.ts'
import type { Rule } from '../trace/rule.ts'
import { findingCodes, type FindingCode, type FindingSeverity } from './codes.ts'
import type { Proof } from '../effects/patterns/pattern.ts'
import { isEverywhere, type Rests } from './rests.ts'

/** Something about a rule that holds under the answers of all readings. */
export interface Finding {
  code: FindingCode
  severity: FindingSeverity
  rule: Rule
  /** The rules that explain it: one, or two that hide it together. */
  other: Rule[]
  rests: Rests
  /** A request that the rule and the other one match. */
  witness: JsonObject | null
  proof: Proof | null
  /** A clause that says what was found; the advice is a sentence. */
  detail: string
}

/** Creates a finding; one that rests on answers of readings is a note. */
export function createFinding(
  code: FindingCode,
  rule: Rule,
  detail: string,
  more: Partial<Pick<Finding, 'other' | 'rests' | 'witness' | 'proof'>> = {},
): Finding {
  const { other = [], witness = null, proof = null } = more
  const number = ([name]: [string, string]) => Number(name.slice(1))
  const asked = Object.entries(more.rests ?? {}).toSorted((a, b) => number(a) - number(b))
  const rests = Object.fromEntries(asked)
  const severity = isEverywhere(rests) ? findingCodes[code].severity : 'note'
  return { code, severity, rule, other, rests, witness, proof, detail }
}

/** Creates the finding that rules were compared in part, or not at all. */
export function createUncompared(item: Rule['item'] = 'cache_rule'): Finding {
  const detail = `comparing the rules of ${item} takes too long, and ended early`
  return createFinding('rules-not-compared', { item, pointer: '', pattern: null }, detail)
}

/** Names a rule by its item and text: `cache_rule rule 2 (jpg,png)`. */
export function nameRule({ item, pointer, pattern }: Rule): string {
  const place = /^\/(\d+)/.exec(pointer)?.[1]
  const number = place === undefined ? '' : ` rule ${Number(place) + 1}`
  const text =
    pattern === null ? '' : ` (${pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern})`
  return `${item}${number}${text}`
}
