import type { Window } from '../../core/model/health.ts'
import type { AppliedTimes, Rollout, ItemHashes, RolloutWave } from '../../core/model/rollout.ts'
import type { RolloutContext } from './ports.ts'
import type { Change } from '../../core/model/change.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Plan } from '../../core/model/plan.ts'
import { hashDomains } from '../../core/plan/basis.ts'
import { narrowSnapshot } from '../../core/plan/selection.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { HashItem } from './conflicts.ts'

type Clocks = Pick<RolloutContext, 'clock' | 'time'>

/** Times of a wave and the present by one clock. */
interface WaveTimes extends Window {
  /** Whether the clock is the service's; otherwise it is that of the machine. */
  isService: boolean
  /** Returns the present, ms since 1970. */
  now(): number
}

/** Returns the service's time, or this machine's while the service's is unknown. */
export function readTime({ clock, time }: Clocks): number {
  return time.now() ?? clock.now()
}

/** Returns the times by the service's clock, or by the machine's if any of them is unknown. */
export function findWaveTimes(applied: AppliedTimes, clocks: Clocks): WaveTimes {
  const { from, to, serviceFrom, serviceTo } = applied
  if (clocks.time.now() === null || serviceFrom === null || serviceTo === null) {
    const window = { from: Date.parse(from), to: Date.parse(to ?? from) }
    return { ...window, isService: false, now: () => clocks.clock.now() }
  }
  const window = { from: Date.parse(serviceFrom), to: Date.parse(serviceTo) }
  return { ...window, isService: true, now: () => readTime(clocks) }
}

/** Marks the begin of a wave; a wave that is resumed keeps its own. */
export function markBegun(rollout: Rollout, waveIndex: number, clocks: Clocks): Rollout {
  const { from, serviceFrom } = rollout.waves[waveIndex]?.applied ?? {
    from: formatNow(clocks),
    serviceFrom: formatServiceNow(clocks),
  }
  return updateWave(rollout, waveIndex, {
    applied: { from, to: null, serviceFrom, serviceTo: null },
  })
}

/** Marks the end of a wave, never before its begin: a clock may have been set back. */
export function markEnded(rollout: Rollout, waveIndex: number, clocks: Clocks): Rollout {
  const now = formatNow(clocks)
  const serviceNow = formatServiceNow(clocks)
  const { from, serviceFrom } = rollout.waves[waveIndex]?.applied ?? {
    from: now,
    serviceFrom: serviceNow,
  }
  const serviceTo =
    serviceNow === null || serviceFrom === null ? serviceNow : findLater(serviceFrom, serviceNow)
  return updateWave(rollout, waveIndex, {
    applied: { from, to: findLater(from, now), serviceFrom, serviceTo },
  })
}

/** Returns a rollout with changes to one wave. */
export function updateWave(
  rollout: Rollout,
  waveIndex: number,
  more: Partial<Rollout['waves'][number]>,
): Rollout {
  return {
    ...rollout,
    waves: rollout.waves.map((wave, i) => (i === waveIndex ? { ...wave, ...more } : wave)),
  }
}

/**
 * Computes the rest of the pause after a wave, ms. The process that sent the wave knows its end by
 * the monotonic clock. Another one knows it by the service's clock, or else pauses in full.
 *
 * @param endedAtMs end of the wave by the monotonic clock; null if another process sent it
 */
export async function computePauseLeft(
  { serviceTo }: AppliedTimes,
  endedAtMs: number | null,
  pauseMs: number,
  { clock, time }: Clocks,
): Promise<number> {
  if (endedAtMs !== null) return Math.max(0, endedAtMs + pauseMs - clock.monotonic())
  const now = await time.ask()
  if (now === null || serviceTo === null) return pauseMs
  return Math.min(pauseMs, Math.max(0, Date.parse(serviceTo) + pauseMs - now))
}

/** Formats the time of this machine's clock. */
export function formatNow({ clock }: Pick<Clocks, 'clock'>): string {
  return new Date(clock.now()).toISOString()
}

function formatServiceNow({ time }: Pick<Clocks, 'time'>): string | null {
  const now = time.now()
  return now === null ? null : new Date(now).toISOString()
}

function findLater(a: string, b: string): string {
  return Date.parse(b) < Date.parse(a) ? a : b
}

/** Creates the rollout of a plan. */
export function createRollout(
  plan: Plan,
  { hashDomain, hashItem }: { hashDomain(domain: Domain): string; hashItem: HashItem },
  about: Pick<Rollout, 'id' | 'startedAt' | 'author'>,
): Rollout {
  const { commit, committed, items } = plan.basis
  const changed = new Set(plan.changes.map(({ domain }) => domain))
  const waves: Set<Domain>[] = []
  for (const { wave, domains } of plan.writes) {
    const own = (waves[wave - 1] ??= new Set())
    for (const domain of domains) own.add(domain)
  }
  const written = new Set(plan.writes.flatMap(({ domains }) => domains))
  return {
    ...about,
    commit,
    ...(committed === undefined ? {} : { committed }),
    items,
    state: 'open',
    reason: null,
    endedAt: null,
    desiredHashes: Object.fromEntries([...changed].map((domain) => [domain, hashDomain(domain)])),
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
