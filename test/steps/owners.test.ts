import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { selectDomains } from '../../src/core/model/rollout.ts'
import { formatRollout, parseRollout } from '../../src/state/format/rollout-file.ts'
import { refuseOwned } from '../stories/owned-elsewhere.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { fetchConfig, Place, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const www = 'www.example.com'
let other: Place
setStage()
beforeEach(() => {
  const path = join(place.root, '.edgewise/state')
  other = new Place(emulator.url, 'id: staging\n', { state: `state: {store: dir, path: ${path}}` })
  other.manifest(www, { timeout: { time: 99 } })
  place.manifest(www, { timeout: { time: 60 }, https: { cert_id: 1 } })
})
afterEach(() => other.remove())

describe('a domain of another workspace in the same store', () => {
  beforeEach(() => place.settle())

  itLong(
    'is refused by plan, apply, repair and import, with its manifest and its owner',
    async () => {
      await refuseOwned(place, other, emulator)
    },
  )

  it('gets no manifest by a refused import, nor does any domain beside it', async () => {
    other = new Place(emulator.url, 'id: third\n', {
      state: `state: {store: dir, path: ${join(place.root, '.edgewise/state')}}`,
    })
    const fleet = { [www]: { timeout: { time: 60 } }, 'b.example.com': { timeout: { time: 60 } } }
    other.write('live.json', JSON.stringify(fleet))
    const { code, err } = await other.cli('import', 'live.json', '--write-manifests')
    expect([code, err]).toEqual([1, expect.stringContaining('belongs to the workspace "default"')])
    expect(err).not.toContain('wrote')
    expect(existsSync(join(other.root, 'domains'))).toBe(false)
  })

  it('is noted by drift, with its owner', async () => {
    const { err } = await other.cli('drift')
    expect(err).toContain(`${www} belongs to the workspace "default"`)
    expect((await place.cli('drift')).err).not.toContain('belongs')
  })

  it('does not prevent changes of other domains', async () => {
    other.manifest('b.example.com', { timeout: { time: 99 } })
    expect((await other.cli('apply', '--yes', '--target', 'b.*')).code).toBe(0)
    expect((await other.cli('apply', '--yes')).err).toContain(`${www} (domains`)
  })

  itLong('is free after state forget, and after the release of all its items', async () => {
    expect((await place.cli('state', 'forget', www, '--yes')).code).toBe(0)
    await other.settle()
    expect((await place.cli('plan')).err).toContain('belongs to the workspace "staging"')
    await other.manifest(www, {}).settle()
    await place.settle()
  })

  itLong('that was forgotten here is refused by rollback with its present owner', async () => {
    await place.manifest(www, { timeout: { time: 61 }, https: { cert_id: 1 } }).settle()
    await place.cli('state', 'forget', www, '--yes')
    await other.settle()
    const { code, err } = await place.cli('rollback', '--yes')
    const refusal = `${www} belongs to the workspace "staging" now; nothing was rolled back`
    expect([code, err]).toEqual([1, expect.stringContaining(refusal)])
  })

  it('is refused while it is in-doubt in its workspace', async () => {
    expect((await place.cli('state', 'forget', www, '--yes')).code).toBe(0)
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    expect((await other.cli('plan')).err).toContain('belongs to the workspace "default"')
  })
})

