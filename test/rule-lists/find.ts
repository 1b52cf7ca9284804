import type { JsonObject } from '../../src/core/model/json.ts'
import { findRuleListFindings, type KnownResults } from '../../src/core/rule-lists/find-findings.ts'
import type { Finding } from '../../src/core/rule-lists/finding.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'

export const domain = 'www.example.com'

/** Checks items with the usual answers, and those that the operator sets. */
export function find(
  items: JsonObject,
  assume: JsonObject = {},
  of = domain,
  known?: KnownResults,
): { findings: Finding[] } {
  const values = new Map(Object.entries(items))
  return { findings: findRuleListFindings(of, values, buildSettings(assume), known) }
}

/** Writes findings as `code pointer proof`, and on what they rest. */
export function brief({ findings }: { findings: Finding[] }): string[] {
  return findings.map(({ code, rule: { item, pointer }, proof, rests }) => {
    const answers = Object.entries(rests).map(([name, answer]) => ` ${name}=${answer}`)
    return `${code} ${item}${pointer} ${proof ?? '-'}${answers.join('')}`
  })
}

/** A rule of `cache_rule_list`. */
export function rule(
  match_method: string,
  pattern: string,
  expire: number,
  more: JsonObject = {},
): JsonObject {
  return { match_method, pattern, expire, ...more }
}
