import type { JsonObject } from '../../src/core/model/json.ts'
import { findRuleListFindings, type KnownResults } from '../../src/core/rule-lists/find-findings.ts'
import type { Finding } from '../../src/core/rule-lists/finding.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'

export const domain = 'www.example.com'

/** Checks items with all readings open but those that the words of the specification favour. */
export function find(
  items: JsonObject,
  assume: JsonObject = {},
  of = domain,
  known?: KnownResults,
): { findings: Finding[] } {
  const settings = buildSettings({ preset: 'strict', assume, timezone: null })
  return { findings: findRuleListFindings(of, new Map(Object.entries(items)), settings, known) }
}

/** Writes findings as `code pointer proof {under}`. */
export function brief({ findings }: { findings: Finding[] }): string[] {
  return findings.map(({ code, rule: { item, pointer }, proof, under }) => {
    const answers = Object.entries(under).map(([name, answer]) => ` ${name}=${answer}`)
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
