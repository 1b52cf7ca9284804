// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { createServerMetrics } from '../../src/outlets/metrics/server-metrics.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place, fetchWrites, setFaults } from './cli.ts'
import {
  deadOrigin,
  emulator,
  enterPlace,
  place,
  runInPause,
  setStageInTime,
  time,
} from './stage.ts'

const minute = 60_000

setStageInTime()
beforeEach(() => fleet('approval: [2]'))

const name = (i: number) => `d${i}.example.com`

/** Creates six domains whose changes are rolled out in three waves. */
function fleet(more = '', waves = '[1, 3, 100%]', pause = '10m'): void {
  const rollout = ['waves: ' + waves, `pause: ${pause}`, more].filter((key) => key !== '')
  enterPlace(new Place(emulator.url, `rollout: {${rollout.join(', ')}}\n`))
  for (let i = 0; i < 6; i++) place.manifest(name(i), { timeout: { time: 60 } })
}

/** Lists the numbers of domains of the writes so far. */
async function sent(): Promise<number[]> {
  return (await fetchWrites(emulator)).map(({ domains }) => domains.length)
}

async function apply(code: number, ...more: string[]): Promise<{ out: string; err: string }> {
  const ran = await place.cli('apply', '--yes', ...more)
  expect([ran.code, ran.out, ran.err]).toEqual([code, ran.out, ran.err])
  return ran
}

/** Runs a rollout command; returns its output, or its error with the exit code. */
async function decide(...words: string[]): Promise<string> {
  const { code, out, err } = await place.cli('rollout', ...words)
  return code === 0 ? out : `${code} ${err}`
}

const findId = () => place.loadRollouts()[0]?.id ?? ''

async function list(): Promise<JsonObject[]> {
  return (await place.json('rollout', 'list'))['rollouts'] as JsonObject[]
}

describe('the metrics of a rollout', () => {
  /** Reads the writes by outcome from the metrics of the last apply. */
  const readWrites = () =>
    Array.from(place.read('e.prom').matchAll(/apply_writes\{outcome="(.+?)".*\} (\d+)/g), (found) =>
      found.slice(1, 3).join(' '),
    ).filter((each) => !each.endsWith(' 0'))

  it('count a write as not sent only once nothing can send it any more', async () => {
    fleet()
    const metrics = createServerMetrics({ workspace: 'w', account: 'a' })
    for (let wave = 1; wave <= 3; wave++) {
      const { out } = await apply(0, '--no-wait', '--json', '--metrics-file', 'e.prom')
      for (const line of out.trim().split('\n')) metrics.recordEvent(JSON.parse(line))
      expect(readWrites()).toEqual(['confirmed 1'])
      time.now += 10 * minute
    }
    const { text } = await metrics.format('prometheus')
    expect(text).toMatch(/writes_total\{outcome="confirmed".*\} 3$/m)
    expect(text).toMatch(/writes_total\{outcome="not-sent".*\} 0$/m)
    expect(text).toMatch(/parts_total\{outcome="not-sent".*\} 0$/m)
  })

  it.each([
    ['another process ends it', async () => void (await decide('abort', findId()))],
    [
      'a write of it is refused',
      () => setFaults(emulator, { kind: 'refuse', domain: name(1), probability: 1 }),
    ],
  ])('count the rest as not sent if %s', async (_case, interfere) => {
    fleet('', '[1, 2, 3, 100%]')
    runInPause(interfere)
    await apply(3, '--metrics-file', 'e.prom')
    expect(readWrites()).toContainEqual(expect.stringMatching(/^not-sent [23]$/))
    await setFaults(emulator)
  })
})

