import { join } from 'node:path'
import { globSync } from 'tinyglobby'
import { describe, expect, it } from 'vitest'
import { moved, now, old, rename } from '../stories/renamed-domain.ts'
import { SharedState } from '../stories/shared-state.ts'
import { fetchConfig, fetchWrites, Place, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()

/** Lists the state files of a domain. */
const listFiles = (domain: string) =>
  globSync(`.edgewise/state/**/domains/**/${domain}.json`, { cwd: place.root, dot: true })

describe('a renamed domain', () => {
  itLong('is locked with its old name where only the new one is selected', async () => {
    const shared = await SharedState.make('postgres')
    try {
      const own = shared.create(emulator.url)
      await own.manifest(old, { timeout: { time: 60 } }).settle()
      own.manifest('www.example.com', { timeout: { time: 60 } })
      rename(own, { timeout: { time: 61 } })
      expect((await own.cli('apply', '--yes', '--target', now)).code).toBe(0)
      expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '61' } })
      const { domains } = await own.json('state', 'list')
      expect(domains).toMatchObject([{ domain: now }])
      await own.settle()
    } finally {
      await shared.remove()
    }
  })

  it('keeps its state where another domain is selected', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    rename(place)
    place.manifest('www.example.com', { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes', '--target', 'www.*')).code).toBe(0)
    const plan = await place.json('plan')
    expect(plan).toMatchObject({ changes: [], summary: { unchanged: 2 } })
  })

  itLong('is moved by the next apply after an interrupted move', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    const [file = ''] = listFiles(old)
    const text = place.read(file)
    rename(place)
    await place.settle()
    expect(listFiles(old)).toEqual([])
    place.write(file, text)
    await place.settle()
    expect(listFiles(old)).toEqual([])
    expect((await place.json('state', 'history', now))['applies']).toHaveLength(1)
  })

  it('changes only what the manifest changes', async () => {
    await place.manifest(old, { timeout: { time: 60 }, https: { cert_id: 1 } }).settle()
    rename(place, { timeout: { time: 61 } })
    const { changes } = await place.json('plan')
    expect(changes).toMatchObject([
      { domain: now, item: 'https', action: 'release' },
      { domain: now, item: 'timeout', action: 'change', before: { time: '60' } },
    ])
    await place.settle()
    expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '61' } })
  })

  itLong('is applied by a saved plan, and in waves', async () => {
    const third = 'third.example.com'
    place.manifest(old, { timeout: { time: 60 } }).manifest(third, { timeout: { time: 60 } })
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}rollout: {waves: [1, 100%]}\n`)
    await place.settle()
    rename(place, { timeout: { time: 61 } })
    place.manifest(third, { timeout: { time: 61 } })
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '61' } })
    expect((await place.json('state', 'list'))['domains']).toMatchObject([
      { domain: now },
      { domain: third },
    ])
    const [rollout = ''] = (
      (await place.json('state', 'history', now))['applies'] as {
        id: string
      }[]
    ).map(({ id }) => id.replace(/-w\d+$/, ''))
    expect((await place.cli('rollback', rollout, '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '60' } })
  })

  it('releases its items if its manifest has none', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    rename(place, {})
    expect((await place.json('plan'))['changes']).toMatchObject([
      { domain: now, action: 'release' },
    ])
    await place.settle()
  })

  itLong('stays in-doubt, and is written again as a whole', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await place.manifest(old, { timeout: { time: 61 } }).cli('apply', '--yes')).code).toBe(
      3,
    )
    await setFaults(emulator)
    rename(place, { timeout: { time: 61 } })
    expect((await place.json('plan'))['changes']).toMatchObject([
      { domain: now, item: 'timeout', reason: 'in-doubt' },
    ])
    await place.settle()
  })

  itLong('is rolled back under its new name', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    await place.manifest(old, { timeout: { time: 61 } }).settle()
    rename(place, { timeout: { time: 61 } })
    await place.settle()
    const before = await fetchWrites(emulator)
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    const [write, ...others] = (await fetchWrites(emulator)).slice(before.length)
    expect([write?.domains, others]).toEqual([[now], []])
    expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '60' } })
    // The rollback put the later value on hold.
    expect((await place.cli('plan')).out).toContain('1 change on hold.')
  })

  itLong('keeps its values on hold', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    await place.manifest(old, { timeout: { time: 61 } }).settle()
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    rename(place, { timeout: { time: 61 } })
    for (const when of ['before', 'after']) {
      expect([when, (await place.json('plan'))['summary']]).toMatchObject([when, { held: 1 }])
      expect((await place.cli('apply', '--yes')).code).toBe(0)
    }
    expect(await fetchConfig(emulator, now)).toEqual({})
    expect((await place.cli('apply', '--yes', '--retry-held')).code).toBe(0)
    expect(await fetchConfig(emulator, now)).toEqual({ timeout: { time: '61' } })
  })

  itLong('is refused while a rollout of it is unfinished', async () => {
    await place.manifest(old, { timeout: { time: 60 } }).settle()
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}rollout: {approval: [1]}\n`)
    await place.manifest(old, { timeout: { time: 61 } }).cli('apply', '--yes')
    rename(place)
    for (const args of [['plan'], ['apply', '--yes']])
      expect([args, await place.cli(...args)]).toMatchObject([
        args,
        { code: 1, err: expect.stringContaining('edgewise rollout abort') },
      ])
    const [rollout] = place.loadRollouts()
    expect((await place.cli('rollout', 'abort', rollout?.id ?? '', '--yes')).code).toBe(0)
    await place.settle()
  })
})

