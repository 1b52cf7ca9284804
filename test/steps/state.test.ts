import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import { openState } from '../../src/state/store/open-state.ts'
import { getRegister } from '../state/contender.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { checkWrites } from '../state/checked-disk.ts'
import { listSchemaErrors as schemaFaults } from '../report/output-schema.ts'
import { loseOutcomes } from '../stories/lost-outcomes.ts'
import { setFaults, fetchConfig, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const [a, b] = ['a.example.com', 'b.example.com']
setStage()
beforeEach(() => {
  place
    .manifest(a, { timeout: { time: '10' }, https: { cert_id: 1 } })
    .manifest(b, { timeout: { time: '20' } })
})

describe('state history', () => {
  itLong('is empty before the first apply, and after an apply without changes', async () => {
    expect(await place.cli('state', 'history')).toMatchObject({
      code: 0,
      out: 'There are no applies yet.\n',
    })
    await place.settle()
    await place.settle()
    expect((await place.json('state', 'history'))['applies']).toHaveLength(1)
  })

  itLong('lists every apply, latest first, with its outcome', async () => {
    place.groupAsDocumented()
    place.env['GITHUB_ACTOR'] = 'octavia'
    await place.settle()
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    place.manifest(a, { timeout: { time: '11' }, https: { cert_id: 2 } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    const history = await place.json('state', 'history')
    expect(schemaFaults('history', history)).toEqual([])
    expect(history['applies']).toMatchObject([
      {
        outcome: 'incomplete',
        author: 'octavia',
        writes: { refused: 1 },
        parts: { confirmed: 1, refused: 1, inDoubt: 0, notSent: 0 },
      },
      { outcome: 'complete', author: 'octavia', commit: null },
    ])
    const { out } = await place.cli('state', 'history')
    expect(out).toMatch(
      /^\S+ {2}refused {2}1 confirmed, 1 refused\n {2}2\S+Z · \d+ s · by octavia\n {2}refused: /,
    )
    expect(out).toMatch(
      / s · by octavia\n {2}refused: [^\n]+\n {2}[^\n]+\n\S+ {2}complete {2}\d confirmed\n/,
    )
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })

  itLong('like list and show prints times without milliseconds; JSON has them', async () => {
    await place.settle()
    const id = ((await place.json('state', 'history'))['applies'] as { id: string }[])[0]?.id ?? ''
    for (const args of [
      ['state', 'history'],
      ['state', 'list'],
      ['show', a, '--at', id],
    ]) {
      const { out } = await place.cli(...args)
      expect([args, out.match(/\d\d:\d\d:\d\d\S*/g)]).toEqual([
        args,
        expect.arrayContaining([expect.stringMatching(/^\d\d:\d\d:\d\dZ,?$/)]),
      ])
      expect([args, out]).toEqual([args, expect.not.stringMatching(/\d\.\d{3}Z/)])
      const json = await place.cli(...args, '--json')
      expect([args, json.out]).toEqual([args, expect.stringMatching(/\d\.\d{3}Z/)])
    }
  })

  it('lists a release without a write', async () => {
    await place.settle()
    place.manifest(a, { timeout: { time: '10' } })
    await place.settle()
    expect((await place.json('state', 'history'))['applies']).toMatchObject([
      { outcome: 'complete', writes: { confirmed: 0, refused: 0, inDoubt: 0, notSent: 0 } },
      { outcome: 'complete' },
    ])
  })
})

describe('show --at', () => {
  const ids = async () =>
    ((await place.json('state', 'history'))['applies'] as { id: string }[])
      .map(({ id }) => id)
      .toReversed()
  const itemsAt = async (apply: string) => {
    const shown = await place.json('show', a, '--at', apply)
    expect(schemaFaults('show', shown)).toEqual([])
    return Object.fromEntries(
      Object.entries(shown['items'] as Record<string, { candidates: unknown[] }>).map(
        ([item, { candidates }]) => [item, candidates[0]],
      ),
    )
  }

  itLong('shows the state after each apply: values, new items, released items', async () => {
    const start = { timeout: { time: '10' }, https: { cert_id: 1, force_https: 0 } }
    await place.settle()
    place.manifest(a, {
      timeout: { time: '11' },
      https: { cert_id: 1 },
      origin_host: { host: 'o.example.com' },
    })
    await place.settle()
    place.manifest(a, { timeout: { time: '12' } })
    await place.settle()
    const [first = '', second = '', third = ''] = await ids()
    expect(await itemsAt(first)).toEqual(start)
    expect(await itemsAt(second)).toEqual({
      ...start,
      timeout: { time: '11' },
      origin_host: { host: 'o.example.com' },
    })
    expect(await itemsAt(third)).toEqual({ timeout: { time: '12' } })
    const { out } = await place.cli('show', a, '--at', first)
    expect(out).toMatch(new RegExp(`^${a}\\n +recorded at the end of apply ${first}, \\d{4}-`))
    expect(out).toContain('cert_id')
  })

  itLong('names later imports as not known; forgotten and absent items are missing', async () => {
    await place.settle()
    const [first = ''] = await ids()
    place
      .manifest(a, { timeout: { time: '13' }, https: { cert_id: 1 } })
      .write('seen.json', JSON.stringify({ [a]: { timeout: { time: '13' } } }))
    expect((await place.cli('import', 'seen.json', '--replace')).code).toBe(0)
    place.manifest(a, { timeout: { time: '14' }, https: { cert_id: 1 } })
    await place.settle()
    const then = await place.cli('show', a, '--at', first)
    expect(then).toMatchObject({
      code: 0,
      err: expect.stringContaining('imported or observed later: timeout.') as string,
    })
    expect(Object.keys(await itemsAt(first))).toEqual(['https'])
    const [, second = ''] = await ids()
    expect(await itemsAt(second)).toMatchObject({ timeout: { time: '14' } })
    place.manifest('c.example.com', { timeout: { time: '30' } })
    await place.settle()
    expect(await place.cli('show', 'c.example.com', '--at', second)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `no state of "c.example.com" is recorded at the end of apply ${second}`,
      ) as string,
    })
    expect((await place.cli('state', 'forget', a, '--item', 'https', '--yes')).code).toBe(0)
    expect(await place.json('show', a, '--at', second)).toMatchObject({
      items: { timeout: { candidates: [{ time: '14' }] } },
    })
    expect(Object.keys(await itemsAt(second))).toEqual(['timeout'])
    expect(await place.cli('show', a, '--at', 'never')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no apply "never"') as string,
    })
  })
})

