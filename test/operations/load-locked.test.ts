// @module-tag often
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadLocked } from '../../src/operations/runtime/with-state.ts'
import { buildApplied, recordedAt, buildTimeout, begin, complete } from '../state/store-contract.ts'
import type { Store } from '../../src/state/store/store.ts'
import { branch, Two } from '../state/two-clones.ts'

describe('outcomes that were recorded in a clone and not shared', () => {
  let made: Two
  let two: Two
  let notes: string[]
  const dialogue = { note: (text: string) => void notes.push(text) }
  const outcome = buildTimeout('a.example.com', '2', { apply: 'one' })
  const record = async (where: Two): Promise<Store> => {
    const store = await where.open('clone')
    const before = buildTimeout('a.example.com', '1')
    await begin(store, 'one', before)
    await store.recordOutcomes(buildApplied('one'), [1], outcome)
    await complete(store, 'one')
    return store
  }
  beforeAll(async () => {
    made = await Two.make()
    await record(made)
  })
  afterAll(() => made.sandbox.remove())
  beforeEach(() => {
    notes = []
    two = made.copy()
  })
  afterEach(() => two.sandbox.remove())
  const findTip = (where: string) => two.sandbox.git(where, 'rev-parse', branch)

  it('are shared by the next load with the lock', async () => {
    expect(await loadLocked(await two.open('clone'), dialogue)).toEqual(outcome)
    const seen = await two.open('other')
    expect(await seen.load()).toEqual(outcome)
    expect(await seen.listApplies()).toMatchObject([{ id: 'one', outcome: 'complete' }])
    expect(notes).toEqual([])
  })

  it('are an error that names them if the push fails, and are shared later', async () => {
    const hook = join(two.sandbox.folder, 'remote.git', 'hooks', 'pre-receive')
    writeFileSync(hook, '#!/bin/sh\necho protected >&2\nexit 1\n', { mode: 0o755 })
    await expect(loadLocked(await two.open('clone'), dialogue)).rejects.toMatchObject({
      code: 'record-unreachable',
      message: expect.stringMatching(
        /^outcomes that an earlier command recorded in this clone can't be shared: [^]*protected/,
      ) as string,
    })
    rmSync(hook)
    await loadLocked(await two.open('clone'), dialogue)
    expect(await (await two.open('other')).load()).toEqual(outcome)
  })

  it('are dropped with one note if another clone has written the state since', async () => {
    const theirs = await two.open('other')
    await theirs.save(buildTimeout('b.example.com', '7'), 'theirs')
    const recorded = await loadLocked(await two.open('clone'), dialogue)
    expect(recorded.get('a.example.com')?.get('timeout')?.status).toBe('in-doubt')
    expect(notes).toEqual([
      expect.stringContaining('Outcomes of one were recorded only in this clone, and are dropped'),
    ])
    await loadLocked(await two.open('clone'), dialogue)
    expect(notes).toHaveLength(1)
    expect(await findTip('clone')).toBe(await findTip('remote.git'))
  })

  it('are listed until they are shared, for every workspace of the clone', async () => {
    const listed = async (id: string) => (await two.open('clone', id)).listUnshared()
    expect(await listed('default')).toEqual(['one'])
    expect(await listed('another')).toEqual(['one of the workspace "default"'])
    await loadLocked(await two.open('clone'), dialogue)
    expect(await listed('default')).toEqual([])
    expect(await (await two.open('other')).listUnshared()).toEqual([])
  })

  it('are kept and shared if another clone has written only another state since', async () => {
    const third = buildTimeout('c.example.com', '7')
    await (await two.open('other', 'third')).save(third, 'theirs')
    expect(await loadLocked(await two.open('clone'), dialogue)).toEqual(outcome)
    expect(await (await two.open('other')).load()).toEqual(outcome)
    expect(await (await two.open('other', 'third')).load()).toEqual(third)
    expect(notes).toEqual([])
  })

  it('are noted with their workspace and commit if another one drops them', async () => {
    const commit = await findTip('clone')
    const theirs = await two.open('other')
    await theirs.save(buildTimeout('b.example.com', '7'), 'theirs')
    await loadLocked(await two.open('clone', 'another'), dialogue)
    expect(notes).toEqual([
      expect.stringContaining(
        `Outcomes of one of the workspace "default" (commit ${commit.slice(0, 12)}) were `,
      ),
    ])
  })

  it('are not noted as dropped if a killed process has pushed them in other commits', async () => {
    const before = await findTip('clone')
    const mine = await two.open('clone')
    const theirs = await two.open('other', 'theirs')
    await theirs.save(buildTimeout('b.example.com', '7'), 'theirs')
    await mine.share?.()
    await two.sandbox.git('clone', 'update-ref', `refs/heads/${branch}`, before)
    expect(await loadLocked(await two.open('clone'), dialogue)).toEqual(outcome)
    expect(notes).toEqual([])
  })

  it('can be shared further by their own process after another workspace pushed them', async () => {
    two.sandbox.remove()
    two = await Two.make()
    const store = await record(two)
    await loadLocked(await two.open('clone', 'another'), dialogue)
    const next = buildTimeout('b.example.com', '3')
    await store.recordOutcomes(buildApplied('one'), [], next)
    await store.share?.()
    expect(await (await two.open('other')).load()).toEqual(new Map([...outcome, ...next]))
  })
})

it('an apply that sent nothing does not set its clone apart from the first state', async () => {
  const two = await Two.make()
  const notes: string[] = []
  const interrupted = buildApplied('one', { endedAt: recordedAt, outcome: 'interrupted' })
  // The branch does not exist yet, and this commit is not pushed.
  await (await two.open('clone')).endApply(interrupted)
  const recorded = buildTimeout('a.example.com', '7')
  await (await two.open('other')).save(recorded, 'first')
  const store = await two.open('clone')
  expect(await loadLocked(store, { note: (text) => void notes.push(text) })).toEqual(recorded)
  expect(notes).toEqual([expect.stringContaining('Outcomes of one were recorded only in this')])
  await store.save(buildTimeout('b.example.com', '2'), 'next')
  expect(await two.log()).toHaveLength(2)
  two.sandbox.remove()
})
