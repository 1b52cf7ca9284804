import { beforeEach, describe, expect, it } from 'vitest'
import type { Rollout } from '../../src/core/model/rollout.ts'
import { Place, fetchWrites } from './cli.ts'
import { lockElsewhere } from './lock-elsewhere.ts'
import { emulator, enterPlace, place, setStageInTime, time } from './stage.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { itLong } from '../runs.ts'

const minute = 60_000

setStageInTime()
beforeEach(() => fleet())

const name = (i: number) => `d${i}.example.com`

/** Creates six domains whose changes are rolled out in three waves. */
function fleet(more = ''): void {
  enterPlace(new Place(emulator.url, `rollout: {waves: [1, 3, 100%], pause: 10m}\n${more}`))
  for (let i = 0; i < 6; i++) place.manifest(name(i), { timeout: { time: 60 } })
}

/** Applies, and is interrupted in the n-th pause. */
async function interrupted(n: number, ...more: string[]): Promise<void> {
  const stop = new AbortController()
  place.signal = stop.signal
  let pauses = 0
  time.onSleep = async (_ms, wait) => {
    if (wait === 'rollout' && ++pauses === n) stop.abort()
  }
  expect((await place.cli('apply', '--yes', ...more)).code).toBe(3)
  place.signal = new AbortController().signal
  delete time.onSleep
}

async function sent(): Promise<string[][]> {
  return (await fetchWrites(emulator)).map(({ domains }) => domains)
}

describe('an open rollout', () => {
  itLong('is not touched by an apply of other domains without a change', async () => {
    place.manifest('other.example.com', { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes', '--no-waves', '--target', 'other.*')).code).toBe(0)
    await interrupted(1, '--target', 'd*')
    const [before] = place.loadRollouts()
    expect((await place.cli('apply', '--yes', '--target', 'other.*')).code).toBe(0)
    expect(place.loadRollouts()).toEqual([before])
  })

  itLong('is not sent in part before its turn', async () => {
    await interrupted(1)
    const last = place.loadRollouts()[0]?.waves[2]?.domains[0] ?? ''
    const { code, err } = await place.cli('apply', '--yes', '--target', last)
    expect([code, err]).toEqual([1, expect.stringContaining('and the plan touches its domains')])
    expect((await place.cli('apply', '--yes', '--item', 'timeout')).code).toBe(1)
    expect((await place.cli('plan', '--target', last)).err).toContain('apply will refuse this plan')
    expect(await sent()).toHaveLength(1)
  })

  itLong('sends changes of a finished wave again with the next wave', async () => {
    await interrupted(2)
    const first = place.loadRollouts()[0]?.waves[0]?.domains[0] ?? ''
    expect((await place.cli('state', 'forget', first, '--yes')).code).toBe(0)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect((await sent()).flat().filter((domain) => domain === first)).toHaveLength(2)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect(place.loadRollouts()).toEqual([])
  })

  itLong('sends later changes of a released domain with the next wave', async () => {
    place.manifest(name(0), { timeout: { time: 60 }, origin: { default_master: '192.0.2.10' } })
    expect((await place.cli('apply', '--yes', '--no-waves', '--target', name(0))).code).toBe(0)
    place.manifest(name(0), { timeout: { time: 60 } })
    await interrupted(2)
    expect(place.loadRollouts()).toMatchObject([{ released: [name(0)] }])
    expect((await place.cli('state', 'forget', name(0), '--yes')).code).toBe(0)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect(place.loadRollouts()).toEqual([])
  })

  itLong('does not wait for a wave with nothing left to do', async () => {
    await interrupted(1)
    const left =
      place
        .loadRollouts()[0]
        ?.waves.slice(1)
        .flatMap(({ domains }) => domains) ?? []
    place.write(
      'seen.json',
      JSON.stringify(Object.fromEntries(left.map((domain) => [domain, { timeout: { time: 60 } }]))),
    )
    expect((await place.cli('import', 'seen.json')).code).toBe(0)
    const start = time.now
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, place.loadRollouts(), Math.round((time.now - start) / minute)]).toEqual([
      0,
      [],
      0,
    ])
    expect(err).not.toContain('NaN')
  })

  it('has items that wait for their wave, which are no drift', async () => {
    const other = 'other.example.com'
    place.manifest(other, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes', '--no-waves', '--target', other)).code).toBe(0)
    await interrupted(1, '--target', 'd*')
    const { code, out } = await place.cli('drift')
    expect([code, out]).toEqual([0, expect.stringContaining('No differences were found.')])
    expect(out).toContain('5 items wait for a later wave: no drift.')
    const { items, summary } = await place.json('drift')
    expect(summary).toMatchObject({ pending: 0, waiting: 5 })
    expect(listSchemaErrors('drift', await place.json('drift'))).toEqual([])
    const kinds = (items as { kinds: string[] }[]).flatMap((each) => each.kinds)
    expect(kinds).toEqual(Array.from({ length: 5 }, () => 'waiting'))

    // Another value than that of the rollout, and a value that a sent wave has lost, are.
    const { waves = [] } = place.loadRollouts()[0] ?? {}
    const [sentName = '', waitingName = ''] = waves.flatMap(({ domains }) => domains)
    expect((await place.cli('state', 'forget', sentName, '--yes')).code).toBe(0)
    place.manifest(waitingName, { timeout: { time: 61 } })
    place.manifest(other, { timeout: { time: 61 } })
    const later = await place.cli('drift')
    expect([later.code, later.out]).toEqual([2, expect.stringContaining('Drift: 3 pending.')])
    expect(later.out).toContain('4 items wait for a later wave')
    const pending = /Pending:[^]*?(?=\nWaiting)/.exec(later.out)?.[0]
    expect(pending).toMatch(new RegExp(`${sentName}|${waitingName}`))
    expect(pending).toContain(other)
    for (const domain of waves.flatMap(({ domains }) => domains).slice(2))
      expect(pending).not.toContain(domain)
  })

  itLong('is resumed by drift --repair --include-pending', async () => {
    await interrupted(2)
    const { code, err } = await place.cli('drift', '--repair', '--yes', '--include-pending')
    expect([code, err]).toEqual([0, expect.stringContaining('this plan resumes rollout')])
  })

  itLong('stays open when a freeze begins before its next wave', async () => {
    const freeze =
      '{from: "2026-11-20T12:05", to: "2026-11-20T18:00", timezone: UTC, reason: launch}'
    time.now = Date.UTC(2026, 10, 20, 12)
    fleet(`guards: {freeze: [${freeze}]}\n`)
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/Stopped: freeze: .*launch.*wave 2 of 3/s),
    ])
    expect(out).toContain('not sent')
    expect(place.loadRollouts()).toMatchObject([{ state: 'open' }])
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    time.now = Date.UTC(2026, 10, 20, 19)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect((await sent()).map(({ length }) => length)).toEqual([1, 2, 3])
  })

  itLong('is resumed in a freeze that is overridden, through its later waves', async () => {
    const freeze = '{from: "2026-11-20T12:05", to: "2026-11-20T18:00", timezone: UTC}'
    time.now = Date.UTC(2026, 10, 20, 12)
    fleet(`guards: {freeze: [${freeze}]}\n`)
    const override = ['--override', 'freeze', '--reason', 'the shop is down']
    expect((await place.cli('apply', '--yes', ...override)).code).toBe(3)
    expect(await place.json('state', 'history')).not.toHaveProperty('applies.0.overrides')
    expect((await place.cli('apply', '--yes', ...override)).code).toBe(0)
    expect((await sent()).map(({ length }) => length)).toEqual([1, 2, 3])
    expect(time.now).toBeLessThan(Date.UTC(2026, 10, 20, 18))
    const overrides = [{ policy: 'freeze', reason: 'the shop is down' }]
    const { applies } = (await place.json('state', 'history')) as { applies: object[] }
    expect(applies.filter((each) => 'overrides' in each)).toMatchObject([
      { overrides },
      { overrides },
    ])
  })
})

