import { getItemSpec } from '../catalog/catalogue.ts'
import { orderSets } from '../catalog/item-spec.ts'
import type { ItemKeys } from '../catalog/wire-names.ts'
import type { Amount, Burst, Grouping } from '../model/config.ts'
import type { Action, Change, Form, Write } from '../model/change.ts'
import { compileDomainGlobs } from '../model/text/domain-glob.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import { setItem, type Domain, type ItemKey, type Snapshot } from '../model/item.ts'
import type { Plan, PlanSummary, Stay } from '../model/plan.ts'
import { pickTree, type SourceTree } from '../model/source-tree.ts'
import { computeImpactShare, noTraffic, type TrafficProfile } from '../model/traffic.ts'
import { findApprovalWaves } from './assign-waves.ts'
import { hashDomains } from './basis.ts'
import { bindTraffic, createWaveTraffic, foreseeWaves, warnOfTraffic } from './foresee-waves.ts'
import { findPlanFault } from './find-plan-fault.ts'
import type { Solver, Parallel, Progress } from '../model/parallel.ts'
import { groupBy } from '../model/lists.ts'
import { computeImpact } from './impact.ts'
import { groupWrites, type Effort, type WriteProblem } from './group-writes.ts'
import { writeInWaves, type ApprovalLimit, type ShareWaves, type Waves } from './write-in-waves.ts'
import { findGroup } from './groups.ts'
import { listNeeds } from './needs.ts'
import { describeKinds, findKinds, listWaves } from './wave-kinds.ts'
import { collectWarnings } from './warnings.ts'
import { computeTimes, type Pacing } from './plan-times.ts'
import { formatCount, pluralize } from '../model/text/words.ts'

/** Version of the planner: raised whenever the same changes may give other writes. */
export const plannerVersion = 1

/** Input of `makePlan`. */
export interface PlanInput extends SourceTree {
  recorded: Snapshot
  desired: Snapshot
  /**
   * Desired state with every secret as its reference, for the basis: a plan made without secrets
   * has the same one. Default: `desired`.
   */
  basis?: { recorded: Snapshot; desired: Snapshot }
  /** Difference between recorded and desired, and the number of items equal in both. */
  changes: Change[]
  unchanged: number
  /** Fields that an apply gives up; default: none. */
  stays?: Stay[]
  grouping: Grouping
  limits: { domainsPerWrite: number; callsPerMinute: number; burst?: Burst | null }
  /** Names of items on the wire, where they differ; default: none. */
  itemKeys?: ItemKeys
  /** Whether the account can unset any item (`service.unset`); default: no. */
  deletes?: boolean
  /** Waits of a rollout; default: none. */
  rollout?: Pacing['rollout']
  target: string[]
  items: string[]
  /** Effort of the search for fewer writes; default: normal. */
  effort?: Effort
  /**
   * Solves the linear programmes of the lower bound; without one the bound is by counting alone.
   */
  solver?: Solver | null
  /** Globs of the domains whose writes come first. */
  first?: string[]
  /** Waves of the rollout; default: all domains at once. */
  waves?: Waves
  /** Traffic of domains; default: not known. */
  traffic?: TrafficProfile | undefined
  /** Runs tasks of a large plan at the same time; default: one after the other. */
  parallel?: Parallel
  /** Called regularly during a long search. */
  progress?: Progress
}

/**
 * Makes the plan for these changes. The same input gives the same plan, byte for byte.
 *
 * @throws EdgewiseError `plan-unproven` if folding the writes over the recorded state does not give
 * the desired state
 */
export function makePlan(input: PlanInput): Plan {
  const { recorded, desired, changes, stays = [] } = input
  const { waves = { waveByDomain: new Map<Domain, number>() } } = input
  const problem = createProblem(input)
  const kinds = findKinds(changes)
  const domains = [...new Set(changes.map((change) => change.domain))]
  const profile = input.traffic ?? noTraffic
  const traffic = createWaveTraffic(domains, profile, input.rollout)
  const byTraffic = 'amounts' in waves && waves.by === 'traffic' && waves.amounts.length > 1
  const known = byTraffic && traffic.figures.size > 0 ? { traffic } : {}
  const made = writeInWaves(problem, 'amounts' in waves ? { ...waves, kinds, ...known } : waves)
  const { lowerBound, writesAtOnce, ends } = made
  const writes = made.writes.map((write) => orderPayloads(write, desired))
  const fault = findPlanFault(changes, writes, recorded, input.itemKeys)
  if (fault !== null) {
    throw new EdgewiseError(
      'plan-unproven',
      `the plan failed its proof: ${fault}`,
      'Nothing was sent. This is a defect of edgewise; please report it.',
    )
  }
  const affected = new Set([...changes, ...stays].map(({ domain }) => domain))
  const planWaves = foreseeWaves(listWaves(writes, kinds), writes, traffic)
  const approvals = 'amounts' in waves ? listApprovals(waves, ends, writes) : []
  const details = [
    ...buildGroupsNote(problem, writesAtOnce),
    ...buildWavesNote(writes, writesAtOnce),
    ...describeKinds(planWaves),
  ]
  return {
    changes,
    writes,
    summary: summarize(input, domains.length, writes, lowerBound),
    basis: {
      desired: hashDomains(input.basis?.desired ?? desired, affected),
      recorded: hashDomains(input.basis?.recorded ?? recorded, affected),
      target: input.target,
      items: input.items,
      ...pickTree(input),
      ...(byTraffic ? { traffic: bindTraffic(traffic, profile) } : {}),
    },
    planner: { version: plannerVersion },
    references: collectReferences(changes, desired),
    ...(approvals.length === 0 ? {} : { approvals }),
    ...(stays.length === 0 ? {} : { stays }),
    warnings: [
      ...describeApprovals(approvals, planWaves.length),
      ...collectWarnings(changes, recorded, desired),
      ...warnOfTraffic(planWaves, traffic, byTraffic ? getFirstShare(waves.amounts) : null),
    ],
    ...(details.length === 0 ? {} : { details }),
    ...(planWaves.length < 2 ? {} : { waves: planWaves }),
  }
}

