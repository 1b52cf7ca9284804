import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/model/json.ts'
import { setFaults, fetchConfig, Place } from './cli.ts'
import { deadOrigin, emulator, enterPlace, place, setStageInTime, time } from './stage.ts'

const hour = 3_600_000
const good = '192.0.2.10'
const alsoGood = '192.0.2.11'
setStageInTime()

const name = (i: number) => `d${i}.example.com`

/** Domains that were configured two hours ago, and of which something breaks the origin now. */
async function breaking(
  domains: number,
  more: JsonObject = {},
  rollout = '{waves: [4, 100%], pause: 1m, health: {onFailure: rollback}}',
): Promise<void> {
  enterPlace(new Place(emulator.url, `rollout: ${rollout}\n`))
  for (let i = 0; i < domains; i++) place.manifest(name(i), { origin: { default_master: good } })
  expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
  time.now += 2 * hour
  for (let i = 0; i < domains; i++)
    place.manifest(name(i), { origin: { default_master: deadOrigin }, ...more })
}

async function originOf(i: number): Promise<unknown> {
  return ((await fetchConfig(emulator, name(i)))['origin'] as JsonObject | undefined)?.[
    'default_master'
  ]
}

/** The next apply is interrupted when it takes back. */
function interruptTakingBack(): void {
  const stop = new AbortController()
  place.signal = stop.signal
  place.onStderr = (line) => {
    if (line.includes('is taken back')) stop.abort()
  }
}

describe('a take-back', () => {
  it('that is interrupted is told until a rollback ends it', async () => {
    await breaking(8)
    interruptTakingBack()
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([3, expect.stringContaining('Not all of it was taken back')])
    const [rollout] = place.loadRollouts()
    const finish = `"edgewise rollback ${rollout?.id ?? ''}"`
    expect(out).toContain(finish)
    expect([rollout?.state, await originOf(0)]).toEqual(['taking-back', deadOrigin])
    place.signal = new AbortController().signal
    place.onStderr = null
    for (const words of [['apply', '--yes'], ['plan'], ['drift']])
      expect((await place.cli(...words)).err).toContain(finish)
    expect((await place.cli('rollback', rollout?.id ?? '', '--yes')).code).toBe(0)
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
    expect(place.loadRollouts()).toMatchObject([{ state: 'taken-back' }])
    const { err } = await place.cli('apply', '--yes')
    expect([err.includes(finish), err.includes('held: rollout')]).toEqual([false, true])
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
  })

  it('that the service refuses says why it was begun, and how it goes on', async () => {
    await breaking(8)
    await setFaults(emulator, {
      kind: 'refuse',
      item: 'origin',
      on: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
    })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/wave 1 of 2: 5xx rose .*not all of it could be taken back/),
    ])
    const [rollout] = place.loadRollouts()
    expect(rollout?.state).toBe('taking-back')
    await setFaults(emulator)
    expect((await place.cli('rollback', rollout?.id ?? '', '--yes')).code).toBe(0)
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
  })

  it('does not say that all was taken back where some of it could not be', async () => {
    await breaking(8, { timeout: { time: 60 } })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([
      3,
      expect.stringMatching(/Not all of it was taken back.*taken back but for timeout of d\d/s),
    ])
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
    expect(place.loadRollouts()).toMatchObject([{ state: 'taken-back' }])
  })

  it('of which only is left what can not go back is ended by a rollback all the same', async () => {
    await breaking(8, { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    const [{ id } = { id: '' }] = place.loadRollouts()
    // As a process leaves it that dies after the last write of the way back.
    const file =
      place.findRolloutFiles().find((path) => path.endsWith(`/rollouts/${id}.json`)) ?? ''
    const text = readFileSync(join(place.root, file), 'utf8')
    place.write(file, text.replace('"taken-back"', '"taking-back"'))
    expect(place.loadRollouts()).toMatchObject([{ state: 'taking-back' }])
    const { code, err } = await place.cli('rollback', id, '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('can be taken back: timeout of d')])
    expect(place.loadRollouts()).toMatchObject([{ state: 'taken-back' }])
    expect((await place.cli('plan')).err).not.toContain('not wholly taken back')
  })

  it('brings back what the rollout released, and leaves what it only held', async () => {
    await breaking(8)
    for (let i = 8; i < 10; i++) place.manifest(name(i), { timeout: { time: 60 } })
    expect((await place.cli('apply', '--yes', '--no-waves', '--target', 'd{8,9}.*')).code).toBe(0)
    place.write(`domains/${name(8)}.yaml`, '').write(`domains/${name(9)}.yaml`, '')
    const { code } = await place.cli('apply', '--yes')
    expect(code).toBe(3)
    const { domains } = (await place.json('state', 'list')) as { domains: { domain: string }[] }
    expect(domains.map(({ domain }) => domain)).toContain(name(8))
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('of a wave of which the service refused a part happens as well', async () => {
    await breaking(8)
    await setFaults(emulator, { kind: 'refuse', domain: name(0), item: 'origin', on: [1, 2] })
    const { code, out } = await place.cli('apply', '--yes')
    expect([code, out]).toEqual([3, expect.stringMatching(/Taken back/)])
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
  })
})

describe('what is held', () => {
  async function holding(): Promise<void> {
    await breaking(8)
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    expect(place.loadRollouts()).toMatchObject([{ state: 'taken-back' }])
  }

  it('stays held where only a part of it is tried again', async () => {
    await holding()
    expect(
      (await place.cli('apply', '--yes', '--no-waves', '--retry-held', '--target', name(0))).code,
    ).toBe(0)
    expect(await originOf(0)).toBe(deadOrigin)
    expect((await place.cli('apply', '--yes', '--no-waves')).out).toContain('No changes.')
    expect(await originOf(1)).toBe(good)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect(place.loadRollouts()[0]?.held).toHaveLength(7)
  })

  it('is no longer held where something else is asked for, and a domain that no manifest mentions is released', async () => {
    await holding()
    place.write(`domains/${name(7)}.yaml`, '')
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

  it('is held against a plan file of before, which says so', async () => {
    await breaking(8)
    await place.cli('plan', '--out', 'plan.json')
    expect((await place.cli('apply', 'plan.json')).code).toBe(3)
    const { code, err } = await place.cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining('held')])
    expect(await originOf(0)).toBe(good)
  })

  it('tried again goes out in waves, and is looked after', async () => {
    await holding()
    time.now += 2 * hour
    const { code, out } = await place.cli('apply', '--yes', '--retry-held')
    expect([code, out]).toEqual([3, expect.stringContaining('Taken back')])
    for (let i = 0; i < 8; i++) expect(await originOf(i)).toBe(good)
    expect(place.loadRollouts()).toHaveLength(1)
  })

  it('shows what its file says without letting it drive the terminal', async () => {
    await holding()
    const [file = ''] = place.findRolloutFiles()
    const [rollout] = place.loadRollouts()
    place.write(
      file,
      JSON.stringify({ ...rollout, reason: 'up\u001b[2Jdown', state: 'taking-back' }),
    )
    for (const words of [
      ['apply', '--yes'],
      ['plan'],
      ['drift'],
      ['plan', '--markdown', 'plan.md'],
    ]) {
      const { out, err } = await place.cli(...words)
      expect(out + err).not.toContain('\u001b')
    }
    expect(readFileSync(join(place.root, 'plan.md'), 'utf8')).not.toContain('\u001b')
  })
})
