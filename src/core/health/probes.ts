import type { ProbeSums, Sample } from '../model/health.ts'
import type { Domain } from '../model/item.ts'
import type { WaveProbes } from '../model/rollout.ts'
import { createSampleCount } from './count-sample.ts'

/** Probes of a domain before and after a change. */
export interface ProbePair {
  before: Sample
  after: Sample
}

/**
 * Counts the probes of the domains with too little traffic. One without an answer is bad whatever
 * the statuses are. A domain whose probes were mostly bad before the change is left out: nothing
 * could be seen to get worse.
 *
 * @param isQuiet whether the statistics of a domain are too few
 */
export function countProbes(
  { before, after = {} }: Pick<WaveProbes, 'before' | 'after'> = { before: {} },
  statuses: string[],
  isQuiet: (domain: Domain) => boolean,
): Map<Domain, ProbePair> {
  const count = createSampleCount([...statuses, '0'])
  const pairs = Object.entries(before).map(([domain, counts]): [Domain, ProbePair] => [
    domain,
    { before: count(counts), after: count(after[domain] ?? {}) },
  ])
  return new Map(
    pairs.filter(
      ([domain, pair]) =>
        2 * pair.before.bad < pair.before.requests && pair.after.requests > 0 && isQuiet(domain),
    ),
  )
}

/** Sums probes; null without any. */
export function sumProbes(probes: ReadonlyMap<Domain, ProbePair>): ProbeSums | null {
  if (probes.size === 0) return null
  const pairs = [...probes.values()]
  return {
    domains: probes.size,
    before: sumSamples(pairs.map(({ before }) => before)),
    after: sumSamples(pairs.map(({ after }) => after)),
  }
}

export function sumSamples(samples: Sample[]): Sample {
  return samples.reduce(
    (sum, { requests, bad }) => ({ requests: sum.requests + requests, bad: sum.bad + bad }),
    { requests: 0, bad: 0 },
  )
}