/**
 * Puts the sets in the payloads of a write into the order of its first domain's manifest, so
 * that another client of the service sees no change of a mere order.
 */
function orderPayloads(write: Write, desired: Snapshot): Write {
  const states = desired.get(write.domains[0] ?? '')
  const forms = Object.entries(write.items)
  if (forms.every(([item]) => states?.get(item)?.ordered === undefined)) return write
  const ordered = forms.map(([item, form]): [ItemKey, Form] => {
    const model = states?.get(item)?.ordered
    const payload = orderSets(getItemSpec(item), form.payload, [model])
    return [item, model === undefined ? form : { ...form, payload }]
  })
  return { ...write, items: Object.fromEntries(ordered) }
}

/** Creates the problem of grouping the changes into writes. */
function createProblem(input: PlanInput): WriteProblem {
  const { first = [] } = input
  return {
    needs: listNeeds(input.changes, input.recorded, input.deletes),
    grouping: input.grouping,
    domainsPerWrite: input.limits.domainsPerWrite,
    effort: input.effort ?? 'normal',
    solver: input.solver ?? null,
    parallel: input.parallel,
    progress: input.progress,
    ...(first.length === 0 ? {} : { isFirst: compileDomainGlobs(first) }),
  }
}

function summarize(
  { changes, unchanged, limits, rollout }: PlanInput,
  domains: number,
  writes: Write[],
  lowerBound: number,
): PlanSummary {
  return {
    domains,
    ...countActions(changes),
    unchanged,
    held: 0,
    conditional: changes.filter(({ reason }) => reason === 'secret-unknown').length,
    writes: writes.length,
    lowerBound,
    seconds: 60 * Math.max(0, Math.ceil(writes.length / limits.callsPerMinute) - 1),
    totalSeconds: computeTimes(writes, { ...limits, rollout }).total,
  }
}

/** Lists the waves of a plan that need approval. */
function listApprovals(
  { approval = [], above }: ShareWaves,
  ends: Parameters<typeof findApprovalWaves>[1],
  writes: Write[],
): number[] {
  const large = above === undefined ? [] : listLargeWaves(writes, above)
  return [...new Set([...findApprovalWaves(approval, ends), ...large])].toSorted((a, b) => a - b)
}

/** Lists the waves with more than a share of the account's requests, or with an unknown one. */
function listLargeWaves(writes: Write[], { percent, traffic }: ApprovalLimit): number[] {
  return [...groupBy(writes, ({ wave }) => wave)].flatMap(([wave, own]) => {
    const domains = own.flatMap((write) => write.domains)
    const share = computeImpactShare(computeImpact(domains, traffic))
    return share !== null && share * 100 <= percent ? [] : [wave]
  })
}

/** Returns the share of the first wave, percent; 100 if its domains are counted. */
function getFirstShare([first]: Amount[]): number {
  return first !== undefined && 'percent' in first ? first.percent : 100
}

/** Notes the waves that wait for approval. */
function describeApprovals(approvals: number[], waves: number): string[] {
  return approvals.map(
    (wave) =>
      `${waves < 2 ? 'the only wave' : `wave ${wave}`} needs approval: apply stops before it, ` +
      'see "edgewise rollout approve"',
  )
}

/** Collects the secret references of changed items whose fingerprints come from the state. */
function collectReferences(changes: Change[], desired: Snapshot): NonNullable<Plan['references']> {
  const references = new Map<Domain, Map<ItemKey, Record<string, string>>>()
  for (const { domain, item } of changes) {
    const templates = desired.get(domain)?.get(item)?.templates
    if (templates !== undefined) setItem(references, domain, item, templates)
  }
  return references
}

/** Notes how many writes one group for all items would save. */
function buildGroupsNote(problem: WriteProblem, writes: number): string[] {
  const { groups } = problem.grouping
  const grouped = problem.needs.filter(({ whole }) => whole.name !== 'delete')
  const groupNames = new Set(grouped.map(({ item }) => findGroup(item, groups)))
  if (groupNames.size < 2) return []
  const all = groupWrites({
    ...problem,
    grouping: { ...problem.grouping, groups: 'all' },
    effort: 'quick',
    solver: null,
    progress: undefined,
  }).writes.length
  if (all >= writes) return []
  return [
    `"grouping: {groups: all}" in edgewise.yaml would save ${formatCount(writes - all)} of ` +
      `${pluralize(writes, 'write')}; ` +
      'the service does not document that it accepts such items together',
  ]
}

/** Notes how many more writes the waves take. */
function buildWavesNote(writes: Write[], atOnce: number): string[] {
  if (writes.length <= atOnce) return []
  const waves = new Set(writes.map(({ wave }) => wave)).size
  const count = pluralize(writes.length, 'write')
  return [`the ${waves} waves take ${count}; without waves it would be ${formatCount(atOnce)}`]
}

function countActions(changes: Change[]): Record<Action, number> {
  const count = { set: 0, change: 0, unset: 0, release: 0 }
  for (const change of changes) count[change.action]++
  return count
}
