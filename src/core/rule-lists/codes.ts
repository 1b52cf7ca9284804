import type { AdjustableCode } from '../model/problem.ts'

/** Severity of a finding where no setting changes it. */
export type FindingSeverity = 'warning' | 'note'

interface CodeRow {
  severity: FindingSeverity
  /** Fixed summary, the heading of a diagnostic. */
  summary: string
  /** What to do, as a sentence. */
  advice: string
}

/** Every code of a finding about rule lists, in the order in which a rule gets the first. */
export const findingCodes = {
  'rule-duplicate': {
    severity: 'warning',
    summary: 'This rule repeats an earlier one',
    advice: 'Remove the rule; the earlier one does the same.',
  },
  'rule-never-matches': {
    severity: 'warning',
    summary: 'This rule matches no request',
    advice: 'Correct the pattern, or remove the rule.',
  },
  'rule-contradictory': {
    severity: 'warning',
    summary: 'This rule contradicts an earlier one',
    advice:
      'Keep the rule that is intended, and remove the other one. The earlier rule decides today.',
  },
  'rule-shadowed': {
    severity: 'warning',
    summary: 'An earlier rule hides this one',
    advice: 'Move the rule before the one that hides it, or remove it.',
  },
  'rule-unreachable': {
    severity: 'warning',
    summary: 'Earlier rules together hide this one',
    advice: 'Move the rule before those that hide it, or remove it.',
  },
  'rule-order-unspecified': {
    severity: 'warning',
    summary: 'The order of two rules is not specified',
    advice: 'Give the rules a priority, or make their patterns disjoint.',
  },
  'entry-redundant': {
    severity: 'note',
    summary: 'Another entry covers this one',
    advice: 'Remove the entry, or leave it; it changes nothing.',
  },
  'networks-overlap': {
    severity: 'note',
    summary: 'Networks of two items overlap',
    advice: 'Keep the address in one of the items, so that a later change has the expected effect.',
  },
  'value-without-effect': {
    severity: 'warning',
    summary: 'This value has no effect',
    advice: 'Remove the field, or change the field that takes its effect away.',
  },
  'white-list-denied': {
    severity: 'warning',
    summary: 'A ban denies an address of the white list',
    advice: 'Remove the address from the ban or from the white list.',
  },
  'never-served': {
    severity: 'warning',
    summary: 'No request of the domain is served',
    advice: 'Change one of the items that the detail names.',
  },
  'rules-not-compared': {
    severity: 'note',
    summary: 'Not all rules were compared',
    advice: 'Shorten the lists, or write suffixes, directories and paths instead of expressions.',
  },
  'origin-loop': {
    severity: 'warning',
    summary: 'The origin leads back to the domain',
    advice: 'Name a server that the CDN does not serve, or give its name a DNS record of its own.',
  },
  'rule-undecided': {
    severity: 'note',
    summary: 'This rule could not be compared',
    advice: 'Nothing, or use a simpler pattern. Such rules are only counted without `--verbose`.',
  },
} as const satisfies Partial<Record<AdjustableCode, CodeRow>>

/** Code of a finding about rule lists. */
export type FindingCode = keyof typeof findingCodes
