import {
  type Applied,
  describeEntry,
  isOfApply,
  isRollback,
  listGrounds,
  type LogEntry,
  nameOutcome,
} from '../../../core/model/applied.ts'
import type { Overview } from '../../../core/model/listed-rollout.ts'
import { groupBy } from '../../../core/model/lists.ts'
import { nameEnd, type Rollout } from '../../../core/model/rollout.ts'
import { formatTime } from '../../../core/model/text/words.ts'
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
  const { recent, rollouts, ended, drift, happened = [] } = overview
  const since = new Date(Date.parse(now) - dayMs).toISOString()
  const trees = new Map([...ended, ...recent.applies].map((each) => [each.commit, each.committed]))
  const known = [...ended, ...rollouts.map(({ rollout }) => rollout)]
  const pages = new Map(known.map(({ id }) => [id, getRolloutPath(id)]))
  const acts = recent.acts
    .filter((act) => !isOfApply(act))
    .map((act) => ({
      ...describeEntry({ ...act, committed: trees.get(act.commit) }),
      href: pages.get(act.about),
    }))
  const repeats = groupBy(recent.applies, ({ id, commit, refusals }) =>
    refusals === undefined ? id : JSON.stringify([commit, refusals]),
  )
  const applies = [...repeats.values()].flatMap((same) => {
    const [first, apply] = [same[0], same.at(-1)]
    if (first === undefined || apply === undefined) return []
    const kind = isRollback(apply.id) ? 'rollback' : 'apply'
    const times = ` ${same.length} times since ${formatTime(first.startedAt)}`
    const outcome = nameOutcome(apply) + (same.length === 1 ? '' : times)
    return log(kind, apply, outcome, listGrounds(apply).join('; '), `/history#apply=${apply.id}`)
  })
  const found = describeDrift(overview).map((each) => ({ ...each, at: drift?.at ?? '', note: '' }))
  return [...applies, ...acts, ...ended.map(logEnded), ...found, ...happened]
    .filter(({ at }) => at >= since)
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, maxEntries)
}

/** Describes how a rollout ended, which is not by whom it began. */
export const logEnded = (rollout: Rollout): LogEntry =>
  log(
    'rollout',
    { ...rollout, author: null },
    nameEnd(rollout.state),
    rollout.reason,
    getRolloutPath(rollout.id),
  )

function log(
  kind: string,
  done: Applied | Rollout,
  outcome: string,
  reason: string | null,
  href: string,
): LogEntry {
  const { id: about, startedAt, endedAt } = done
  const entry = { ...done, at: endedAt ?? startedAt, kind, about, outcome, reason }
  return { ...describeEntry(entry), href }
}
