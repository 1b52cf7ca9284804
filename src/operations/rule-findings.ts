import { createLoopFinder } from '../core/effects/requests/find-domain.ts'
import type { Domain, ItemKey, ItemState } from '../core/model/item.ts'
import type { Diagnostic } from '../core/model/problem.ts'
import { pluralize } from '../core/model/text/words.ts'
import { findingCodes } from '../core/rule-lists/codes.ts'
import {
  findRuleListFindings,
  createBudget,
  type KnownResults,
} from '../core/rule-lists/find-findings.ts'
import { createFinding, type Finding } from '../core/rule-lists/finding.ts'
import type { Candidate } from '../core/trace/candidates.ts'
import type { Rule } from '../core/trace/rule.ts'
import type { Workspace } from '../manifest/workspace-file/workspace.ts'
import { findPlace } from '../manifest/yaml/yaml-place.ts'
import type { Configured, Desired, ItemPlaces, TextSources } from './runtime/parts.ts'
import { readDesired, settleReadings } from './tracing/candidates.ts'

type Source = NonNullable<ReturnType<Workspace['findTextSource']>>
type CheckedWorkspace = Configured & Desired & ItemPlaces & TextSources

/** A finding at one text, for all domains that have it. */
interface Group {
  finding: Finding
  source: Source
  /** The places of the other rules, as the first domain has them. */
  others: Source[]
  domains: Domain[]
}

/** Results under the same readings. */
export interface KnownRules {
  parts: KnownResults
  /** Work that one list may take; undefined as much as ever. */
  listStates: number | undefined
  /** Work of one call on results that are not known. */
  turn: number | undefined
  /** Whether the last call did all its work. */
  isWhole: boolean
}

type Items = ReadonlyMap<ItemKey, ItemState>

/** Creates a memory without results. */
export function createKnownRules(listStates?: number, turn?: number): KnownRules {
  return { parts: new Map(), listStates, turn, isWhole: true }
}

/** Greatest number of manifests that a diagnostic of a profile names. */
const maxManifests = 10

/**
 * Finds facts about the rule lists of all domains, one diagnostic for all domains that have the
 * same text; readings count as open unless the workspace file answers them.
 *
 * @param known results under the same readings, which are used and added to
 */
export function listRuleFindings(
  workspace: CheckedWorkspace,
  known = createKnownRules(),
): Diagnostic[] {
  const settings = settleReadings(workspace)
  const budget = createBudget(known.listStates, known.turn)
  const groups = new Map<string, Group>()
  const { desired } = workspace
  const findLoops = createLoopFinder(
    desired.keys(),
    (domain, item) => desired.get(domain)?.get(item)?.candidates[0],
  )
  for (const [domain, items] of desired) {
    const loops = findLoops(domain).map((rule) =>
      createFinding('origin-loop', rule, `requests to ${rule.pattern} come back to ${domain}`),
    )
    const values = readValues(items)
    const findings = findRuleListFindings(domain, values, settings, known.parts, budget)
    for (const finding of [...findings, ...loops]) {
      const find = ({ item, pointer }: Rule) => workspace.findTextSource(domain, item, pointer)
      const source = find(finding.rule)
      if (source === null) continue
      const others = finding.other.flatMap((rule) => find(rule) ?? [])
      const name =
        finding.code === 'rules-not-compared'
          ? finding.code
          : JSON.stringify([
              finding.code,
              finding.rests,
              [finding.rule, ...finding.other].map(({ pattern }) => pattern),
              [source, ...others].map(({ document, pointer }) => [
                document.file.path,
                document.index,
                pointer,
              ]),
            ])
      const group = groups.get(name) ?? { finding, source, others, domains: [] }
      groups.set(name, group)
      if (group.domains.at(-1) !== domain) group.domains.push(domain)
    }
  }
  known.isWhole = budget.turn > 0
  return [...groups.values()].map((group) => createDiagnostic(workspace, group))
}

/** The values of items that manifests set; one that resets an item is none. */
function readValues(items: Items): Map<ItemKey, Candidate> {
  const set = [...items].filter(([, { status }]) => status !== 'unset')
  return new Map([...readDesired(new Map(set))].map(([key, all]) => [key, all.at(-1) ?? null]))
}

function createDiagnostic(
  workspace: ItemPlaces,
  { finding, source, others, domains }: Group,
): Diagnostic {
  const { code, severity, rule, other, rests, proof, witness, detail } = finding
  const { summary, advice } = findingCodes[code]
  const [domain = ''] = domains
  const isShared = source.manifest !== null || code === 'rules-not-compared'
  const answers = Object.entries(rests).map(([name, answer]) => `${name} is ${answer}`)
  const condition = answers.length === 0 ? '' : `, if ${answers.join(' and ')}`
  const count = domains.length < 2 ? '' : ` (${pluralize(domains.length, 'domain')})`
  const related = [
    ...others.map((each) => ({
      ...findPlace(each.document, each.pointer),
      message: 'the other rule or value',
    })),
    ...(isShared ? findUses(workspace, finding, domains) : []),
  ]
  return {
    severity,
    code,
    summary,
    detail: `${detail}${condition}${count}${describeWitness(finding)}. ${advice}`,
    ...findPlace(source.document, source.pointer),
    document: source.document.index,
    pointer: source.pointer,
    domain: domains.length === 1 || !isShared ? domain : undefined,
    item: rule.item,
    related: related.length === 0 ? undefined : related,
    count: isShared ? domains.length : undefined,
    finding: { domains, rule, other, rests, proof, witness },
  }
}

/** Names a request that a rule and another one match; empty without one, or for a repetition. */
function describeWitness({ witness, other, proof }: Finding): string {
  const url = witness?.['url']
  return other.length === 0 || proof === 'text' || typeof url !== 'string'
    ? ''
    : `; both match ${url}`
}

/** The first manifests that use a profile. */
function findUses(
  { findItemPlace }: ItemPlaces,
  { rule }: Finding,
  domains: Domain[],
): NonNullable<Diagnostic['related']> {
  const files = new Map<string, NonNullable<Diagnostic['related']>[number]>()
  for (const domain of domains) {
    const place = files.size < maxManifests ? findItemPlace(domain, rule.item, rule.pointer) : null
    if (place === null) continue
    const { document: _, ...found } = place
    files.set(`${found.file}:${found.line}`, { ...found, message: 'used here' })
  }
  return [...files.values()]
}
