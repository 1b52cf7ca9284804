import type { Change, Form, Write } from '../src/core/model/change.ts'
import type { Value } from '../src/core/model/item.ts'
import type { Plan, PlanSummary } from '../src/core/model/plan.ts'
import type { Rollout } from '../src/core/model/rollout.ts'

/** The timeout of a.example.com is set to 60 seconds, but for what is given. */
export function buildChange(given: Partial<Change> = {}): Change {
  return {
    domain: 'a.example.com',
    item: 'timeout',
    action: 'set',
    reason: 'differs',
    before: null,
    after: { time: '60' },
    patch: [],
    ...given,
  }
}

/** The write that carries out {@link buildChange}, but for what is given. */
export function buildWrite(given: Partial<Write> = {}): Write {
  return {
    id: 1,
    wave: 1,
    domains: ['a.example.com'],
    items: { timeout: replaceWith({ time: '60' }) },
    ...given,
  }
}

/** Builds the form that writes the whole value. */
export function replaceWith(payload: Value | null): Form {
  return { name: 'replace', payload }
}

/**
 * Builds a plan of some changes, each with a write of its own unless it is released or cleared, and
 * within it that of the definite ones.
 */
export function buildPlan(
  changes: Change[] = [buildChange()],
  { summary, basis, ...given }: BuiltPlan = {},
): Plan {
  const writes =
    given.writes ?? changes.flatMap(buildWrites).map((write, i) => ({ ...write, id: i + 1 }))
  const { writes: _, ...others } = given
  const definite = changes.filter(({ reason }) => reason !== 'secret-unknown')
  const count = (action: Change['action']) =>
    changes.filter((change) => change.action === action).length
  return {
    changes,
    writes,
    summary: {
      domains: new Set(changes.map(({ domain }) => domain)).size,
      set: count('set'),
      change: count('change'),
      unset: count('unset'),
      release: count('release'),
      unchanged: 0,
      held: 0,
      conditional: changes.filter(({ reason }) => reason === 'secret-unknown').length,
      writes: writes.length,
      lowerBound: 1,
      seconds: 0,
      totalSeconds: 0,
      ...summary,
    },
    basis: { desired: {}, recorded: {}, target: [], items: [], commit: null, ...basis },
    planner: { version: 1 },
    warnings: [],
    ...(definite.length === changes.length
      ? {}
      : { definite: buildPlan(definite, { summary, basis, ...others }) }),
    ...given,
  }
}

type BuiltPlan = Partial<Omit<Plan, 'changes' | 'summary' | 'basis'>> & {
  summary?: Partial<PlanSummary>
  basis?: Partial<Plan['basis']>
}

function buildWrites({ action, reason, domain, item, after }: Change): Write[] {
  return action === 'release' || reason === 'cleared'
    ? []
    : [buildWrite({ domains: [domain], items: { [item]: replaceWith(after) } })]
}

/** An open rollout without domains, but for what is given. */
export function buildRollout(given: Partial<Rollout> = {}): Rollout {
  return {
    id: 'one',
    startedAt: '2026-11-20T12:00:00.000Z',
    commit: null,
    author: null,
    state: 'open',
    reason: null,
    items: [],
    desiredHashes: {},
    endedAt: null,
    values: {},
    onHold: {},
    waves: [],
    released: [],
    applies: [],
    ...given,
  }
}
