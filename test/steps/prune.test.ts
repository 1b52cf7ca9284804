// @module-tag often
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { setFaults } from './cli.ts'
import { emulator, place, setStageInTime, time } from './stage.ts'

const www = 'www.example.com'
const dayMs = 86_400_000
setStageInTime()

/** Applies a timeout, then lets days pass. */
async function applyAndWait(seconds: number, days: number): Promise<void> {
  await place.manifest(www, { timeout: { time: seconds } }).settle()
  time.now += days * dayMs
}

async function loadHistory(): Promise<JsonObject[]> {
  const history = await place.json('state', 'history')
  expect(listSchemaErrors('history', history)).toEqual([])
  return (history['applies'] as JsonObject[]).toReversed()
}

/** Lists the folders and files of a kind that state has. */
function listStored(kind: 'journal' | 'batches'): string[] {
  const state = join(place.root, '.edgewise/state')
  const paths = readdirSync(state, { recursive: true, encoding: 'utf8' })
  const folder = paths.find((path) => path.endsWith(`/${kind}`)) ?? ''
  return existsSync(join(state, folder)) ? readdirSync(join(state, folder)) : []
}

describe('state prune', () => {
  let ids: string[]
  beforeEach(async () => {
    for (const [seconds, days] of [
      [60, 20],
      [61, 20],
      [62, 20],
    ] as const)
      await applyAndWait(seconds, days)
    ids = (await loadHistory()).map(({ id }) => String(id))
  })

  it('removes the state before old applies; the history still lists them', async () => {
    const pruned = await place.json('state', 'prune', '--keep', '30d', '--yes')
    expect(listSchemaErrors('prune', pruned)).toEqual([])
    expect(pruned).toMatchObject({ format: 'edgewise.prune/1', applies: ids.slice(0, 2), kept: 1 })
    expect(listStored('journal')).toEqual([`${ids[2]}.json`])
    expect(listStored('batches')).toEqual(ids.slice(2))
    const after = await loadHistory()
    expect(after.map(({ id }) => id)).toEqual(ids)
    expect(after.map((apply) => apply['pruned'])).toEqual([true, true, undefined])
    const { out } = await place.cli('state', 'history')
    expect(out.match(/pruned: can't be rolled back/g)).toHaveLength(2)
    for (const command of [
      ['rollback', ids[1] ?? '', '--yes'],
      ['show', www, '--at', ids[0] ?? ''],
    ])
      expect(await place.cli(...command)).toMatchObject({
        code: 1,
        err: expect.stringContaining('was pruned') as string,
      })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect((await place.cli('state', 'prune', '--keep', '30d')).out).toContain('Pruned 0 applies')
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await place.recorded(www)).toMatchObject({
      timeout: { candidates: [{ time: '61' }] },
    })
  })

  it('asks with a list, and prunes nothing without consent', async () => {
    const asked: string[] = []
    place.ask = async (question) => {
      asked.push(question)
      return false
    }
    const { code, out } = await place.cli('state', 'prune', '--keep', '30d')
    expect([code, asked]).toEqual([1, [expect.stringContaining('Prune 2 applies?')]])
    for (const id of ids.slice(0, 2)) expect(out).toContain(id)
    place.ask = null
    expect((await place.cli('state', 'prune', '--keep', '30d')).err).toContain('--yes')
    expect(listStored('batches')).toEqual(ids)
  })

  it('keeps the last change and all later applies, and says so', async () => {
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    place.manifest(www, { timeout: { time: 63 } })
    expect((await place.cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    time.now += 50 * dayMs
    const { out, err } = await place.cli('state', 'prune', '--keep', '30d', '--yes')
    expect(out).toMatch(/Pruned 2 applies that ended before \S+Z; 2 can be rolled back\./)
    expect(err).toContain(`Apply ${ids[2]} and all later ones are kept: it is unfinished, or`)
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await place.recorded(www)).toMatchObject({
      timeout: { candidates: [{ time: '61' }] },
    })
  })

  it('refuses an invalid age', async () => {
    for (const keep of ['90', '-1d', '3w', ''])
      expect((await place.cli('state', 'prune', '--keep', keep, '--yes')).err).toContain('90d')
  })
})

describe('the end of an apply', () => {
  it('prunes applies of more than 90 days ago', async () => {
    await applyAndWait(60, 50)
    await applyAndWait(61, 50)
    const [first = '', second = ''] = (await loadHistory()).map(({ id }) => String(id))
    const { code, err } = await place
      .manifest(www, { timeout: { time: 62 } })
      .cli('apply', '--yes', '--json')
    expect([code, err]).toEqual([0, expect.stringMatching(/Pruned 1 apply that ended before /)])
    expect((await loadHistory()).map((apply) => apply['pruned'])).toEqual([
      true,
      undefined,
      undefined,
    ])
    expect(listStored('batches')).not.toContain(first)
    expect(listStored('batches')).toContain(second)
    expect((await place.cli('rollback', second, '--yes')).code).toBe(0)
  })
})
