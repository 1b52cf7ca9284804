import {
  describeEntry,
  findEnd,
  isOfApply,
  listGrounds,
  type LogEntry,
  nameOutcome,
} from '../../../core/model/applied.ts'
import type { Overview } from '../../../core/model/listed-rollout.ts'
import { describeEnding, type Rollout } from '../../../core/model/rollout.ts'
import { describeTree } from '../../../core/model/source-tree.ts'
import { getRolloutPath } from '../page/format-rollout.ts'
import { describeDrift } from './headline.ts'

const dayMs = 86_400_000
/** Entries that are listed. */
const maxEntries = 50

/**
 * Lists what happened in the last day, the latest first: applies, rollbacks, refusals, drift,
 * approvals and other decisions.
 *
 * @param now ISO 8601
 */
export function listLately(overview: Overview, now: string): LogEntry[] {
  const { recent, ended, drift } = overview
  const since = new Date(Date.parse(now) - dayMs).toISOString()
  const trees = new Map([...ended, ...recent.applies].map((each) => [each.commit, each]))
  const acts = recent.acts.flatMap((act): LogEntry[] => {
    const apply = recent.applies.find(({ id }) => id === act.about)
    const tree = apply ?? trees.get(act.commit) ?? act
    if (apply === undefined) return isOfApply(act) ? [] : [addTree(describeEntry(act), tree)]
    const outcome = nameOutcome({ ...apply, end: findEnd(apply, ended) })
    const reason = listGrounds(apply).join('; ') || null
    return [addTree({ ...describeEntry({ ...act, outcome, reason }), href: '/history' }, tree)]
  })
  const found = describeDrift(overview).map(({ text }) => ({ at: drift?.at ?? '', text, note: '' }))
  return [...acts, ...ended.map(logEnded), ...found]
    .filter(({ at }) => at >= since)
    .toSorted((a, b) => Number(a.at < b.at) - Number(a.at > b.at))
    .slice(0, maxEntries)
}

/** Describes how a rollout ended. */
export function logEnded(rollout: Rollout): LogEntry {
  const { id, endedAt, startedAt, author } = rollout
  const text = `rollout ${id}: ${describeEnding(rollout)}`
  const entry = { at: endedAt ?? startedAt, text, note: `by ${author ?? 'somebody unknown'}` }
  return addTree({ ...entry, href: getRolloutPath(id) }, rollout)
}

function addTree(entry: LogEntry, tree: Parameters<typeof describeTree>[0]): LogEntry {
  const about = describeTree(tree)
  return about === null ? entry : { ...entry, note: `${entry.note} · ${about}` }
}