describe('a wave that needs approval', () => {
  it('begins only after "rollout approve", and apply exits with 0 before it', async () => {
    const { out, err } = await apply(0)
    const id = findId()
    expect(out).toContain('Waiting for approval; writes: 1 confirmed, 2 not sent')
    expect(err).toContain(`wave 2/3 (2 domains) waits: "edgewise rollout approve ${id}"`)
    expect(place.loadRollouts()).toMatchObject([{ state: 'open' }])
    const start = time.now
    await apply(0)
    expect([await sent(), time.now - start]).toEqual([[1], 0])
    expect(await list()).toMatchObject([
      { id, apply: `${id}-w1`, wave: 2, waves: 3, state: 'waiting-for-approval' },
    ])
    expect(await decide('approve', id)).toContain(`Approved wave 2 of 3 of rollout ${id}`)
    expect(await list()).toMatchObject([{ state: 'approved', command: 'edgewise apply' }])
    await apply(0)
    expect(await sent()).toEqual([1, 2, 3])
    expect(place.loadRollouts()).toEqual([])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it.each(['approve', 'pause', 'resume', 'abort'])('has JSON output for %s', async (verb) => {
    await apply(0)
    const listed = await place.json('rollout', 'list')
    expect(listSchemaErrors('rollouts', listed)).toEqual([])
    if (verb === 'resume') await decide('pause', findId())
    const decided = await place.json('rollout', verb, findId())
    expect(listSchemaErrors('rollout-decision', decided)).toEqual([])
    expect(decided).toMatchObject({ wave: 2, waves: 3, held: verb === 'abort' ? 5 : 0 })
  })

  it('is reported with the rollout, the wave and the command', async () => {
    const { out } = await place.cli('apply', '--yes', '--json')
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
    expect(events.at(-2)).toEqual({
      type: 'rollout.waiting-for-approval',
      time: expect.any(String) as string,
      apply: findId(),
      wave: 2,
      waves: 3,
      domains: 2,
      reason: 'approval',
      command: `edgewise rollout approve ${findId()}`,
    })
    expect(events.at(-1)).toMatchObject({ type: 'apply.finished', confirmed: 1, notSent: 2 })
  })

  it('can be the first one: nothing is sent, and no secret is resolved, before it', async () => {
    fleet('approval: [1]')
    expect((await place.cli('plan')).err).toContain('wave 1 needs approval')
    await apply(0)
    expect(await sent()).toEqual([])
    await decide('approve', findId())
    await apply(0)
    expect(await sent()).toEqual([1, 2, 3])
  })

  it('is in the time of a plan that resumes the rollout, until it is approved', async () => {
    const waits = 'in 2 waves, plus the wait for approval of wave 2\n'
    await apply(0)
    expect((await place.cli('plan')).out).toContain(waits)
    await decide('approve', findId())
    expect((await place.cli('plan')).out).toContain('in 2 waves\n')
  })

  it('is called the only wave if there is no other', async () => {
    const { out, err } = await place.cli('plan', '--target', name(0))
    expect(err).toContain('the only wave needs approval: apply stops before it')
    expect(out).toContain('a few seconds, plus the wait for approval\n')
  })

  it('keeps its approval if the service accepts nothing of the first wave', async () => {
    fleet('approval: [1]')
    await apply(0)
    await decide('approve', findId())
    const { env } = place
    place.env = { EDGEWISE_TOKEN: 'wrong' }
    await apply(1)
    await apply(1)
    place.env = env
    expect(await list()).toMatchObject([{ state: 'approved', wave: 1 }])
    await apply(0)
    expect((await sent()).slice(2)).toEqual([1, 2, 3])
  })

  it('is not lost if the plan has fewer waves than configured', async () => {
    fleet('approval: [2]', '[10%, 20%, 100%]')
    await apply(0)
    expect(await sent()).toEqual([1])
    for (const target of [name(4), name(5)]) {
      await decide('abort', findId())
      await apply(0, '--retry-held', '--target', target)
      expect(await sent()).toEqual([1])
    }
  })

  it('is approved once, and is not approved while it does not wait', async () => {
    expect(await decide('approve', 'one')).toMatch(/^1 .*there is no open rollout "one"/s)
    runInPause(async () => {
      const id = findId()
      expect(await decide('approve', id)).toMatch(
        new RegExp(`^1 .*rollout ${id} does not wait for approval: it is at wave 1 of 3`, 's'),
      )
    })
    await apply(0)
    const id = findId()
    await decide('approve', id)
    const [before] = place.loadRollouts()
    expect(await decide('approve', id)).toMatch(
      new RegExp(`^Wave 2 of 3 of rollout ${id} was already approved by .* at 2026-`),
    )
    expect(place.loadRollouts()).toEqual([before])
    await apply(0)
    expect(await decide('approve', id)).toMatch(/^1 .*there is no open rollout/s)
  })

  it('waits again if its domains changed since the approval', async () => {
    await apply(0)
    await decide('approve', findId())
    const first = place.loadRollouts()[0]?.waves[0]?.domains[0] ?? ''
    expect((await place.cli('state', 'forget', first, '--yes')).code).toBe(0)
    await apply(0)
    expect(await sent()).toEqual([1])
    await decide('approve', findId())
    await apply(0)
    expect((await sent()).slice(1).reduce((sum, each) => sum + each)).toBe(6)
  })

  it('is not bypassed by --no-waves', async () => {
    expect((await apply(1, '--no-waves')).err).toContain('and --no-waves would send it without')
    await apply(0)
    const id = findId()
    expect((await apply(1, '--no-waves')).err).toContain(`rollout ${id} needs approval of wave 2`)
    await decide('approve', id)
    await apply(0, '--no-waves')
    expect(await sent()).toEqual([1, 5])
    expect(place.loadRollouts()).toEqual([])
  })

  it('belongs to its rollout: changed manifests are refused until it is aborted', async () => {
    await apply(0)
    const id = findId()
    await decide('approve', id)
    for (let i = 0; i < 6; i++) place.manifest(name(i), { timeout: { time: 70 } })
    expect((await apply(1)).err).toContain(`rollout ${id}`)
    await decide('abort', id)
    await apply(0)
    expect(await sent()).toEqual([1, 1])
    const [listed, ...others] = await list()
    expect([listed?.['id'] === id, others]).toEqual([false, []])
    expect(listed).toMatchObject({ state: 'waiting-for-approval', wave: 2 })
  })

  it('waits in a saved plan too', async () => {
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await sent()).toEqual([1])
    await decide('approve', findId())
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(await sent()).toEqual([1, 2, 3])
  })

  it('waits in drift --repair too', async () => {
    fleet()
    await apply(0, '--no-waves')
    const before = await sent()
    const text = place.read('edgewise.yaml')
    place.write('edgewise.yaml', text.replace('pause: 10m', 'pause: 10m, approval: [1]'))
    const other = { timeout: { time: '99' } }
    const seen = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [name(i), other]))
    place.write('seen.json', JSON.stringify(seen))
    const repair = ['drift', '--observed', 'seen.json', '--repair', '--yes']
    expect((await place.cli(...repair)).code).toBe(0)
    expect(await sent()).toEqual(before)
    await decide('approve', findId())
    await apply(0)
    expect((await sent()).slice(before.length)).toEqual([1, 2, 3])
  })

  it('does not hold up a rollback', async () => {
    fleet('approval: [1, 2]')
    await apply(0)
    const id = findId()
    await decide('approve', id)
    await apply(0)
    await decide('abort', id)
    const { code, err } = await place.cli('rollback', id, '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('was not recorded before')])
  })
})

