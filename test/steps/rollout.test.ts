import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { setFaults, Place, fetchWrites } from './cli.ts'
import { loadEntries } from './load-chain.ts'
import { emulator, enterPlace, runInPause, place, setStageInTime, time } from './stage.ts'
import { itLong } from '../runs.ts'

const minute = 60_000

setStageInTime()
beforeEach(() => {
  enterPlace(inWaves())
  fleet(20, 60)
})

const name = (i: number) => `d${String(i).padStart(2, '0')}.example.com`

/** Creates a second command line in the same workspace. */
function inWaves(root = ''): Place {
  const made = new Place(emulator.url, 'rollout: {waves: [1, 25%, 100%], pause: 10m}\n', { root })
  made.time = time
  return made
}

function fleet(domains: number, seconds: number): void {
  for (let i = 0; i < domains; i++) place.manifest(name(i), { timeout: { time: seconds } })
}

/** Lists the number of domains of each write, and the minutes between writes. */
async function sent(): Promise<[number, number][]> {
  const calls = await fetchWrites(emulator)
  return calls.map((call, i) => [
    call.domains.length,
    Math.round((call.time - (calls[i - 1]?.time ?? call.time)) / minute),
  ])
}

/** Interrupts the next apply at its first wait between waves. */
function interruptOnce(): void {
  const stop = new AbortController()
  place.signal = stop.signal
  runInPause(async () => stop.abort())
}

describe('a plan in waves', () => {
  itLong(
    'has the kinds of change that each wave is the first to try, with -v and in JSON',
    async () => {
      place.groupAsDocumented()
      place.manifest(name(7), { timeout: { time: 60 }, https: { cert_id: 1 } })
      place.manifest(name(9), { origin: { default_master: '192.0.2.9' } })
      const note = 'wave 1 is the first to set https; set timeout\n'
      expect((await place.cli('plan', '-v')).out).toContain(note)
      const { out, err } = await place.cli('plan', '--report', 'plan.md')
      expect(out + err + place.read('plan.md')).not.toContain('is the first to')
      const plan = await place.json('plan')
      expect(plan['waves']).toEqual([
        { wave: 1, domains: 1, writes: 2, kinds: ['set https', 'set timeout'] },
        { wave: 2, domains: 4, writes: 2, kinds: ['set origin'] },
        { wave: 3, domains: 15, writes: 2, kinds: [] },
      ])
      expect(listSchemaErrors('plan', plan)).toEqual([])
    },
  )

  itLong('is applied wave by wave with a pause between, and is removed at the end', async () => {
    const plan = await place.json('plan')
    expect(
      (plan['writes'] as { wave: number; domains: string[] }[]).map(({ wave, domains }) => [
        wave,
        domains.length,
      ]),
    ).toEqual([
      [1, 1],
      [2, 4],
      [3, 10],
      [3, 5],
    ])
    const text = await place.cli('plan')
    expect(text.out).toContain('Wave 1: 1 domain')
    const waves = 'the 3 waves take 4 writes; without waves it would be 2'
    expect((await place.cli('plan', '-v')).out).toContain(waves)
    expect(text.out + text.err).not.toMatch(/the 3 waves|is the first to/)
    const { code, out, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('waiting    wave 1/3 (1 domain) until 2026-11-20T'),
    ])
    expect(out).toContain('Applied; writes: 4 confirmed.')
    expect(await sent()).toEqual([
      [1, 0],
      [4, 10],
      [10, 10],
      [5, 0],
    ])
    expect(place.loadRollouts()).toEqual([])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    const { applies } = (await place.json('state', 'history')) as {
      applies: { id: string; outcome: string }[]
    }
    expect(applies.map(({ id, outcome }) => [id.replace(/^.*-/, ''), outcome])).toEqual([
      ['w3', 'complete'],
      ['w2', 'complete'],
      ['w1', 'complete'],
    ])
  })

  itLong('is one apply in events and history', async () => {
    const { out } = await place.cli('apply', '--yes', '--json')
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(
      events.map(({ type }) => type).filter((type) => !/^write\.(started|waiting)$/.test(type)),
    ).toEqual([
      'apply.started',
      'write.confirmed',
      'wave.finished',
      'wave.waiting',
      'write.confirmed',
      'wave.finished',
      'wave.waiting',
      'write.confirmed',
      'write.confirmed',
      'wave.finished',
      'apply.finished',
    ])
    expect(events[0]).toMatchObject({ writes: 4, waves: 3 })
    expect(events.at(-1)).toMatchObject({ confirmed: 4, stopped: null })
  })

  itLong('allows other applies between its waves', async () => {
    const other = inWaves(place.root)
    place.manifest('other.example.com', { timeout: { time: 60 } })
    const codes: number[] = []
    runInPause(
      async () => void codes.push((await other.cli('apply', '--yes', '--target', 'other.*')).code),
    )
    expect((await place.cli('apply', '--yes', '--target', 'd*')).code).toBe(0)
    expect(codes).toEqual([0])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is sent at once with --no-waves', async () => {
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect(await sent()).toEqual([
      [10, 0],
      [10, 0],
    ])
  })

  itLong(
    'ends after an incomplete wave; the next apply starts a new rollout of the rest',
    async () => {
      await setFaults(emulator, { kind: 'refuse', item: 'timeout', on: [2] })
      const { code, out } = await place.cli('apply', '--yes')
      expect([code, out]).toEqual([3, expect.stringContaining('Not everything was applied')])
      expect(place.loadRollouts()).toEqual([])
      const plan = await place.json('plan')
      expect(
        (plan['writes'] as { wave: number; domains: string[] }[]).map(({ wave, domains }) => [
          wave,
          domains.length,
        ]),
      ).toEqual([
        [1, 1],
        [2, 3],
        [3, 10],
        [3, 1],
      ])
    },
  )
})