describe('state move', () => {
  beforeEach(() => place.settle())

  itLong('hands a domain over; the history stays', async () => {
    const before = await place.recorded(www)
    const moved = await place.json('state', 'move', 'WWW.example.com', '--to', 'staging', '--yes')
    expect(listSchemaErrors('move', moved)).toEqual([])
    expect(moved).toEqual({ format: 'edgewise.move/1', domains: 1, items: 2, to: 'staging' })
    expect(await other.recorded(www)).toEqual(before)
    expect((await place.json('state', 'list'))['domains']).toEqual([])
    expect((await place.json('state', 'history'))['applies']).toHaveLength(1)
    expect((await place.cli('plan')).err).toContain('belongs to the workspace "staging"')
    expect(await other.json('plan')).toMatchObject({
      changes: [
        { item: 'https', action: 'release' },
        { item: 'timeout', before: { time: '60' }, after: { time: '99' } },
      ],
    })
    await other.settle()
    expect(await fetchConfig(emulator, www)).toMatchObject({ timeout: { time: '99' } })
    expect((await other.cli('state', 'move', www, '--to', 'default', '--yes')).out).toBe(
      `Moved ${www} to the workspace "default".\n`,
    )
  })

  itLong('moves in-doubt items as they are', async () => {
    place.manifest(www, { timeout: { time: 61 }, https: { cert_id: 1 } })
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    expect((await place.cli('state', 'move', www, '--to', 'staging', '--yes')).code).toBe(0)
    expect({ items: await other.recorded(www) }).toMatchObject({
      items: { timeout: { status: 'in-doubt', candidates: [{ time: '60' }, { time: '61' }] } },
    })
  })

  it('notes that the manifest has to move, and that a workspace is new to the store', async () => {
    const move = ['state', 'move', www, '--yes', '--to']
    const first = await place.cli(...move, 'staging')
    expect(first.err).toContain('the store has no state of a workspace "staging" yet')
    expect(first.err).toContain('Move its manifest to that workspace: plan here refuses it')
    await other.cli('state', 'move', www, '--to', 'default', '--yes')
    expect((await place.cli(...move, 'staging')).err).not.toContain('has no state')
    expect((await place.cli('show', www)).err).toContain(
      'www.example.com belongs to the workspace "staging"; plan and apply refuse it here.',
    )
    const [{ id }] = (await place.json('state', 'history'))['applies'] as [{ id: string }]
    expect((await place.cli('show', www, '--at', id)).err).toContain(
      'It belongs to the workspace "staging" now.',
    )
  })

  itLong('makes a rollback of its domain refuse, and of others possible', async () => {
    for (const time of [60, 61]) {
      for (const domain of [www, 'b.example.com']) place.manifest(domain, { timeout: { time } })
      await place.settle()
    }
    await place.cli('state', 'move', www, '--to', 'staging', '--yes')
    const { code, err } = await place.cli('rollback', '--yes')
    const refusal = `${www} belongs to the workspace "staging" now; nothing was rolled back`
    expect([code, err]).toEqual([1, expect.stringContaining(refusal)])
    expect(err).toContain('--target')
    expect(err).not.toContain('manifests here')
    expect((await place.cli('rollback', '--yes', '--target', 'b.*')).code).toBe(0)
  })

  itLong('and back makes a rollback name the apply of the other workspace as such', async () => {
    await place.manifest(www, { timeout: { time: 61 } }).settle()
    await place.cli('state', 'move', www, '--to', 'staging', '--yes')
    await other.settle()
    const [{ id }] = (await other.json('state', 'history'))['applies'] as [{ id: string }]
    await other.cli('state', 'move', www, '--to', 'default', '--yes')
    const { err } = await place.cli('rollback', '--yes')
    expect(err).toContain(`recorded by ${id}, an apply of another workspace`)
  })

  it('asks, and moves nothing without consent', async () => {
    const asked: string[] = []
    place.ask = async (question) => {
      asked.push(question)
      return false
    }
    expect((await place.cli('state', 'move', www, '--to', 'staging')).code).toBe(1)
    expect(asked[0]).toContain(`Hand ${www} (2 items) over to the workspace "staging"?`)
    place.ask = null
    expect((await place.cli('state', 'move', www, '--to', 'staging')).err).toContain('--yes')
    expect((await place.json('state', 'list'))['domains']).toHaveLength(1)
  })

  it.each<[string, string[], string]>([
    ['an unrecorded domain', ['b.example.com', '--to', 'staging'], 'no state is recorded'],
    ['its own id', [www, '--to', 'default'], 'already that of the workspace "default"'],
    ['an invalid id', [www, '--to', 'a/b'], '1 to 64 letters'],
    ['no id', [www], "required option '--to <id>'"],
  ])('of %s is an error', async (_what, args, message) => {
    const { code, err } = await place.cli('state', 'move', ...args, '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining(message)])
    expect((await place.json('state', 'list'))['domains']).toHaveLength(1)
  })

  it('is refused while a rollout of the domain is open', async () => {
    const text = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${text}rollout: {waves: [1, 100%], pause: 1m}\n`)
    place
      .manifest(www, { timeout: { time: 61 }, https: { cert_id: 1 } })
      .manifest('a.example.com', { timeout: { time: 61 } })
    const [rollout] = await openRollout()
    expect(rollout).toMatchObject({ state: 'open' })
    const { code, err } = await place.cli('state', 'move', www, '--to', 'staging', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('is unfinished; nothing was moved')])
    expect(err).toContain('"edgewise rollout abort ')
  })
})

describe('state move of domains on hold', () => {
  const names = [www, 'b.example.com']
  const move = (from: Place, to: string, ...domains: string[]) =>
    from.cli('state', 'move', ...domains, '--to', to, '--yes')
  const findHeldIn = (workspace: string) =>
    place.findRolloutFiles().flatMap((path) => {
      const { id, state, onHold } = parseRollout(path, place.read(path))
      const held = Object.keys(onHold).toSorted()
      return path.includes(`/state/${workspace}/`) ? [{ id, state, held }] : []
    })
  const countHeld = async (workspace: Place) =>
    ((await workspace.json('plan'))['summary'] as { held: number }).held

  beforeEach(async () => {
    const text = place.read('edgewise.yaml')
    place.write('edgewise.yaml', `${text}rollout: {waves: [1, 100%], pause: 1m}\n`)
    for (const name of [...names, 'a.example.com']) place.manifest(name, { timeout: { time: 60 } })
    await place.settle()
    for (const name of [...names, 'a.example.com']) place.manifest(name, { timeout: { time: 61 } })
    const [rollout] = await openRollout()
    const [path = ''] = place.findRolloutFiles()
    if (rollout === undefined) throw new TypeError('expected a rollout')
    const onHold = selectDomains(rollout.values, [...names].toSorted())
    const endedAt = '2026-11-20T03:00:00.000Z'
    const ended = { ...rollout, state: 'stopped' as const, reason: 'worse', endedAt, onHold }
    place.write(path, formatRollout(ended))
    for (const name of names) other.manifest(name, { timeout: { time: 61 } })
  })

  itLong('keeps them on hold in the other workspace, one by one and back', async () => {
    expect(await countHeld(place)).toBe(2)
    const [{ id } = { id: '' }] = place.loadRollouts()
    const { code, err } = await move(place, 'staging', www)
    expect([code, err]).toEqual([0, expect.stringContaining(`Values of ${www} stay on hold there`)])
    expect(findHeldIn('staging')).toEqual([{ id, state: 'stopped', held: [www] }])
    expect(findHeldIn('default')).toMatchObject([{ id, held: ['b.example.com'] }])
    await move(place, 'staging', 'b.example.com')
    expect(findHeldIn('staging')).toMatchObject([{ id, held: [...names].toSorted() }])
    expect(findHeldIn('default')).toEqual([])
    expect(await countHeld(other)).toBe(2)
    expect((await other.cli('plan')).err).toContain(`by rollout ${id}, stopped: worse`)
    await move(other, 'default', www)
    expect(findHeldIn('default')).toMatchObject([{ id, held: [www] }])
    expect(findHeldIn('staging')).toMatchObject([{ id, held: ['b.example.com'] }])
  })
})

/** Interrupts an apply in the pause after its first wave. */
async function openRollout() {
  const interrupt = new AbortController()
  place.signal = interrupt.signal
  place.onSleep = async () => interrupt.abort('SIGINT')
  await place.cli('apply', '--yes')
  place.signal = new AbortController().signal
  place.onSleep = null
  return place.loadRollouts()
}
