// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const a = 'a.example.com'
const coded = { bcache: 'on', code: ['5XX'], cache_time: 1, cache_unit: 'hour' }
const cached = { bcache: 'on', code: ['5xx'], cache_time: '2', cache_unit: 'hour' }

setStage({ itemKeys: { error_bcache: 'cache_error_code' } })
beforeEach(() => {
  const text = place.read('edgewise.yaml')
  place.write(
    'edgewise.yaml',
    text.replace('error_bcache: error_bcache', 'error_bcache: cache_error_code') +
      'grouping: {groups: all, together: [[error_bcache, cache_error_code]]}\n',
  )
})

const showItems = async () => place.recorded(a)
const observe = (payload: JsonObject) => {
  place.write('observed.json', JSON.stringify({ [a]: { cache_error_code: payload } }))
  return place.json('drift', '--observed', 'observed.json')
}

describe('two items with the same name at the service', () => {
  it('are an error in one manifest, at its line', async () => {
    place.write(
      'domains/a.yaml',
      `domain: ${a}\nconfig:\n  cache_error_code: ${JSON.stringify(coded)}\n` +
        `  error_bcache: ${JSON.stringify(cached)}\n`,
    )
    const { code, out } = await place.cli('validate')
    expect([code, out]).toEqual([1, expect.stringContaining('domains/a.yaml:4:3')])
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'error_bcache and cache_error_code have the same name at the service, "cache_error_code"',
    )
  })

  itLong('switch by one write; state, drift and rollback show what the service has', async () => {
    await place.manifest(a, { cache_error_code: coded, timeout: { time: '10' } }).settle()
    place.manifest(a, { error_bcache: cached, timeout: { time: '20' } })
    const plan = await place.json('plan')
    expect(plan['writes']).toMatchObject([
      { config: { cache_error_code: cached, timeout: { time: '20' } } },
    ])
    expect((await place.cli('plan', '--item', 'error_bcache')).out).toMatch(
      / {2}- cache_error_code {2}emptied by error_bcache/,
    )
    await place.settle()
    expect(Object.keys(await showItems())).toEqual(['error_bcache', 'timeout'])
    expect(await fetchConfig(emulator, a)).toEqual({
      error_bcache: cached,
      timeout: { time: '20' },
    })
    expect(await fetchWrites(emulator)).toHaveLength(2)

    expect((await observe(cached))['summary']).toMatchObject({ verified: 1, live: 0 })
    expect((await observe(coded))['items']).toMatchObject([
      { item: 'error_bcache', kinds: ['live'], live: [{ op: 'remove', path: '' }] },
      { item: 'timeout', kinds: [] },
    ])

    const rolledBack = await place.cli('rollback', '--yes', '--item', 'error_bcache')
    expect([rolledBack.code, rolledBack.err]).toEqual([0, expect.any(String)])
    expect(await fetchConfig(emulator, a)).toEqual({
      cache_error_code: coded,
      timeout: { time: '20' },
    })
    expect(Object.keys(await showItems())).toEqual(['cache_error_code', 'timeout'])
  })

  it('are repaired together: a repair of the one that drifted needs the other', async () => {
    await place.manifest(a, { cache_error_code: coded }).settle()
    place.manifest(a, { error_bcache: cached })
    const drifted = { ...coded, cache_time: 7 }
    place.write('observed.json', JSON.stringify({ [a]: { cache_error_code: drifted } }))
    const repair = ['drift', '--observed', 'observed.json', '--repair', '--yes']
    const { code, err } = await place.cli(...repair, '--item', 'cache_error_code')
    expect([code, err]).toEqual([1, expect.stringContaining('needs error_bcache with it')])
    const whole = await place.cli(...repair, '--item', 'cache_error_code', '--include-pending')
    expect([whole.code, whole.err]).toEqual([0, expect.any(String)])
    expect(await fetchConfig(emulator, a)).toEqual({ error_bcache: cached })
    expect(Object.keys(await showItems())).toEqual(['error_bcache'])
  })

  it('come back from the service as the one that was sent', async () => {
    const off = { bcache: 'off', code: ['404'] }
    for (const item of ['error_bcache', 'cache_error_code']) {
      const { code, out } = await place.manifest(a, { [item]: off }).cli('apply', '--yes')
      expect([code, out]).toEqual([0, expect.not.stringContaining('returned')])
      expect(await showItems()).toMatchObject({ [item]: { status: 'confirmed' } })
      expect((await observe(off))['summary']).toMatchObject({ verified: 1, live: 0 })
    }
  })

  it('are imported by their shape, and replace each other', async () => {
    place.manifest(a, { error_bcache: cached })
    const importPayload = (payload: JsonObject, ...options: string[]) => {
      place.write('import.json', JSON.stringify({ [a]: { cache_error_code: payload } }))
      return place.json('import', 'import.json', ...options)
    }
    expect(await importPayload(coded)).toMatchObject({
      items: 0,
      skipped: [{ domain: a, item: 'cache_error_code' }],
    })
    expect(await importPayload(cached)).toMatchObject({ items: 1, skipped: [] })
    expect(Object.keys(await showItems())).toEqual(['error_bcache'])
    const off = { bcache: 'off', code: ['404'] }
    expect(await importPayload(off, '--replace')).toMatchObject({ items: 1, skipped: [] })
    place.manifest(a, { cache_error_code: coded })
    expect(await importPayload(coded)).toMatchObject({ code: 'usage' })
    expect(await importPayload(coded, '--replace')).toMatchObject({ items: 1 })
    expect(Object.keys(await showItems())).toEqual(['cache_error_code'])
  })
})
