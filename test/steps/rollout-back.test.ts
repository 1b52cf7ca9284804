// @module-tag often
// @module-tag nightly
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CancelledError } from '../../src/core/model/edgewise-error.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import {
  breakOrigins,
  goodOrigin,
  interruptRollback,
  leaveUnfinished,
  refuseUntilRolledBack,
} from '../stories/unfinished-rollback.ts'
import { setFaults, fetchConfig, Place } from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const hour = 3_600_000
const good = goodOrigin
const alsoGood = '192.0.2.11'
setStageInTime()

const rollback =
  '{waves: [4, 100%], pause: 1m, health: {onFailure: rollback, grain: hour, window: 1h}}'
const name = (i: number) => `d${i}.example.com`

/** Creates domains that were configured two hours ago, and manifests that break their origin. */
async function breaking(domains: number, more: JsonObject = {}, rollout = rollback): Promise<void> {
  enterPlace(new Place(emulator.url, `rollout: ${rollout}\n`))
  await breakOrigins(place, time, domains, more)
}

async function fetchOrigin(i: number): Promise<unknown> {
  return ((await fetchConfig(emulator, name(i)))['origin'] as JsonObject | undefined)?.[
    'default_master'
  ]
}

describe('an automatic rollback', () => {
  it('is reported after an interrupt until a rollback completes it', async () => {
    await breaking(8)
    interruptRollback(place)
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([3, expect.stringContaining('Not everything was rolled back')])
    const [rollout] = place.loadRollouts()
    const finish = `"edgewise rollback ${rollout?.id ?? ''}"`
    expect(out).toContain(finish)
    expect([rollout?.state, await fetchOrigin(0)]).toEqual(['rolling-back', deadOrigin])
    place.signal = new AbortController().signal
    place.onStderr = null
    for (const words of [['apply', '--yes'], ['plan'], ['drift']])
      expect((await place.cli(...words)).err).toContain(finish)
    const finished = await place.cli('rollback', rollout?.id ?? '', '--yes')
    expect([finished.code, finished.out]).toEqual([
      0,
      expect.stringContaining('Rolled back; writes:'),
    ])
    // The domains are on hold, so the next apply writes nothing.
    expect(finished.err.replace(/\s+/g, ' ')).toContain(
      'The manifests still contain the rolled-back values of 4 items. They are on hold: ' +
        'apply sends them again only with --retry-held.',
    )
    expect(finished.err).not.toContain('the next apply')
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
    expect(place.loadRollouts()).toMatchObject([{ state: 'rolled-back' }])
    const { err } = await place.cli('apply', '--yes')
    expect([err.includes(finish), err.includes('on hold since')]).toEqual([false, true])
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
  })

  it('is planned to its end, although Ctrl-C would end other planning', async () => {
    await breaking(8)
    let waves = 0
    place.onStderr = (text) => (waves += text.includes('wave 1') ? 1 : 0)
    place.runBlocking = (work) => {
      if (waves > 0) throw new CancelledError('Interrupted before anything was changed')
      return work()
    }
    const { code, err } = await place.cli('apply', '--yes')
    place.runBlocking = null
    expect([code, err]).toEqual([3, expect.not.stringContaining('before anything was changed')])
    expect(waves).toBeGreaterThan(0)
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
  })

  it('prints its reason and the next step if the service refuses it', async () => {
    await breaking(8)
    await setFaults(emulator, {
      kind: 'refuse',
      item: 'origin',
      on: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/wave 1 of 2: 5xx rose .*not all of it could be rolled back/),
    ])
    const [rollout] = place.loadRollouts()
    expect(rollout?.state).toBe('rolling-back')
    await setFaults(emulator)
    expect((await place.cli('rollback', rollout?.id ?? '', '--yes')).code).toBe(0)
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
  })

  it('is not reported as complete if a part could not be rolled back', async () => {
    await breaking(8, { timeout: { time: 60 } })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/Not everything was rolled back.*rolled back except timeout of d\d/s),
    ])
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
    expect(place.loadRollouts()).toMatchObject([{ state: 'rolled-back' }])
  })

  it('that is unfinished stops every apply until it is finished', async () => {
    enterPlace(new Place(emulator.url, `rollout: ${rollback}\n`))
    const id = await leaveUnfinished(place, emulator, time)
    const plan = await place.cli('plan', '--detailed-exitcode')
    expect([plan.code, plan.out]).toEqual([2, expect.stringContaining('4 changes on hold')])
    expect(plan.err).toContain('is unfinished')
    expect(await place.json('apply', '--yes')).toMatchObject({ code: 'rollback-unfinished' })
    await refuseUntilRolledBack(place, emulator, id, [
      ['apply', '--yes'],
      ['apply', '--yes', '--no-waves'],
      ['drift', '--repair', '--yes', '--include-pending'],
    ])
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect(place.loadRollouts()).toMatchObject([{ id, state: 'rolled-back' }])
  })

  it('that is unfinished can be ended as it is: its values stay on hold', async () => {
    enterPlace(new Place(emulator.url, `rollout: ${rollback}\n`))
    const id = await leaveUnfinished(place, emulator, time)
    place.manifest('new.example.com', { timeout: { time: 9 } })
    for (const verb of ['approve', 'pause', 'resume'])
      expect(await place.json('rollout', verb, id)).toMatchObject({ code: 'rollback-unfinished' })
    expect((await place.cli('rollout', 'abort', id)).code).toBe(0)
    expect(place.loadRollouts()).toMatchObject([{ id, state: 'stopped' }])
    expect((await place.json('plan'))['summary']).toMatchObject({ set: 1, held: 4 })
    expect((await place.cli('apply', '--yes', '--no-waves', '--retry-held')).code).toBe(0)
    expect(place.loadRollouts()).toEqual([])
  })

  it('with only irreversible items left is completed by a rollback', async () => {
    await breaking(8, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    const [{ id } = { id: '' }] = place.loadRollouts()
    // The state after a process that dies after the last write of the rollback.
    const file =
      place.findRolloutFiles().find((path) => path.endsWith(`/rollouts/${id}.json`)) ?? ''
    const text = readFileSync(join(place.root, file), 'utf8')
    place.write(file, text.replace('"rolled-back"', '"rolling-back"'))
    expect(place.loadRollouts()).toMatchObject([{ state: 'rolling-back' }])
    const { code, err } = await place.cli('rollback', id, '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('can be rolled back: timeout of d')])
    expect(place.loadRollouts()).toMatchObject([{ state: 'rolled-back' }])
    expect((await place.cli('plan')).err).not.toContain('is unfinished')
  })

  it('restores released items, and leaves items on hold', async () => {
    await breaking(8)
    for (let i = 8; i < 10; i++) place.manifest(name(i), { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes', '--no-waves', '--target', 'd{8,9}.*')).code).toBe(0)
    for (const i of [8, 9]) rmSync(join(place.root, `domains/${name(i)}.yaml`))
    const { code } = await place.cli('apply', '--yes')
    expect(code).toBe(3)
    const { domains } = (await place.json('state', 'list')) as { domains: { domain: string }[] }
    expect(domains.map(({ domain }) => domain)).toContain(name(8))
    expect((await place.json('plan'))['summary']).toMatchObject({ release: 0, held: 10 })
  })

  it('also follows a wave that was refused in part', async () => {
    await breaking(8)
    await setFaults(emulator, { kind: 'refuse', domain: name(0), item: 'origin', on: [1, 2] })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([3, expect.stringMatching(/Rolled back/)])
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
  })
})

describe('an item on hold', () => {
  async function holding(): Promise<void> {
    await breaking(8)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    expect(place.loadRollouts()).toMatchObject([{ state: 'rolled-back' }])
  }

  it('stays on hold if only other items are retried', async () => {
    await holding()
    expect(
      (await place.cli('apply', '--yes', '--no-waves', '--retry-held', '--target', name(0))).code,
    ).toBe(0)
    expect(await fetchOrigin(0)).toBe(deadOrigin)
    expect((await place.cli('apply', '--yes', '--no-waves')).out).toContain('7 changes on hold.')
    expect(await fetchOrigin(1)).toBe(good)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
    expect(Object.keys(place.loadRollouts()[0]?.onHold ?? {})).toHaveLength(7)
  })

  it('is released from hold by a changed manifest, and unmanaged without one', async () => {
    await holding()
    rmSync(join(place.root, `domains/${name(7)}.yaml`))
    place.manifest(name(6), { origin: { default_master: alsoGood } })
    const { changes } = (await place.json('plan')) as {
      changes: { domain: string; action: string }[]
    }
    expect(changes.map(({ domain, action }) => [domain, action])).toEqual([
      [name(6), 'change'],
      [name(7), 'release'],
    ])
    expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    expect((await place.json('plan'))['summary']).toMatchObject({ held: 6 })
  })

  it('is on hold for an older plan file, with a message', async () => {
    await breaking(8)
    await place.cli('plan', '--out', 'plan.json')
    expect((await place.cli('apply', 'plan.json')).code).toBe(3)
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining('held')])
    expect(await fetchOrigin(0)).toBe(good)
  })

  it('is retried in waves with health checks', async () => {
    await holding()
    time.now += 2 * hour
    const { code, out } = await place.cli('apply', '--yes', '--retry-held')
    expect([code, out]).toEqual([3, expect.stringContaining('Rolled back')])
    for (let i = 0; i < 8; i++) expect(await fetchOrigin(i)).toBe(good)
    expect(place.loadRollouts()).toHaveLength(1)
  })

  it('shows text of its file without control characters', async () => {
    await holding()
    const [file = ''] = place.findRolloutFiles()
    place.write(
      file,
      place
        .read(file)
        .replace(/"reason": "[^"]*"/, '"reason": "up\\u001b[2Jdown"')
        .replace('"rolled-back"', '"rolling-back"'),
    )
    for (const words of [
      ['apply', '--yes'],
      ['plan'],
      ['drift'],
      ['plan', '--report', 'plan.md'],
    ]) {
      const { out, err } = await place.cli(...words)
      expect(out + err).not.toContain('\u001b')
    }
    expect(readFileSync(join(place.root, 'plan.md'), 'utf8')).not.toContain('\u001b')
  })
})
