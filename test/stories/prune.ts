import { expect } from 'vitest'
import {
  buildApplied,
  buildDomain,
  buildItem,
  buildWave,
  pruneNote,
  recordedAt,
} from '../state/store-contract.ts'
import { branch, type Two } from '../state/two-clones.ts'

/** Prunes in one clone: the other one gets an ordinary commit, and goes on. */
export async function pruneBehindClone(two: Two): Promise<void> {
  const behind = await two.open('other')
  const state = buildDomain('a.example.com', { timeout: buildItem('1') })
  await behind.recordIntents(buildApplied('one'), buildWave('one', state))
  await behind.endApply(buildApplied('one', { endedAt: recordedAt, outcome: 'complete' }))
  await behind.share?.()
  const tip = await two.sandbox.git('other', 'rev-parse', branch)
  const mine = await two.open('clone')
  await mine.prune(await mine.listApplies(), 'Prune', pruneNote)
  expect(await two.sandbox.git('remote.git', 'rev-parse', `${branch}^`)).toBe(tip)
  const next = await two.open('other')
  expect([await next.listApplies(), (await next.listPruned()).applies.length]).toEqual([[], 1])
  await next.save(state, 'next')
  expect((await two.log()).slice(-2)).toEqual(['Prune', 'next'])
}
