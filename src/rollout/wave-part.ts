import type { Change } from '../model/change.ts'
import type { Domain } from '../model/item.ts'
import type { Plan } from '../model/plan.ts'
import type { ItemHashes, Rollout, RolloutWave } from '../model/rollout.ts'
import { hashDomains } from '../plan/basis.ts'
import { narrowSnapshot } from '../plan/selection.ts'
import type { RecordedState } from '../state/store.ts'
import type { HashItem } from './conflicts.ts'

/** Creates the rollout of a plan. */
export function createRollout(
  plan: Plan,
  { hashDomain, hashItem }: { hashDomain(domain: Domain): string; hashItem: HashItem },
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
    endedAt: null,
    asked: Object.fromEntries([...changed].map((domain) => [domain, hashDomain(domain)])),
    values: hashChanges(plan.changes, hashItem),
    onHold: {},
    waves: waves.map((domains, i): RolloutWave => ({
      domains: [...domains].toSorted(),
      applied: null,
      passed: false,
      ...(plan.approvals?.includes(i + 1) === true
        ? { approval: { waitingSince: null, approved: null } }
        : {}),
    })),
    released: [...changed].filter((domain) => !written.has(domain)),
    applies: [],
  }
}

/** Hashes the value of each change, by domain and item. */
function hashChanges(changes: Change[], hashItem: HashItem): ItemHashes {
  const values: ItemHashes = {}
  for (const { domain, item } of changes) (values[domain] ??= {})[item] = hashItem(domain, item)
  return values
}

/**
 * Returns a rollout as a plan resumes it. Writes to domains of a passed wave join the current wave,
 * so that they are watched.
 */
export function continueRollout(rollout: Rollout, plan: Plan): Rollout {
  const resent = new Map(
    plan.writes.flatMap(({ wave, domains }) =>
      domains.map((domain): [Domain, number] => [domain, wave - 1]),
    ),
  )
  const waves = rollout.waves.map((wave, i) => {
    const known = new Set(wave.domains)
    const remaining = wave.domains.filter((domain) => (resent.get(domain) ?? i) === i)
    const added = [...resent].flatMap(([domain, to]) =>
      to === i && !known.has(domain) ? [domain] : [],
    )
    return { ...wave, domains: [...remaining, ...added].toSorted() }
  })
  return { ...rollout, waves, released: rollout.released.filter((domain) => !resent.has(domain)) }
}

/**
 * Selects the part of a plan for one wave.
 *
 * @param isFirst whether the plan starts with this wave, which then includes domains without writes
 */
export function selectWave(
  plan: Plan,
  { waves }: Rollout,
  waveIndex: number,
  isFirst: boolean,
): Plan {
  const own = new Set(waves[waveIndex]?.domains)
  const written = new Set(plan.writes.flatMap(({ domains }) => domains))
  return {
    ...plan,
    changes: plan.changes.filter(({ domain }) => (written.has(domain) ? own.has(domain) : isFirst)),
    writes: plan.writes.filter(({ wave }) => wave === waveIndex + 1),
  }
}

/** Finds domains of a plan whose state changed since the plan was made. */
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

/** Names a wave by its number: `wave 2 of 3`. */
export function nameWave({ waves }: Rollout, waveIndex: number): string {
  return `wave ${waveIndex + 1} of ${waves.length}`
}
