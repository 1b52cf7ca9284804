import picomatch from 'picomatch'
import type { Action, Change, Write } from '../model/change.ts'
import { EdgewiseError } from '../model/edgewise-error.ts'
import type { Domain, ItemKey, Snapshot } from '../model/item.ts'
import type { Effort, Plan } from '../model/plan.ts'
import { hashDomains } from './basis.ts'
import { findPlanFault } from './find-plan-fault.ts'
import type { Solver } from './cover/dual-bound.ts'
import type { Progress } from './cover/search-large.ts'
import { explainWrites } from './explain-writes.ts'
import { groupWrites, type WriteProblem } from './group-writes.ts'
import { writeInWaves, type Waves } from './write-in-waves.ts'
import { findGroup } from './groups.ts'
import { type Grouping } from '../model/config.ts'
import { listNeeds } from './needs.ts'
import { describeKinds, findKinds } from './wave-kinds.ts'
import { collectWarnings } from './warnings.ts'

/** Rises with each change after which the same changes may give other writes. */
export const plannerVersion = 1

/** What a plan is made from. */
export interface PlanInput {
  recorded: Snapshot
  desired: Snapshot
  /** What parts the two, and how many items are equal in both. */
  changes: Change[]
  unchanged: number
  grouping: Grouping
  limits: { domainsPerWrite: number; callsPerMinute: number }
  target: string[]
  items: string[]
  commit: string | null
  /** How long fewer writes are looked for; normal when left out. */
  effort?: Effort
  /** Proves how few writes there can be; without it the proof is by counting alone. */
  solver?: Solver | null
  /** Globs: domains whose writes come first. */
  first?: string[]
  /** How the domains are let out; all at once when left out. */
  waves?: Waves
  /** Whether to say why each write is as it is. */
  explain?: boolean
  /** Is called now and then during a long search with the steps made and the most there may be. */
  progress?: Progress
}

/**
 * The plan that carries out the changes. The same input gives the same plan, byte for byte.
 *
 * @throws EdgewiseError `plan-unproven` when folding the writes over the record does not give what
 * is desired.
 */
export function makePlan(input: PlanInput): Plan {
  const { recorded, desired, changes, grouping, limits } = input
  const {
    effort = 'normal',
    solver = null,
    first = [],
    waves = { waveOf: new Map<Domain, number>() },
  } = input
  const problem: WriteProblem = {
    needs: listNeeds(changes, recorded),
    grouping,
    domainsPerWrite: limits.domainsPerWrite,
    effort,
    solver,
    progress: input.progress,
    ...(first.length === 0 ? {} : { isFirst: picomatch(first, { nocase: true, dot: true }) }),
  }
  const kinds = findKinds(changes)
  const { writes, lowerBound, writesAtOnce } = writeInWaves(
    problem,
    'amounts' in waves ? { ...waves, kinds } : waves,
  )
  const fault = findPlanFault(changes, writes, recorded)
  if (fault !== null) {
    throw new EdgewiseError(
      'plan-unproven',
      `the plan does not prove itself: ${fault}`,
      'Nothing was sent. This is a defect of edgewise; please report it.',
    )
  }
  const domains = [...new Set(changes.map((change) => change.domain))]
  return {
    changes,
    writes,
    summary: {
      domains: domains.length,
      ...counts(changes),
      unchanged: input.unchanged,
      held: 0,
      writes: writes.length,
      lowerBound,
      seconds: 60 * Math.max(0, Math.ceil(writes.length / limits.callsPerMinute) - 1),
    },
    basis: {
      desired: hashDomains(desired, domains),
      recorded: hashDomains(recorded, domains),
      target: input.target,
      items: input.items,
      commit: input.commit,
    },
    planner: { version: plannerVersion, effort },
    references: referencesIn(changes, desired),
    warnings: [
      ...collectWarnings(changes, recorded, desired),
      ...groupsNote(problem, writesAtOnce),
      ...wavesNote(writes, writesAtOnce),
      ...describeKinds(writes, kinds),
    ],
    ...(input.explain === true ? { explanation: explainWrites(problem, writes) } : {}),
  }
}

/** Collects what the secrets of changed items were made from, where only the state knows that. */
function referencesIn(changes: Change[], desired: Snapshot): NonNullable<Plan['references']> {
  const references = new Map<Domain, Map<ItemKey, Record<string, string>>>()
  for (const { domain, item } of changes) {
    const templates = desired.get(domain)?.get(item)?.templates
    if (templates === undefined) continue
    const items = references.get(domain) ?? new Map<ItemKey, Record<string, string>>()
    references.set(domain, items.set(item, templates))
  }
  return references
}

/** What it would save to let all items share a write, where that is anything. */
function groupsNote(problem: WriteProblem, writes: number): string[] {
  const { groups } = problem.grouping
  const groupNames = new Set(problem.needs.map(({ item }) => findGroup(item, groups)))
  if (groupNames.size < 2) return []
  const all = groupWrites({
    ...problem,
    grouping: { ...problem.grouping, groups: 'all' },
    effort: 'quick',
    solver: null,
  }).writes.length
  if (all >= writes) return []
  return [
    `"grouping: {groups: all}" in edgewise.yaml would save ${writes - all} of ${writes} writes; that the service takes such items together is not documented`,
  ]
}

/** What the waves cost, where they cost anything. */
function wavesNote(writes: Write[], atOnce: number): string[] {
  if (writes.length <= atOnce) return []
  const waves = new Set(writes.map(({ wave }) => wave)).size
  return [`the ${waves} waves take ${writes.length} writes; all at once it would be ${atOnce}`]
}

function counts(changes: Change[]): Record<Action, number> {
  const count = { set: 0, change: 0, unset: 0, release: 0 }
  for (const change of changes) count[change.action]++
  return count
}
