import { groupBy } from './group-by.ts'

/**
 * Groups the applies of a history, first to last: the waves of a rollout (`<id>-w1`, `<id>-w2`, …)
 * form one group.
 */
export function groupApplies<T extends { id: string }>(history: T[]): T[][] {
  return [...groupBy(history, ({ id }) => parseApplyId(id).rollout).values()].map((waves) =>
    waves.toSorted((a, b) => parseApplyId(a.id).wave - parseApplyId(b.id).wave),
  )
}

/** Parses the id of an apply: the id of its rollout, and the number of its wave; 0 for none. */
export function parseApplyId(id: string): { rollout: string; wave: number } {
  const [, rollout = id, wave = '0'] = /^(.+)-w([1-9]\d*)$/.exec(id) ?? []
  return { rollout, wave: Number(wave) }
}
