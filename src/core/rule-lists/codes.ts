/** Severity of a finding where no setting changes it. */
export type FindingSeverity = 'warning' | 'note'

interface CodeRow {
  severity: FindingSeverity
  /** Fixed summary, the heading of a diagnostic. */
  summary: string
  /** One line: when a finding has this code. */
  description: string
  /** What to do, as a sentence. */
  advice: string
}

/** Every code of a finding about rule lists, in the order in which a rule gets the first. */
export const findingCodes = {
  'rule-duplicate': {
    severity: 'warning',
    summary: 'This rule repeats an earlier one',
    description: 'An earlier rule has the same kind, case, entries and fields.',
    advice: 'Remove the rule; the earlier one does the same.',
  },
  'rule-never-matches': {
    severity: 'warning',
    summary: 'This rule matches no request',
    description: 'No request of the domain matches the rule or entry.',
    advice: 'Correct the pattern, or remove the rule.',
  },
  'rule-contradictory': {
    severity: 'warning',
    summary: 'This rule contradicts an earlier one',
    description: 'An earlier rule matches the same requests and has other fields.',
    advice:
      'Keep the rule that is intended, and remove the other one. The earlier rule decides today.',
  },
  'rule-shadowed': {
    severity: 'warning',
    summary: 'An earlier rule hides this one',
    description: 'One earlier rule matches every request that the rule matches.',
    advice: 'Move the rule before the one that hides it, or remove it.',
  },
  'rule-unreachable': {
    severity: 'warning',
    summary: 'Earlier rules together hide this one',
    description: 'Several earlier rules together match every request that the rule matches.',
    advice: 'Move the rule before those that hide it, or remove it.',
  },
  'rule-order-unspecified': {
    severity: 'warning',
    summary: 'The order of two rules is not specified',
    description: 'Two rules that overlap have other fields, and their order is an open reading.',
    advice: 'Give the rules a priority, or make their patterns disjoint.',
  },
  'entry-redundant': {
    severity: 'note',
    summary: 'Another entry covers this one',
    description: 'Another entry of the list matches every request that the entry matches.',
    advice: 'Remove the entry, or leave it; it changes nothing.',
  },
  'networks-overlap': {
    severity: 'note',
    summary: 'Networks of two items overlap',
    description: 'Two networks of items that ban together overlap.',
    advice: 'Keep the address in one of the items, so that a later change has the expected effect.',
  },
  'value-without-effect': {
    severity: 'warning',
    summary: 'This value has no effect',
    description: 'The specification gives a field no effect beside the other fields.',
    advice: 'Remove the field, or change the field that takes its effect away.',
  },
  'white-list-denied': {
    severity: 'warning',
    summary: 'A ban denies an address of the white list',
    description: 'A rule of combined_ban denies an entry of ip_white_list.',
    advice: 'Remove the address from the ban or from the white list.',
  },
  'never-served': {
    severity: 'warning',
    summary: 'No request of the domain is served',
    description: 'Items together refuse, deny or redirect every request of the domain.',
    advice: 'Change one of the items that the detail names.',
  },
  'rules-not-compared': {
    severity: 'note',
    summary: 'Not all rules were compared',
    description: 'Comparing the rules takes too long, and ended early.',
    advice: 'Shorten the lists, or write suffixes, directories and paths instead of expressions.',
  },
  'origin-loop': {
    severity: 'warning',
    summary: 'The origin leads back to the domain',
    description: 'The CDN serves the name of an origin, and gets it from the domain again.',
    advice: 'Name a server that the CDN does not serve, or give its name a DNS record of its own.',
  },
  'rule-undecided': {
    severity: 'note',
    summary: 'This rule could not be compared',
    description: 'Nothing could be decided about the rule; shown with --verbose only.',
    advice: 'Nothing, or use a simpler pattern. Such rules are only counted without `--verbose`.',
  },
} as const satisfies Record<string, CodeRow>

/** Code of a finding about rule lists. */
export type FindingCode = keyof typeof findingCodes