describe('rollout pause', () => {
  it('stops a running rollout before its next wave, until it is resumed', async () => {
    fleet()
    runInPause(async () => {
      expect(await decide('pause', findId())).toMatch(/^Paused rollout .* before wave 2 of 3/)
      expect(await decide('pause', findId())).toMatch(/was already paused by/)
    })
    const { out } = await apply(0)
    expect(out).toContain('Paused; writes: 1 confirmed, 2 not sent')
    expect(await list()).toMatchObject([{ state: 'paused', wave: 2 }])
    await apply(0)
    expect((await apply(1, '--no-waves')).err).toContain('is paused')
    expect(await sent()).toEqual([1])
    expect(await decide('approve', findId())).toMatch(/^1 .*does not wait for approval/s)
    expect(await decide('resume', findId())).toMatch(/^Resumed rollout/)
    expect(await decide('resume', findId())).toMatch(/^1 .*is not paused/s)
    await apply(0)
    expect(await sent()).toEqual([1, 2, 3])
  })

  it('finds the lock free between waves without a pause', async () => {
    fleet('', '[1, 3, 100%]', '0s')
    runInPause(async () => void (await decide('pause', findId())))
    await apply(0)
    expect(await sent()).toEqual([1])
  })

  it('is approved and resumed one after the other if the wave waits for both', async () => {
    await apply(0)
    await decide('pause', findId())
    await apply(0)
    expect(await decide('approve', findId())).toMatch(
      /^Approved wave 2 of 3 .*"edgewise rollout res/s,
    )
    await apply(0)
    expect(await sent()).toEqual([1])
    await decide('resume', findId())
    await apply(0)
    expect(await sent()).toEqual([1, 2, 3])
  })

  it('does not end the health check: a worse wave is rolled back', async () => {
    fleet('health: {onFailure: rollback}', '[4, 100%]')
    const setOrigins = (origin: string) => {
      for (let i = 0; i < 6; i++) place.manifest(name(i), { origin: { default_master: origin } })
    }
    setOrigins('192.0.2.10')
    await apply(0, '--no-waves')
    time.now += 120 * minute
    setOrigins(deadOrigin)
    time.onSleep = async () => {
      if ((place.loadRollouts()[0]?.waves[0]?.applied ?? null) === null) return
      delete time.onSleep
      expect(await decide('pause', findId())).toContain('before wave 2 of 2')
    }
    expect((await apply(3)).out).toContain('Rolled back')
    const [rollout] = place.loadRollouts()
    expect([rollout?.state, rollout?.paused]).toEqual(['rolled-back', undefined])
  })

  it('is refused if no wave is left', async () => {
    fleet('health: {onLittleData: pass}', '[100%]')
    runInPause(async () => {
      const [rollout] = place.loadRollouts()
      if (rollout?.waves[0]?.applied !== null)
        expect(await decide('pause', findId())).toMatch(/^1 .*its last wave has begun/s)
    })
    time.now += 60 * minute
    await apply(0)
  })
})

