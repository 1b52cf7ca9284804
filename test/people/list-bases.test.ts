import { expect, it } from 'vitest'
import type { Applied } from '../../src/core/model/applied.ts'
import type { ItemState } from '../../src/core/model/item.ts'
import { listBases } from '../../src/operations/people/list-bases.ts'
import type { RecordedItem } from '../../src/state/store/store.ts'
import { buildRollout } from '../server/page-stage.ts'

const [a, b] = ['shop-1.example.com', 'shop-2.example.com'] as const
const none = { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 }
let minute = 0

/** Builds an apply of a commit; they come one after another. */
function build(id: string, commit: string | null, own: Partial<Applied> = {}): Applied {
  const startedAt = new Date(Date.UTC(2026, 0, 1, 0, ++minute)).toISOString()
  const outcome = 'complete' as const
  return { id, startedAt, endedAt: startedAt, author: null, commit, writes: none, outcome, ...own }
}

const item = (apply: string, status: ItemState['status'] = 'confirmed'): RecordedItem => ({
  status,
  candidates: [],
  at: '2026-01-01T00:00:00.000Z',
  apply,
  origin: 'write',
})

/** Lists the bases of a wave that changes the time-out of two domains, at the commit `new`. */
function list(
  recorded: Record<string, RecordedItem>,
  applies: Applied[],
  pruned: Applied[] = [],
): Promise<(string | null)[]> {
  const waves = [{ domains: [a, b], applied: null, passed: false }]
  const values = { [a]: { timeout: 'x' }, [b]: { timeout: 'x' } }
  const startedAt = '2026-01-02T00:00:00.000Z'
  const entries = Object.entries(recorded).map(
    ([domain, own]) => [domain, new Map([['timeout', own]])] as const,
  )
  return listBases(
    {
      load: async () => new Map(entries),
      listPruned: async () => ({ applies: pruned, dropped: 0 }),
      listApplies: async () => applies,
    },
    buildRollout({ id: 'r9', commit: 'new', startedAt, waves, values }),
  )
}

it('are the commits of the last confirmed values, not that of the last apply', async () => {
  const applies = [build('1', 'c1'), build('2', 'c2'), build('3', 'c3')]
  expect(await list({ [a]: item('1'), [b]: item('2') }, applies)).toEqual(['c1', 'c2'])
  expect(await list({ [a]: item('1'), [b]: item('1') }, applies)).toEqual(['c1'])
  expect(await list({ [a]: item('2', 'unset'), [b]: item('2') }, applies)).toEqual(['c2'])
  const [first, ...others] = applies
  expect(await list({ [a]: item('1'), [b]: item('1') }, others, first && [first])).toEqual(['c1'])
})

it('are not known of what was never confirmed, or from no commit', async () => {
  const applies = [build('1', 'c1'), build('2', null), build('3', 'new'), build('r9-w1', 'new')]
  for (const own of [item('2'), item('3'), item('r9-w1'), item('import'), item('1', 'in-doubt')])
    expect(await list({ [a]: item('1'), [b]: own }, applies)).toEqual(['c1', null])
  expect(await list({ [a]: item('1') }, applies)).toEqual(['c1', null])
})

it('come from an apply of a whole commit that came later, if it was complete', async () => {
  const whole = { whole: true } as const
  const applies = [
    build('1', 'c1'),
    build('2', 'c2', whole),
    build('3', 'c3'),
    build('4', 'c4', { ...whole, outcome: 'incomplete' }),
    build('5', 'new', whole),
  ]
  expect(await list({ [a]: item('1'), [b]: item('3') }, applies)).toEqual(['c2', 'c3'])
  expect(await list({ [a]: item('4', 'in-doubt') }, applies)).toEqual(['c2'])
})

it('are those before what a rollback has set back', async () => {
  const applies = [
    build('1', 'c1', { whole: true }),
    build('r2-w1', 'c2'),
    build('r2-w2', 'c2', { whole: true }),
    build('r2-rollback', 'c2'),
    build('3-rollback', 'c3'),
  ]
  expect(await list({ [a]: item('r2-rollback'), [b]: item('1') }, applies)).toEqual(['c1', 'c2'])
  // Also if the same commit is tried again.
  const again = [
    build('1', 'c1', { whole: true }),
    build('r3-w1', 'new'),
    build('r3-rollback', 'new'),
  ]
  expect(await list({ [a]: item('r3-rollback'), [b]: item('1') }, again)).toEqual(['c1', 'c1'])
  // What a person has set back is not told by the name.
  expect(await list({ [a]: item('3-rollback'), [b]: item('1') }, applies)).toEqual([null, 'c2'])
  expect(await list({ [a]: item('r2-rollback') }, applies.slice(1))).toEqual([null, 'c2'])
})