describe('an interrupted rollout', () => {
  itLong('stays open, and resumes with the same waves', async () => {
    const before = (await place.json('plan'))['writes'] as { wave: number; domains: string[] }[]
    interruptOnce()
    const { out } = await place.cli('apply', '--yes')
    expect(out).toContain(
      'Interrupted: 1 of 4 writes confirmed, 3 never sent; "edgewise apply" resumes the rollout.',
    )
    expect(place.loadRollouts()).toMatchObject([
      { state: 'open', waves: [{ passed: false }, { passed: false }, { passed: false }] },
    ])
    place.signal = new AbortController().signal
    const left = (await place.json('plan'))['writes'] as { wave: number; domains: string[] }[]
    expect(left.map(({ wave, domains }) => [wave, domains])).toEqual(
      before.slice(1).map(({ wave, domains }) => [wave, domains]),
    )
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect((await sent()).map(([domains]) => domains)).toEqual([1, 4, 10, 5])
    expect(place.loadRollouts()).toEqual([])
  })

  itLong('is not touched by another change until it is aborted', async () => {
    interruptOnce()
    await place.cli('apply', '--yes')
    place.signal = new AbortController().signal
    const changed =
      Number(/\d+/.exec((await fetchWrites(emulator))[0]?.domains[0] ?? '')?.[0]) === 0 ? 1 : 0
    place.manifest(name(changed), { timeout: { time: 61 } })
    const [{ id } = { id: '' }] = place.loadRollouts()
    expect(await place.json('apply', '--yes')).toMatchObject({
      code: 'rollout-open',
      message: expect.stringMatching(/rollout \S+ by \S+ is open at wave 1 of 3/) as string,
      hint: expect.stringContaining(`"edgewise rollout abort ${id}"`) as string,
    })
    expect((await place.cli('rollout', 'abort', id)).code).toBe(0)
    expect((await place.cli('apply', '--yes', '--retry-held', '--no-waves')).code).toBe(0)
    const overrides = loadEntries().filter(({ kind }) => kind === 'override')
    expect(overrides).toMatchObject([{ about: 'retry-held', reason: null }])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  itLong('is finished by --no-waves, and the waiting process reports it', async () => {
    const other = inWaves(place.root)
    const codes: number[] = []
    runInPause(async () => void codes.push((await other.cli('apply', '--yes', '--no-waves')).code))
    const { code, out, err } = await place.cli('apply', '--yes')
    expect(codes).toEqual([0])
    expect([code, out, err]).toEqual([
      0,
      expect.stringContaining('Applied'),
      expect.stringContaining('Another process ended the rollout: it sent 3 writes of this'),
    ])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  itLong('can be resumed by two processes: each wave is sent once', async () => {
    const other = inWaves(place.root)
    const codes: number[] = []
    runInPause(async () => void codes.push((await other.cli('apply', '--yes')).code))
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(codes).toEqual([0])
    expect((await sent()).map(([domains]) => domains)).toEqual([1, 4, 10, 5])
  })

  itLong('is not complete if the process that ended it has applied other values', async () => {
    const other = inWaves(place.root)
    const codes: number[] = []
    runInPause(async () => {
      for (let i = 0; i < 20; i++) other.manifest(name(i), { timeout: { time: 99 } })
      codes.push((await other.cli('rollout', 'abort', other.loadRollouts()[0]?.id ?? '')).code)
      codes.push((await other.cli('apply', '--yes', '--no-waves')).code)
    })
    const { code, out } = await place.cli('apply', '--yes')
    expect(codes).toEqual([0, 0])
    expect([code, out]).toEqual([3, expect.stringContaining('has ended')])
  })

  itLong('of a saved plan is resumed with that file', async () => {
    await place.cli('plan', '--out', 'plan.json')
    interruptOnce()
    await place.cli('apply', 'plan.json')
    place.signal = new AbortController().signal
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect((await sent()).map(([domains]) => domains)).toEqual([1, 4, 10, 5])
    expect((await place.cli('apply', 'plan.json')).code).toBe(1)
  })
})

describe('a wave that the service does not accept', () => {
  itLong('leaves no rollout if it is the first: exit 1, and the next apply begins it', async () => {
    await setFaults(emulator, { kind: 'unauthorized-from', on: [1] })
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    expect(place.loadRollouts()).toEqual([])
    expect((await place.cli('plan')).out).toContain('Wave 1: 1 domain')
    await setFaults(emulator)
    await place.settle()
  })

  itLong('leaves the rollout open before it: the next apply begins it again', async () => {
    await setFaults(emulator, { kind: 'unauthorized-from', on: [2] })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out.replace(/\s+/g, ' ')]).toEqual([
      3,
      expect.stringMatching(
        /Stopped: not accepted by .*; the rollout stays open at wave 2 of 3, and the next apply/,
      ),
    ])
    expect(place.loadRollouts()).toMatchObject([
      {
        state: 'open',
        onHold: {},
        waves: [{ passed: true }, { applied: null }, { applied: null }],
      },
    ])
    await setFaults(emulator)
    const first = (await fetchWrites(emulator)).length
    await place.settle()
    expect((await sent()).slice(first).map(([domains]) => domains)).toEqual([4, 10, 5])
    expect(place.findRolloutFiles()).toEqual([])
  })
})

itLong('a plan file resumes its rollout, and sends only its own writes', async () => {
  await place.cli('plan', '--out', 'plan.json')
  interruptOnce()
  await place.cli('apply', 'plan.json')
  place.signal = new AbortController().signal
  const honest = readFileSync(join(place.root, 'plan.json'), 'utf8')
  const altered = JSON.parse(honest) as { changes: JsonObject[]; writes: Json[] }
  altered.changes = altered.changes.map((change) => ({ ...change, item: 'connect_timeout' }))
  altered.writes = []
  place.write('plan.json', JSON.stringify(altered))
  const before = (await fetchWrites(emulator)).length
  const { code, err } = await place.cli('apply', 'plan.json')
  expect([code, err]).toEqual([
    1,
    expect.stringContaining('which is not a change of the plan file'),
  ])
  expect(await fetchWrites(emulator)).toHaveLength(before)
  place.write('plan.json', honest)
  expect((await place.cli('apply', 'plan.json')).code).toBe(0)
})

it('a plan file that moves a domain to an earlier wave is refused', async () => {
  await place.cli('plan', '--out', 'plan.json')
  const file = join(place.root, 'plan.json')
  place.write('plan.json', readFileSync(file, 'utf8').replaceAll('"wave":3', '"wave":1'))
  const { code, err } = await place.cli('apply', 'plan.json')
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(
      'differ from those that the planner makes for its changes: the first that differs is write 3',
    ),
  ])
  expect(await fetchWrites(emulator)).toEqual([])
})