it('is left immediately by an apply interrupted while another process has the lock', async () => {
  const stop = new AbortController()
  place.signal = stop.signal
  time.onSleep = async (_ms, wait) => {
    if (wait !== 'rollout') return
    await lockElsewhere()
    stop.abort()
  }
  const { code, out } = await place.cli('apply', '--yes')
  expect([code, out]).toEqual([3, expect.stringContaining('resumes the rollout')])
})

describe('an impossible rollout file', () => {
  it.each<[string, (rollout: Rollout) => object]>([
    ['a domain in two waves', (rollout) => ({ waves: [...rollout.waves, rollout.waves[0]] })],
    [
      'a domain of somebody else',
      ({ waves }) => ({
        waves: [
          { ...waves[0], domains: [...(waves[0]?.domains ?? []), 'x.example.net'] },
          ...waves.slice(1),
        ],
      }),
    ],
    ['a domain in no wave', ({ waves }) => ({ waves: waves.slice(0, 2) })],
    [
      'a domain in a wave that is released only',
      ({ desiredHashes: asked }) => ({ released: Object.keys(asked).slice(0, 1) }),
    ],
    ['an on-hold domain of another rollout', () => ({ held: ['x.example.net'] })],
    [
      'a domain named like a prototype',
      ({ waves }) => ({ waves: [{ ...waves[0], domains: ['__proto__'] }, ...waves.slice(1)] }),
    ],
    ['an id that leads elsewhere', () => ({ id: '../../journal/x' })],
    ['no items', () => ({ items: null })],
  ])('with %s is refused, and nothing is sent', async (_name, change) => {
    await interrupted(1)
    const [file = ''] = place.findRolloutFiles()
    const [rollout] = place.loadRollouts()
    if (rollout === undefined) throw new Error('expected a rollout')
    place.write(file, JSON.stringify({ ...rollout, ...change(rollout) }))
    for (const words of [['apply', '--yes'], ['plan'], ['drift']]) {
      const { code, err } = await place.cli(...words)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/the state file .*\/rollouts\/.* can't be used: /),
      ])
    }
    expect(await sent()).toHaveLength(1)
  })
})