describe('rollout abort', () => {
  it('ends a rollout: what was sent stays, and the rest is on hold', async () => {
    await apply(0)
    const id = findId()
    expect(await decide('abort', id)).toMatch(
      new RegExp(`^Aborted rollout ${id}. Its changes of 5 domains are on hold`),
    )
    expect(place.loadRollouts()).toMatchObject([{ state: 'stopped' }])
    expect(Object.keys(place.loadRollouts()[0]?.onHold ?? {})).toHaveLength(5)
    expect(await list()).toEqual([])
    const { err } = await apply(0)
    expect(err).toMatch(/stopped: aborted by/)
    expect(await sent()).toEqual([1])
    expect(await decide('abort', id)).toMatch(/^1 .*has already ended/s)
    place.manifest(name(5), { timeout: { time: 70 } })
    await apply(0, '--retry-held')
    expect(await sent()).toEqual([1, 1])
  })

  it('ends it for the process that runs it', async () => {
    fleet()
    runInPause(async () => void (await decide('abort', findId())))
    const { out } = await apply(3)
    expect(out).toContain('Stopped: the rollout has ended meanwhile: aborted by')
    expect(await sent()).toEqual([1])
  })

  it('before the first wave holds everything', async () => {
    fleet('approval: [1]')
    await apply(0)
    await decide('abort', findId())
    expect(Object.keys(place.loadRollouts()[0]?.onHold ?? {})).toHaveLength(6)
    await apply(0)
    expect(await sent()).toEqual([])
  })
})

describe('an approved wave with a refused item', () => {
  const refuse = () =>
    setFaults(emulator, { kind: 'refuse', domain: name(2), item: 'timeout', probability: 1 })

  /** Approves the second of three waves, of which a part is refused; returns the rollout. */
  async function begin(): Promise<string> {
    await apply(0)
    const id = findId()
    await decide('approve', id)
    await refuse()
    const { out } = await apply(3)
    expect(out).toContain('wave 2 of 3 was not applied completely; the rollout stays open at wave')
    return id
  }

  it('stays open as it is, with its approval, and is sent again until it is complete', async () => {
    const id = await begin()
    expect(await list()).toMatchObject([
      { id, wave: 2, state: 'incomplete', approvedBy: [expect.any(String)] },
    ])
    expect((await place.cli('rollout', 'list')).out).toContain('(the wave is incomplete)')
    await apply(3)
    expect(place.loadRollouts().map((each) => [each.id, each.state])).toEqual([[id, 'open']])
    await setFaults(emulator)
    const { out } = await apply(0)
    expect(out).toContain('Applied; writes:')
    expect(place.loadRollouts()).toEqual([])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('gives way to another value, which needs an approval of its own', async () => {
    const id = await begin()
    place.manifest(name(2), { timeout: { time: 61 } })
    const { out } = await place.cli('plan')
    expect(out).not.toContain('apply will refuse')
    await setFaults(emulator)
    await apply(0)
    const open = await list()
    expect(open).toMatchObject([{ state: 'waiting-for-approval' }])
    expect(open[0]?.['id']).not.toBe(id)
    // Nothing of the first one is on hold: all of it goes out.
    await decide('approve', findId())
    await apply(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('ends once its values are taken back, with nothing left to send', async () => {
    fleet('approval: [1]', '[100%]')
    const change = async (seconds: number) => {
      for (let i = 0; i < 6; i++) place.manifest(name(i), { timeout: { time: seconds } })
      await apply(0)
      const id = findId()
      if (id !== '') await decide('approve', id)
    }
    await change(60)
    await apply(0)
    await change(61)
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    await apply(3)
    expect(await list()).toMatchObject([{ state: 'incomplete' }])
    await change(60)
    expect(place.loadRollouts()).toEqual([])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('is kept by a plan of a part with the same values, and puts all of it on hold', async () => {
    const id = await begin()
    const { code, err } = await place.cli('apply', '--yes', '--target', name(2))
    expect([code, err]).toEqual([1, expect.stringContaining(`rollout ${id}`)])
    expect(await decide('abort', id)).toContain('are on hold')
    expect(place.loadRollouts()[0]?.onHold).toHaveProperty([name(2)])
  })
})
