// @module-tag often
// @module-tag nightly
import { expect } from 'vitest'
import { DefectAfterWrites } from '../../src/core/model/edgewise-error.ts'
import type { Disk } from '../../src/state/folder/disk.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { itOften, everyNth } from '../runs.ts'
import { fetchConfig, Place, resetEmulator, fetchWrites } from './cli.ts'
import { deadOrigin, emulator, setStageInTime, time } from './stage.ts'

setStageInTime()

class PowerCut extends Error {}

const steps = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

/** The process sees a power cut as an unexpected error; after a write it is reported as such. */
function isPowerCut(error: unknown): boolean {
  return (
    error instanceof PowerCut ||
    (error instanceof DefectAfterWrites && error.cause instanceof PowerCut)
  )
}

/**
 * Creates a disk that fails at its n-th change and all later ones: no later effect of the process
 * is visible.
 */
function cutAt(n: number): { disk: Disk; changes(): number } {
  let changes = 0
  const changing = new Set<keyof Disk>([
    'append',
    'create',
    'link',
    'makeFolder',
    'remove',
    'rename',
    'sync',
    'syncAll',
    'syncIfThere',
  ])
  const disk = new Proxy(realDisk, {
    get: (target, name: keyof Disk) => {
      const original = target[name] as (...args: unknown[]) => unknown
      if (!changing.has(name)) return original.bind(target)
      return (...args: unknown[]) => {
        if (++changes >= n) throw new PowerCut(`power cut at change ${n}`)
        return original.apply(target, args)
      }
    },
  })
  return { disk, changes: () => changes }
}

function fleet(disk: Disk): Place {
  const place = new Place(emulator.url, 'rollout: {waves: [1, 50%, 100%], pause: 10m}\n')
  place.time = time
  place.disk = disk
  for (let i = 0; i < 4; i++) place.manifest(`d${i}.example.com`, { timeout: { time: 60 } })
  return place
}

/** Lists writes of a wave that were sent before the end of the previous wave and its pause. */
async function tooEarly(waves: ReadonlyMap<string, number>): Promise<string[]> {
  const calls = await fetchWrites(emulator)
  const ends: number[] = []
  return calls.flatMap(({ time: at, domains }) => {
    const wave = waves.get(domains[0] ?? '') ?? 0
    const early = wave > 1 && !(at >= (ends[wave - 1] ?? Infinity) + 10 * 60_000)
    ends[wave] = at
    return early || ends.length > wave + 1 ? [`wave ${wave}: ${domains.join(', ')} at ${at}`] : []
  })
}

itOften('a crash at any step of a rollout loses nothing: the next apply resumes it', async () => {
  const whole = cutAt(Infinity)
  const first = fleet(whole.disk)
  expect((await first.cli('apply', '--yes')).code).toBe(0)
  first.remove()
  expect(whole.changes()).toBeGreaterThan(30)
  for (const n of everyNth(steps(whole.changes()), Math.ceil(whole.changes() / 4))) {
    await resetEmulator(emulator)
    const place = fleet(cutAt(n).disk)
    const planned = (await place.json('plan'))['writes'] as { wave: number; domains: string[] }[]
    const waves = new Map(
      planned.flatMap(({ wave, domains }) =>
        domains.map((domain): [string, number] => [domain, wave]),
      ),
    )
    await expect(place.cli('apply', '--yes')).rejects.toSatisfy(isPowerCut)
    place.disk = realDisk
    // The lock holder is detected as dead.
    place.otherProcessesDead = true
    const { code, out, err } = await place.cli('apply', '--yes')
    expect([n, code, out, err]).toEqual([n, 0, out, err])
    for (let i = 0; i < 4; i++)
      expect(await fetchConfig(emulator, `d${i}.example.com`)).toEqual({
        timeout: { time: '60' },
      })
    expect([n, await tooEarly(waves)]).toEqual([n, []])
    expect(place.findRolloutFiles()).toEqual([])
    place.remove()
  }
})

/** Creates healthy domains, and manifests that break them. */
async function breaking(): Promise<Place> {
  await resetEmulator(emulator)
  const place = new Place(
    emulator.url,
    'rollout: {waves: [2, 100%], pause: 0s, health: {onFailure: rollback}}\n',
  )
  place.time = time
  for (const origin of ['192.0.2.10', deadOrigin]) {
    for (let i = 0; i < 4; i++)
      place.manifest(`d${i}.example.com`, { origin: { default_master: origin } })
    if (origin !== deadOrigin)
      expect((await place.cli('apply', '--yes', '--no-waves')).code).toBe(0)
    time.now += 2 * 3_600_000
  }
  return place
}

itOften(
  'a crash at any step of an automatic rollback leaves it resumable, with a message',
  async () => {
    const whole = cutAt(Infinity)
    const first = await breaking()
    first.disk = whole.disk
    expect((await first.cli('apply', '--yes')).code).toBe(3)
    first.remove()
    const ends = new Set<string>()
    for (const n of everyNth(steps(whole.changes()), Math.ceil(whole.changes() / 5))) {
      const place = await breaking()
      place.disk = cutAt(n).disk
      await expect(place.cli('apply', '--yes')).rejects.toSatisfy(isPowerCut)
      place.disk = realDisk
      place.otherProcessesDead = true
      const { err, out } = await place.cli('apply', '--yes')
      const [rollout] = place.loadRollouts()
      ends.add(rollout?.state ?? 'none')
      if (rollout?.state === 'rolling-back') {
        expect(err).toContain(`"edgewise rollback ${rollout.id}"`)
        const back = await place.cli('rollback', rollout.id, '--yes')
        expect([n, back.code, back.out, back.err]).toEqual([n, 0, back.out, back.err])
      }
      for (let i = 0; i < 4; i++)
        expect([n, out, err, await fetchConfig(emulator, `d${i}.example.com`)]).toMatchObject([
          n,
          out,
          err,
          { origin: { default_master: '192.0.2.10' } },
        ])
      expect(place.loadRollouts()).toMatchObject([{ state: 'rolled-back' }])
      expect((await place.json('plan'))['changes']).toEqual([])
      place.remove()
    }
    expect([...ends].toSorted()).toEqual(['rolled-back', 'rolling-back'])
  },
)
