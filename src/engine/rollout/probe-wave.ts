import { createSampleCount } from '../../core/health/count-sample.ts'
import { computeWindows } from '../../core/health/windows.ts'
import type { Domain } from '../../core/model/item.ts'
import type { Rollout, WaveProbes } from '../../core/model/rollout.ts'
import type { RecordedState } from '../../state/store/store.ts'
import type { RolloutContext } from './ports.ts'
import { reload, saveProgress, type Progress } from './progress.ts'
import { nameWave, readTime, updateWave } from './waves.ts'

/** Age from which probes before a wave are repeated, ms. */
const maxAgeMs = 10 * 60_000

/**
 * Finds the domains of a wave to probe before it begins: those with too few requests in the
 * baseline, unless they were probed a short time ago.
 *
 * @throws EdgewiseError the errors of queries: a wave whose statistics are refused never begins
 */
export async function findUnprobed(
  domains: Domain[],
  { waves }: Rollout,
  waveIndex: number,
  context: RolloutContext,
): Promise<Domain[]> {
  const { rule, zone } = context.settings
  if (rule === null) return []
  const nowMs = readTime(context)
  const { before } = computeWindows(nowMs, nowMs, rule, zone)
  const counts = await context.service.count(domains, before)
  const { applied, probes } = waves[waveIndex] ?? {}
  const isRecent = probes !== undefined && Math.abs(nowMs - Date.parse(probes.at)) <= maxAgeMs
  if (context.probing === null || applied !== null || isRecent) return []
  const count = createSampleCount(rule.statuses)
  return domains.filter((domain) => count(counts.get(domain) ?? {}).requests < rule.minRequests)
}

/** Probes a wave before it begins, without the lock. Returns why the rollout ends here, or null. */
export async function probeBefore(
  waveIndex: number,
  domains: Domain[],
  progress: Progress,
  context: RolloutContext,
): Promise<string | null> {
  const name = nameWave(progress.rollout, waveIndex)
  await saveProgress(`${name} is probed`, progress, context)
  const sent = await context.applying.whileUnlocked(async () =>
    context.probing?.probe(domains, progress.recorded),
  )
  const reason = await reload(progress, context)
  // Another process may have begun the wave meanwhile, with probes of its own.
  const isBegun = progress.rollout.waves[waveIndex]?.applied !== null
  if (reason !== null || isBegun || sent === undefined) return reason
  const at = new Date(readTime(context)).toISOString()
  const { of, count, counts } = sent
  await recordProbes({ of, count, at, before: counts }, waveIndex, progress, context)
  return null
}

/**
 * Probes a wave after it, if it was probed before; null if nothing is left to send. Other requests
 * than those before are not compared.
 */
export async function probeAfter(
  { waves }: Rollout,
  waveIndex: number,
  recorded: RecordedState,
  { probing }: Pick<RolloutContext, 'probing'>,
): Promise<WaveProbes | null> {
  const { probes } = waves[waveIndex] ?? {}
  if (probing === null || probes === undefined || probes.after !== undefined) return null
  const sent = await probing.probe(Object.keys(probes.before), recorded)
  return { ...probes, after: sent.of === probes.of ? sent.counts : {} }
}

/** Records the probes of a wave. */
export async function recordProbes(
  probes: WaveProbes,
  waveIndex: number,
  progress: Progress,
  context: RolloutContext,
): Promise<void> {
  progress.rollout = updateWave(progress.rollout, waveIndex, { probes })
  await saveProgress(`${nameWave(progress.rollout, waveIndex)} was probed`, progress, context)
}