itLong('a damaged rollout file is named, and nothing is sent', async () => {
  interruptOnce()
  await place.cli('apply', '--yes')
  place.signal = new AbortController().signal
  const [file = ''] = place.findRolloutFiles()
  for (const [from, to] of [
    ['"open"', '"opened"'],
    ['"passed": false', '"passed": 0'],
    ['edgewise.rollout/1', 'edgewise.rollout/7'],
    ['{', '['],
  ] as const) {
    const text = readFileSync(join(place.root, file), 'utf8')
    place.write(file, text.replace(from, to))
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/the state file .*\/rollouts\/.* can't be used: /),
    ])
    place.write(file, text)
  }
  expect((await fetchWrites(emulator)).length).toBe(1)
})

describe('--no-wait', () => {
  itLong('ends where the rollout has to wait, and goes on when it is due', async () => {
    const step = () => place.cli('apply', '--yes', '--no-wait')
    const first = await step()
    expect([first.code, first.out]).toEqual([
      0,
      expect.stringContaining('The rollout resumes later; writes: 1 confirmed, 3 not sent'),
    ])
    time.now += 5 * minute
    expect((await step()).out).toContain('The rollout resumes later; writes: 3 not sent')
    expect(await sent()).toEqual([[1, 0]])
    time.now += 5 * minute
    expect((await step()).code).toBe(0)
    time.now += 10 * minute
    expect((await step()).out).toContain('Applied; writes: 2 confirmed.')
    expect(await sent()).toEqual([
      [1, 0],
      [4, 10],
      [10, 10],
      [5, 0],
    ])
    expect((await place.json('rollout', 'list'))['rollouts']).toEqual([])
  })
})