describe('a full disk', () => {
  const fullFrom = (step: number, folder: string): void => {
    let steps = 0
    place.disk = checkWrites((path) => {
      if (path.includes(folder) && ++steps >= step)
        throw new EdgewiseError('record-unreachable', `no space left for ${path}`)
    })
  }

  it('before the first write ends the apply with exit 1', async () => {
    fullFrom(1, '/batches/')
    expect(await place.cli('apply', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('error: no space left') as string,
    })
    expect(await fetchConfig(emulator, a)).toEqual({})
  })

  it('after a write ends the apply with exit 3; the next apply completes it', async () => {
    fullFrom(1, '/domains/')
    await loseOutcomes(place, /no space left/, () => {
      place.disk = realDisk
    })
  })
})

describe('state forget', () => {
  beforeEach(() => place.settle())

  itLong('removes domains from state, and the next plan writes them again', async () => {
    const before = (await fetchWrites(emulator)).length
    const { code, out } = await place.cli('state', 'forget', a.toUpperCase(), '--yes')
    expect({ code, out }).toEqual({ code: 0, out: `Forgot all of ${a}.\n` })
    expect(await fetchWrites(emulator)).toHaveLength(before)
    expect(
      ((await place.json('state', 'list'))['domains'] as { domain: string }[]).map(
        ({ domain }) => domain,
      ),
    ).toEqual([b])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
    await place.settle()
  })

  itLong('removes only named items', async () => {
    const forgotten = await place.json('state', 'forget', a, '--item', 'timeout', '--yes')
    expect(schemaFaults('forget', forgotten)).toEqual([])
    expect(forgotten).toEqual({ format: 'edgewise.forget/1', domains: 1, items: 1 })
    expect(Object.keys(await place.recorded(a))).toEqual(['https'])
  })

  it('asks, and forgets nothing without consent', async () => {
    const asked: string[] = []
    for (const answer of [false, true]) {
      place.ask = async (question) => {
        asked.push(question)
        return answer
      }
      expect((await place.cli('state', 'forget', b)).code).toBe(answer ? 0 : 1)
      expect(((await place.json('state', 'list'))['domains'] as object[]).length).toBe(
        answer ? 1 : 2,
      )
    }
    expect(asked[0]).toContain(`Forget all of ${b} (1 item)?`)
    place.ask = null
    expect(await place.cli('state', 'forget', a)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--yes') as string,
    })
  })

  it('names every domain that is not recorded', async () => {
    const { code, err } = await place.cli('state', 'forget', 'x.example.com', a, 'y.example.com')
    expect([code, err.replace(/\s+/g, ' ')]).toEqual([
      1,
      expect.stringContaining('no state is recorded for "x.example.com", "y.example.com"'),
    ])
  })

  it('of an unrecorded domain is an error, and forgets nothing', async () => {
    for (const words of [
      [a, 'nobody.example.com'],
      [a, b, '--item', 'https'],
    ]) {
      const { code, err } = await place.cli('state', 'forget', ...words, '--yes')
      expect(code).toBe(1)
      expect(err).toMatch(
        /no state is recorded for "nobody|the item "https" of b\S+ is not recorded/,
      )
    }
    expect(((await place.json('state', 'list'))['domains'] as object[]).length).toBe(2)
    expect(await fetchConfig(emulator, a)).toMatchObject({ timeout: { time: '10' } })
  })
})

