import { createHash } from 'node:crypto'
import type { Overview } from '../../model/overview.ts'

/** Revision of each kind of page: another one when it shows something else. */
export type Revisions = Record<'overview' | 'plan' | 'drift', string>

/** Computes the revisions of what an overview knows, without the times of the last look. */
export function computeRevisions(overview: Overview): Revisions {
  const { fetchedAt: _fetchedAt, ...known } = overview
  const { commit, applied, drift, rollouts, ended } = overview
  const steps = rollouts.map(({ listed, step }) => [listed.id, step])
  return {
    overview: hash(known),
    plan: hash([commit, applied?.commit, applied?.status, steps, ended.map(({ id }) => id)]),
    drift: hash(drift?.at ?? null),
  }
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}
