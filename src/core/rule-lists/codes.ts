/** Severity of a finding where no setting changes it. */
export type FindingSeverity = 'warning' | 'note'

interface CodeRow {
  severity: FindingSeverity
  /** Fixed summary, the heading of a diagnostic. */
  summary: string
  /** One line: when a finding has this code. */
  description: string
}

/** Every code of a finding about rule lists, in the order in which a rule gets the first. */
export const findingCodes = {
  'rule-duplicate': {
    severity: 'warning',
    summary: 'This rule repeats an earlier one',
    description: 'An earlier rule has the same kind, case, entries and fields.',
  },
  'rule-never-matches': {
    severity: 'warning',
    summary: 'This rule matches no request',
    description: 'No request of the domain matches the rule or entry.',
  },
  'rule-contradictory': {
    severity: 'warning',
    summary: 'This rule contradicts an earlier one',
    description: 'An earlier rule matches the same requests and has other fields.',
  },
  'rule-shadowed': {
    severity: 'warning',
    summary: 'An earlier rule hides this one',
    description: 'One earlier rule matches every request that the rule matches.',
  },
  'rule-unreachable': {
    severity: 'warning',
    summary: 'Earlier rules together hide this one',
    description: 'Several earlier rules together match every request that the rule matches.',
  },
  'rule-order-unspecified': {
    severity: 'warning',
    summary: 'The order of two rules is not specified',
    description: 'Two rules that overlap have other fields, and their order is an open reading.',
  },
  'entry-redundant': {
    severity: 'note',
    summary: 'Another entry covers this one',
    description: 'Another entry of the list matches every request that the entry matches.',
  },
  'networks-overlap': {
    severity: 'note',
    summary: 'Networks of two items overlap',
    description: 'Two networks of items that ban together overlap.',
  },
  'value-without-effect': {
    severity: 'warning',
    summary: 'This value has no effect',
    description: 'The specification gives a field no effect beside the other fields.',
  },
  'rule-expensive': {
    severity: 'warning',
    summary: 'This pattern may take exponential time',
    description: 'An engine that backtracks can take exponential time to match the pattern.',
  },
  'white-list-denied': {
    severity: 'warning',
    summary: 'A ban denies an address of the white list',
    description: 'A rule of combined_ban denies an entry of ip_white_list.',
  },
  'never-served': {
    severity: 'warning',
    summary: 'No request of the domain is served',
    description: 'Items together refuse, deny or redirect every request of the domain.',
  },
  'rule-undecided': {
    severity: 'note',
    summary: 'This rule could not be compared',
    description: 'Nothing could be decided about the rule; shown with --verbose only.',
  },
} as const satisfies Record<string, CodeRow>

/** Code of a finding about rule lists. */
export type FindingCode = keyof typeof findingCodes