describe('state unlock', () => {
  const lock = async () => {
    const state = { store: 'dir' as const, path: '.edgewise/state', branch: '', remote: '' }
    const there = {
      root: place.root,
      id: 'default',
      address: emulator.url,
      account: 'default',
      state,
    }
    return getRegister(
      await openState(there, {
        disk: realDisk,
        processName: 'other',
        openGit: () => Promise.resolve(null),
      }),
    )
  }

  it('shows the lock holder, asks, and removes the lock', async () => {
    expect(await place.cli('state', 'unlock')).toMatchObject({
      code: 0,
      out: 'There is no lock.\n',
    })
    await (
      await lock()
    ).compareAndSwap(
      null,
      JSON.stringify({
        token: 'x',
        who: 'ann\u001b[2J@host',
        reason: 'apply',
        since: '2026-11-20',
        pid: 7,
      }),
    )
    const asked = await place.cli('state', 'unlock')
    expect(asked).toMatchObject({
      code: 1,
      out: expect.stringContaining(
        'Locked by ann\\u{1b}[2J@host (process 7, since 2026-11-20, apply).',
      ) as string,
    })
    expect(asked.err).toContain('--yes')
    expect((await place.cli('apply', '--yes')).err).toContain('the state is locked by ann')
    place.ask = () => Promise.resolve(true)
    expect(await place.cli('state', 'unlock')).toMatchObject({
      code: 0,
      out: expect.stringContaining('The lock was removed.') as string,
    })
    await place.settle()
  })

  const hold = async (more: object) =>
    (await lock()).compareAndSwap(
      null,
      JSON.stringify({
        token: 'x',
        who: 'ann@host',
        reason: 'apply',
        since: '2026-11-20',
        boot: 'boot',
        namespace: 'namespace',
        pid: 7,
        ...more,
      }),
    )

  it('refuses while the process runs on this machine, unless forced', async () => {
    await hold({})
    expect(await place.cli('state', 'unlock', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /ann@host \(process 7, since 2026-11-20, apply\)[\s\S]*kill 7[\s\S]*--force/,
      ) as string,
    })
    expect((await place.cli('apply', '--yes')).err).toContain('the state is locked by ann')
    place.write('live.json', JSON.stringify({ 'new.example.com': { timeout: { time: 60 } } }))
    expect(await place.cli('import', 'live.json', '--write-manifests')).toMatchObject({
      err: expect.stringMatching(/^error: the state is locked by ann/) as string,
    })
    expect(existsSync(join(place.root, 'domains/new.example.com.yaml'))).toBe(false)
    expect(await place.cli('state', 'unlock', '--force', '--yes')).toMatchObject({ code: 0 })
  })

  it('names the way to continue a stopped process', async () => {
    await hold({})
    place.otherProcessesStopped = true
    for (const args of [
      ['state', 'unlock', '--yes'],
      ['apply', '--yes'],
    ]) {
      const { code, err } = await place.cli(...args)
      expect([args, code, err]).toEqual([args, 1, expect.stringContaining('"kill -CONT 7"')])
      expect(err).not.toContain('Wait')
    }
  })

  it('of a process that may run makes the next command wait, once', async () => {
    await hold({ format: 'edgewise.lock/1', lateMs: 12_000, revoked: [] })
    await place.cli('state', 'unlock', '--force', '--yes')
    const waits: number[] = []
    place.onSleep = async (ms) => void waits.push(ms)
    const first = await place.cli('apply', '--yes')
    expect(first.code).toBe(0)
    expect(first.err).toMatch(/The lock of ann@host .* waiting 30 s, until 20\S+Z/s)
    expect(waits).toContain(30_000)
    waits.length = 0
    expect((await place.cli('apply', '--yes')).err).not.toContain('waiting')
    expect(waits).toEqual([])
  })

  it('of a process that has ended makes nobody wait', async () => {
    await hold({})
    place.otherProcessesDead = true
    expect(await place.cli('state', 'unlock', '--yes')).toMatchObject({ code: 0 })
    expect((await place.cli('apply', '--yes')).err).not.toContain('waiting')
  })

  it('removes an unreadable lock', async () => {
    await (await lock()).compareAndSwap(null, '{"token": "x", "wh')
    expect((await place.cli('apply', '--yes')).err).toContain('an unknown user')
    expect(await place.cli('state', 'unlock', '--yes')).toMatchObject({ code: 0 })
    await place.settle()
  })

  itLong('stops a running lock holder at its next record; open calls are in-doubt', async () => {
    const domains = Array.from({ length: 12 }, (_, i) => `d${i}.example.com`)
    for (const [i, domain] of domains.entries())
      place.manifest(domain, { timeout: { time: String(30 + i) } })
    await setFaults(emulator, { kind: 'delay', ms: 100 })
    const unlocked: Promise<unknown>[] = []
    place.onStderr = (text) => {
      if (text.includes('confirmed') && unlocked.length === 0)
        unlocked.push(place.cli('state', 'unlock', '--force', '--yes'))
    }
    const { code, out } = await place.cli('apply', '--yes')
    place.onStderr = null
    expect(await Promise.all(unlocked)).toMatchObject([{ code: 0 }])
    expect({ code, out }).toMatchObject({
      code: 3,
      out: expect.stringContaining('not sent') as string,
    })
    const planned = Number(/ (\d+) writes/.exec(out)?.[1])
    expect((await fetchWrites(emulator)).length).toBeLessThan(planned)
    await setFaults(emulator)
    await place.settle()
    for (const [i, domain] of domains.entries())
      expect(await fetchConfig(emulator, domain)).toEqual({ timeout: { time: String(30 + i) } })
  })
})