describe('a move is refused', () => {
  const text = (moves: string) => `version: 1\nservice: {url: emulator}\nmoved: ${moves}\n`
  it.each([
    ['[{from: a.example.com, to: b.example.com}]', 'a manifest declares "a.example.com"'],
    ['[{from: c.example.com, to: d.example.com}]', 'no manifest declares "d.example.com"'],
    ['[{from: "*.example.com", to: a.example.com}]', 'expected the name of one domain'],
    ['[{from: x.example.com, to: "!a.example.com"}]', 'expected the name of one domain'],
    ['[{from: x.example.com, to: x.example.com}]', 'moved on by another entry'],
    [
      '[{from: x.example.com, to: y.example.com}, {from: y.example.com, to: a.example.com}]',
      'moved on by another entry',
    ],
    [
      '[{from: x.example.com, to: y.example.com}, {from: y.example.com, to: x.example.com}]',
      'moved on by another entry',
    ],
    [
      '[{from: x.example.com, to: a.example.com}, {from: X.example.com, to: b.example.com}]',
      '"x.example.com" is listed twice',
    ],
    [
      '[{from: x.example.com, to: a.example.com}, {from: y.example.com, to: A.example.com}]',
      '"a.example.com" is listed twice',
    ],
    ['[{from: x.example.com}]', 'to'],
  ])('%s', async (moves, detail) => {
    place.manifest('a.example.com', {}).manifest('b.example.com', {})
    place.write('edgewise.yaml', text(moves))
    for (const args of [['validate'], ['plan'], ['apply', '--yes']]) {
      const { code, out, err } = await place.cli(...args)
      expect([args, code]).toEqual([args, 1])
      expect(`${out}${err}`.replace(/\s+/g, ' ')).toContain(detail)
    }
    const { diagnostics } = await place.json('validate')
    for (const each of diagnostics as object[])
      expect(each).toMatchObject({ file: 'edgewise.yaml', line: 3 })
  })

  itLong('if both names have state, until one of the two is forgotten', async () => {
    await place
      .manifest(old, { timeout: { time: 60 } })
      .manifest(now, {})
      .settle()
    await place.manifest(now, { timeout: { time: 60 } }).settle()
    rename(place)
    for (const args of [['plan'], ['apply', '--yes']])
      expect([args, await place.cli(...args)]).toMatchObject([
        args,
        { code: 1, err: expect.stringContaining(`edgewise state forget ${now}`) },
      ])
    expect((await place.cli('state', 'forget', now, '--yes')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    await place.settle()
  })

  itLong('if the new name belongs to another workspace', async () => {
    const other = new Place(emulator.url, 'id: other\n', {
      state: `state: {store: dir, path: ${join(place.root, '.edgewise/state')}}`,
    })
    try {
      await place.manifest(old, { timeout: { time: 60 } }).settle()
      await other.manifest(now, { timeout: { time: 60 } }).settle()
      rename(place)
      const { code, err } = await place.cli('apply', '--yes')
      expect([code, err]).toEqual([1, expect.stringContaining('belongs to the workspace "other"')])
      expect((await place.cli('state', 'list')).out).toContain(old)
    } finally {
      other.remove()
    }
  })
})

it('an entry for domains without state changes nothing', async () => {
  place.write('edgewise.yaml', place.read('edgewise.yaml') + moved)
  await place.manifest(now, { timeout: { time: 60 } }).settle()
  expect((await place.json('plan'))['changes']).toEqual([])
})
