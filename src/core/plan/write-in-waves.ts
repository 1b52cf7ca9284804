import type { Form, Write } from '../model/change.ts'
import type { Amount, RolloutConfig } from '../model/config.ts'
import type { Domain, ItemKey } from '../model/item.ts'
import { compareKeys, groupBy, splitIntoChunks, addUp } from '../model/lists.ts'
import { splitProgress } from '../model/parallel.ts'
import type { TrafficProfile } from '../model/traffic.ts'
import { createNumbering } from '../model/text/canonical-json.ts'
import { assignWaves, type AssignedWaves } from './assign-waves.ts'
import { type Effort, type WriteProblem, type WriteSolution, groupWrites } from './group-writes.ts'
import type { Need } from './needs.ts'
import { type UnorderedWrite, orderWrites } from './order-writes.ts'
import type { WaveTraffic } from './traffic-waves.ts'
import type { Kinds } from './wave-kinds.ts'

/** Share of the account's requests above which a wave needs approval. */
export interface ApprovalLimit {
  percent: number
  traffic: TrafficProfile
}

/** Waves by shares of the domains of a plan, or of their requests. */
export interface ShareWaves {
  amounts: Amount[]
  kinds?: Kinds
  /** Numbers of those that need approval. */
  approval?: number[]
  /** Share of the account's requests above which others do. */
  above?: ApprovalLimit
  /** What the shares should count; default: domains. */
  by?: RolloutConfig['by']
  /** Present if the shares count requests. */
  traffic?: WaveTraffic
}

/** Waves of a plan: by shares, or the wave numbers of an open rollout. */
export type Waves = ShareWaves | { waveByDomain: ReadonlyMap<Domain, number> }

/** Writes wave by wave. */
export interface WaveSolution extends WriteSolution {
  /** Number of writes without waves. */
  writesAtOnce: number
  /** Number of domains placed by the end of each configured wave; none for an open rollout. */
  ends: number[]
}

/**
 * Share of extra writes up to which the waves are not searched again: the writes at once, cut by
 * waves, are then as good as a search makes them.
 */
const maxExtraShare = 0.01

/** Exchanges of domains to try for the waves: for each domain, and at most. */
const exchanges: Record<Effort, { perDomain: number; max: number }> = {
  quick: { perDomain: 1_000, max: 2_000_000 },
  normal: { perDomain: 3_000, max: 10_000_000 },
}

/** Meets all needs wave by wave: no write has domains of two waves. */
export function writeInWaves(problem: WriteProblem, waves: Waves): WaveSolution {
  const hasWaves = 'waveByDomain' in waves || waves.amounts.length > 1
  const getProgress = splitProgress(problem.progress, hasWaves ? 3 : 1)
  const atOnce = groupWrites({ ...problem, progress: getProgress(0) })
  const joined = joinEqualWrites(atOnce.writes)
  const { waves: waveByDomain, ends } =
    'waveByDomain' in waves
      ? { waves: waves.waveByDomain, ends: [] }
      : computeWaves({ ...problem, progress: getProgress(1) }, joined, waves)
  const getWave = (domain: Domain): number => waveByDomain.get(domain) ?? 1
  const needsByWave = groupBy(problem.needs, ({ domain }) => getWave(domain))
  const waveNumbers = [...needsByWave.keys()].toSorted((a, b) => a - b)
  const [firstWave] = waveNumbers
  if (waveNumbers.length < 2) {
    return {
      ...atOnce,
      writes: atOnce.writes.map((write) => ({ ...write, wave: firstWave ?? 1 })),
      writesAtOnce: atOnce.writes.length,
      ends,
    }
  }
  const isFirst = problem.isFirst ?? (() => false)
  const cuts = waveNumbers.map((wave) => {
    const isIn = (domain: Domain): boolean => getWave(domain) === wave
    const parts = cutJoinedWrites(joined, isIn, problem.domainsPerWrite)
    return { wave, parts: orderWrites(parts, isFirst) }
  })
  const cutCount = addUp(cuts, ({ parts }) => parts.length)
  const isSearched = cutCount > atOnce.writes.length * (1 + maxExtraShare)
  const getWaveProgress = splitProgress(getProgress(2), cuts.length)
  const writes = cuts.flatMap(({ wave, parts }, i) => {
    const own = { ...problem, progress: getWaveProgress(i) }
    const found = isSearched ? searchWave(own, needsByWave.get(wave) ?? []) : parts
    getWaveProgress(i)(1, 1)
    return (parts.length <= found.length ? parts : found).map(({ domains, items }) => ({
      wave,
      domains,
      items,
    }))
  })
  return {
    writes: writes.map((write, i) => ({ id: i + 1, ...write })),
    lowerBound: atOnce.lowerBound,
    writesAtOnce: atOnce.writes.length,
    ends,
  }
}

/** Searches for the writes of a wave, with its share of the effort. */
function searchWave(problem: WriteProblem, needs: Need[]): Write[] {
  const share = needs.length / problem.needs.length
  return groupWrites({ ...problem, needs, share, solver: null }).writes
}

function computeWaves(
  { needs, domainsPerWrite, effort, isFirst = () => false, progress }: WriteProblem,
  joined: JoinedWrite[],
  { amounts, kinds = new Map(), traffic }: ShareWaves,
): AssignedWaves {
  const domains = [...new Set(needs.map(({ domain }) => domain))].toSorted()
  const { perDomain, max } = exchanges[effort]
  return assignWaves({
    domains,
    groups: joined.map((write) => write.domains),
    width: domainsPerWrite,
    amounts,
    isFirst,
    kinds,
    traffic,
    steps: Math.min(max, perDomain * domains.length),
    progress,
  })
}

/** Writes that send the same items, as one; it may have more domains than a write can have. */
export interface JoinedWrite {
  items: Record<ItemKey, Form>
  domains: Domain[]
}

/** Joins the writes with equal items: each of them could have the domains of the others. */
export function joinEqualWrites(writes: Write[]): JoinedWrite[] {
  const number = createNumbering()
  const equal = groupBy(writes, ({ items }) => {
    const forms = Object.entries(items).toSorted(compareKeys)
    return JSON.stringify(forms.map(([item, { name, payload }]) => [item, name, number(payload)]))
  })
  return [...equal.values()].map((own) => ({
    items: own[0]?.items ?? {},
    domains: [...new Set(own.flatMap(({ domains }) => domains))].toSorted(),
  }))
}

/** Builds the writes of some domains, each with at most `width` domains. */
export function cutJoinedWrites(
  joined: JoinedWrite[],
  isIn: (domain: Domain) => boolean,
  width: number,
): UnorderedWrite[] {
  return joined.flatMap(({ items, domains }) =>
    splitIntoChunks(domains.filter(isIn), width).map((own) => ({ items, domains: own })),
  )
}
