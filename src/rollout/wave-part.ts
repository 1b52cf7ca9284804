import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { Rollout, RolloutWave } from '../model/rollout.ts'
import { hashDomains } from '../plan/basis.ts'
import { narrowSnapshot } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'

/** A new rollout of a plan. */
export function createRollout(
  plan: Plan,
  asked: (domain: Domain) => string,
  about: Pick<Rollout, 'id' | 'startedAt' | 'author'>,
): Rollout {
  const changed = new Set(plan.changes.map(({ domain }) => domain))
  const waves: Set<Domain>[] = []
  for (const { wave, domains } of plan.writes) {
    const own = (waves[wave - 1] ??= new Set())
    for (const domain of domains) own.add(domain)
  }
  const written = new Set(plan.writes.flatMap(({ domains }) => domains))
  return {
    ...about,
    commit: plan.basis.commit,
    items: plan.basis.items,
    state: 'open',
    reason: null,
    asked: Object.fromEntries([...changed].map((domain) => [domain, asked(domain)])),
    held: [],
    waves: waves.map((domains): RolloutWave => ({
      domains: [...domains].toSorted(),
      applied: null,
      passed: false,
    })),
    released: [...changed].filter((domain) => !written.has(domain)),
    applies: [],
  }
}

/**
 * A rollout that a plan goes on with. What the plan sends to domains of a wave that has passed
 * belongs to the current one, so that it is looked after.
 */
export function continueRollout(rollout: Rollout, plan: Plan): Rollout {
  const again = new Map(
    plan.writes.flatMap(({ wave, domains }) =>
      domains.map((domain): [Domain, number] => [domain, wave - 1]),
    ),
  )
  const waves = rollout.waves.map((wave, i) => {
    const known = new Set(wave.domains)
    const stay = wave.domains.filter((domain) => (again.get(domain) ?? i) === i)
    const come = [...again].flatMap(([domain, to]) =>
      to === i && !known.has(domain) ? [domain] : [],
    )
    return { ...wave, domains: [...stay, ...come].toSorted() }
  })
  return { ...rollout, waves, released: rollout.released.filter((domain) => !again.has(domain)) }
}

/**
 * What a plan does in one wave, counted from 0.
 *
 * @param isFirst whether it is the first one that this plan carries out, with which goes what is
 * only released
 */
export function selectWave(plan: Plan, { waves }: Rollout, at: number, isFirst: boolean): Plan {
  const own = new Set(waves[at]?.domains)
  const written = new Set(plan.writes.flatMap(({ domains }) => domains))
  return {
    ...plan,
    changes: plan.changes.filter(({ domain }) => (written.has(domain) ? own.has(domain) : isFirst)),
    writes: plan.writes.filter(({ wave }) => wave === at + 1),
  }
}

/**
 * The domains of a part of a plan of which something else is recorded now than when the plan was
 * made.
 */
export function findChangedDomains({ changes, basis }: Plan, recorded: RecordedState): Domain[] {
  const domains = [...new Set(changes.map(({ domain }) => domain))]
  const now = hashDomains(
    narrowSnapshot(new Map(domains.map((domain) => [domain, recorded.get(domain) ?? new Map()])), {
      target: [],
      items: basis.items,
    }),
    domains,
  )
  return domains.filter((domain) => now[domain] !== basis.recorded[domain])
}
