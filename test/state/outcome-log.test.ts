// @module-tag often
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it, vi } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { buildApplied, buildTimeout, begin, complete } from './store-contract.ts'
import { branch, Two } from './two-clones.ts'

const a = 'a.example.com'
const intent = buildTimeout(a, '1')
const outcome = (value: string) => buildTimeout(a, value, { apply: 'one', status: 'confirmed' })

describe('outcomes that no commit has yet', () => {
  let template: Two
  let two: Two
  beforeAll(async () => {
    template = await Two.make()
    await (await template.open('clone')).save(intent, 'first')
  })
  beforeEach(() => {
    two = template.copy()
  })
  afterEach(() => two.sandbox.remove())
  afterAll(() => template.sandbox.remove())

  const folder = () => join(two.sandbox.folder, 'clone/.git/edgewise/outcomes/default')
  const listFiles = () =>
    readdirSync(folder(), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.jsonl?$/.test(name))
      .toSorted()
  const readLines = (name: string) =>
    readFileSync(join(folder(), name), 'utf8').trimEnd().split('\n')
  const countCommits = async () =>
    Number(await two.sandbox.git('clone', 'rev-list', '--count', branch))
  /** Begins an apply and records these outcomes of it. */
  const record = async (...values: string[]) => {
    const store = await two.open('clone')
    await begin(store, 'one', intent)
    for (const [i, value] of values.entries())
      await store.recordOutcomes(buildApplied('one'), [i + 1], outcome(value))
    return store
  }
  const load = async (where = 'clone') =>
    (await (await two.open(where)).load()).get(a)?.get('timeout')

  it('are in a file of the clone, which the next process there has', async () => {
    await record()
    const before = await countCommits()
    const store = await two.open('clone')
    await begin(store, 'two', intent)
    const commits = await countCommits()
    expect(commits).toBe(before + 1)
    await store.recordOutcomes(buildApplied('two'), [1], outcome('2'))
    await store.recordOutcomes(buildApplied('two'), [2], outcome('3'))
    expect(await countCommits()).toBe(commits)
    expect(listFiles().map((name) => readLines(name).length)).toEqual([2])
    expect(await load()).toMatchObject({ status: 'confirmed', candidates: [{ time: '3' }] })
  })

  it('are in one commit with all subjects once they are shared', async () => {
    const store = await record('2', '3', '4')
    const before = await countCommits()
    await store.share?.()
    expect(await countCommits()).toBe(before + 1)
    expect(listFiles()).toEqual([])
    expect(
      (await two.sandbox.git('clone', 'log', '-1', '--format=%B', branch)).split('\n'),
    ).toEqual(
      expect.arrayContaining([
        'Apply one: outcome of write 1, and 2 more',
        'Apply one: outcome of write 2',
        'Apply one: outcome of write 3',
      ]),
    )
    expect(await load('other')).toMatchObject({ candidates: [{ time: '4' }] })
  })

  it('are shared by the next process of a clone whose process was killed', async () => {
    await record('2', '3')
    const next = await two.open('clone')
    expect(await next.listUnshared()).toEqual(['one'])
    await next.share?.()
    expect(listFiles()).toEqual([])
    expect(await load('other')).toMatchObject({ candidates: [{ time: '3' }] })
  })

  it('are committed with the end of an apply in a repository without a remote', async () => {
    await two.sandbox.git('clone', 'remote', 'remove', 'origin')
    const store = await record('2')
    await complete(store, 'one')
    expect(listFiles()).toEqual([])
    expect(await load()).toMatchObject({ candidates: [{ time: '2' }] })
  })

  it('do not count once a commit has them, or another process has written since', async () => {
    const store = await record('2', '3')
    const kept = listFiles().map((name) => [name, readFileSync(join(folder(), name))] as const)
    await store.share?.()
    await store.save(outcome('4'), 'later')
    // The files are back after a power failure.
    for (const [name, bytes] of kept) writeFileSync(join(folder(), name), bytes)
    expect(await load()).toMatchObject({ candidates: [{ time: '4' }] })
    await (await two.open('clone')).save(outcome('5'), 'last')
    expect(listFiles()).toEqual([])
  })

  it('are named as dropped if another machine has written since', async () => {
    await record('2')
    await (await two.open('other')).save(outcome('7'), 'theirs')
    const next = await two.open('clone')
    expect(await next.load()).toEqual(outcome('7'))
    expect(await next.shareEarlier()).toEqual(['one'])
    expect(listFiles()).toEqual([])
  })

  it('count up to one that is cut off', async () => {
    await record('2', '3')
    const [file = ''] = listFiles()
    const [first = '', second = ''] = readLines(file)
    writeFileSync(join(folder(), file), `${first}\n${second.slice(0, 40)}`)
    const next = await two.open('clone')
    expect(await next.load()).toEqual(outcome('2'))
    await next.recordOutcomes(buildApplied('one'), [2], outcome('7'))
    expect(listFiles()).toHaveLength(2)
    expect(await load()).toMatchObject({ candidates: [{ time: '7' }] })
    await begin(next, 'two', intent)
    await next.recordOutcomes(buildApplied('two'), [1], outcome('8'))
    expect(await load()).toMatchObject({ candidates: [{ time: '8' }] })
  })

  it('count after one that could not be recorded', async () => {
    const store = await record('2')
    const failing = vi.spyOn(realDisk, 'append').mockImplementationOnce(async (path, text) => {
      appendFileSync(path, text.slice(0, 40))
      throw new EdgewiseError('record-unreachable', 'the disk is full')
    })
    await expect(
      store.recordOutcomes(buildApplied('one'), [2], outcome('3')),
    ).rejects.toMatchObject({ code: 'record-unreachable' })
    failing.mockRestore()
    await store.recordOutcomes(buildApplied('one'), [3], outcome('4'))
    expect(await load()).toMatchObject({ candidates: [{ time: '4' }] })
  })

  it.each([
    ['of a newer version', (text: string) => text.replace('outcomes/1', 'outcomes/9'), 'newer'],
    [
      'with a path elsewhere',
      (text: string) => text.replace('default/', 'other/'),
      'is no path of a file of',
    ],
  ])('%s are refused with their file', async (_kind, damage, message) => {
    await record('2')
    const [first = ''] = listFiles()
    const path = join(folder(), first)
    writeFileSync(path, damage(readFileSync(path, 'utf8')))
    await expect(two.open('clone')).rejects.toMatchObject({
      code: 'record-damaged',
      message: expect.stringMatching(new RegExp(`${first}.*${message}`, 's')) as string,
    })
  })
})
