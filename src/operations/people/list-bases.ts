import { parseApplyId, type Applied } from '../../core/model/applied.ts'
import { findCurrentWave, type Rollout } from '../../core/model/rollout.ts'
import type { HistoryReader, StateReader } from '../../state/store/store.ts'
import { rollbackSuffix } from '../submission/find-change.ts'

/**
 * Lists the commits of the last confirmed values of what the current wave of a rollout changes;
 * null for a value of no known commit. An apply of the whole of a commit confirmed all of its
 * values; what a rollback has set back was last confirmed before.
 */
export async function listBases(
  store: Pick<StateReader & HistoryReader, 'load' | 'listPruned' | 'listApplies'>,
  rollout: Rollout,
): Promise<(string | null)[]> {
  const recorded = await store.load()
  const applies = [...(await store.listPruned()).applies, ...(await store.listApplies())]
  const isBefore = ({ id, startedAt, commit }: Applied) =>
    startedAt < rollout.startedAt &&
    commit !== rollout.commit &&
    parseApplyId(id).rollout !== rollout.id
  const findWhole = (end?: number) =>
    applies
      .slice(0, end)
      .findLastIndex((apply) => apply.whole && apply.outcome === 'complete' && isBefore(apply))
  const findLast = (name: string): number => {
    const undone = /^(.+)-rollback(?:-w\d+)?$/.exec(name)?.[1]
    const own = applies.findIndex((apply) => apply.id === name && isBefore(apply))
    if (undone === undefined) return Math.max(own, findWhole())
    return findWhole(
      Math.max(
        applies.findIndex(({ id }) => parseApplyId(id).rollout === undone),
        0,
      ),
    )
  }
  const { domains = [] } = rollout.waves[findCurrentWave(rollout) ?? 0] ?? {}
  const names = domains.flatMap((domain) =>
    Object.keys(rollout.values[domain] ?? {}).map((key) => {
      const { status = 'in-doubt', apply = '' } = recorded.get(domain)?.get(key) ?? {}
      return status === 'in-doubt' && !apply.includes(`-${rollbackSuffix}`) ? '' : apply
    }),
  )
  return [...new Set(names)].map((name) => applies[findLast(name)]?.commit ?? null)
}
