import { lstatSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import parse from 'parse-prometheus-text-format'
import { beforeEach, describe, expect, it } from 'vitest'
import { fetchWrites, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const [www, api] = ['www.example.com', 'api.example.com']
setStage()
beforeEach(() => setFaults(emulator))

const apply = (...args: string[]) =>
  place.cli('apply', '--yes', '--metrics-file', 'edgewise.prom', ...args)

/** Reads the metrics by their names; with one label beside the common ones by its values. */
function readMetrics(): Record<string, unknown> {
  const families = parse(place.read('edgewise.prom')) ?? []
  return Object.fromEntries(
    families.map(({ name, metrics }) => {
      const values = metrics.map(({ labels, value, ...histogram }) => {
        const { workspace, account, ...others } = labels ?? {}
        // The parser drops the labels of a histogram.
        if (value !== undefined) expect([workspace, account]).toEqual(['default', 'default'])
        return [Object.values(others).join(), value === undefined ? histogram : Number(value)]
      })
      const [first] = values
      return [
        name.replace('edgewise_', ''),
        values.length === 1 && first?.[0] === '' ? first[1] : Object.fromEntries(values),
      ]
    }),
  )
}

const state = (name: string) => ({ [name]: 1 })

describe('apply --metrics-file', () => {
  it('counts what was planned, confirmed and recorded', async () => {
    place.manifest(www, { timeout: { time: 60 }, origin_host: { host: 'a.example.net' } })
    place.manifest(api, { timeout: { time: 60 } })
    expect((await apply()).code).toBe(0)
    const metrics = readMetrics()
    expect(metrics).toMatchObject({
      apply_state: { running: 0, failed: 0, ...state('done') },
      plan_changes: { set: 3, change: 0, unset: 0, release: 0 },
      apply_parts: { confirmed: 3, refused: 0, 'in-doubt': 0, 'not-sent': 0 },
      items: { confirmed: 3, 'in-doubt': 0, unset: 0 },
      confirmation_age_seconds: { buckets: { 3600: '3', '+Inf': '3' } },
    })
    const writes = metrics['apply_writes'] as Record<string, number>
    expect(writes['confirmed']).toBe((await fetchWrites(emulator)).length)
    expect(writes['confirmed']).toBeLessThan(3)
    const [start, end] = [metrics['apply_start_time_seconds'], metrics['apply_end_time_seconds']]
    expect(end).toBeCloseTo(Number(start) + Number(metrics['apply_duration_seconds']), 1)
    expect(metrics['apply_lock_wait_seconds']).toBeGreaterThanOrEqual(0)
    expect(metrics['budget_calls_left']).toBeGreaterThan(0)
  })

  itLong('counts what was refused and is in-doubt', async () => {
    place
      .manifest(www, { timeout: { time: 60 } })
      .manifest(api, { origin_host: { host: 'a.example.net' } })
    await setFaults(emulator, { kind: 'refuse', domain: www, probability: 1 })
    expect((await apply()).code).toBe(3)
    expect(readMetrics()).toMatchObject({
      apply_state: state('incomplete'),
      apply_writes: { confirmed: 1, refused: 1 },
    })
    await setFaults(emulator, { kind: 'reset-after', probability: 1 })
    expect((await apply()).code).toBe(3)
    expect(readMetrics()).toMatchObject({
      apply_writes: { confirmed: 0, 'in-doubt': 1 },
      items: { confirmed: 1, 'in-doubt': 1 },
    })
  })

  it('says that an apply failed, and leaves out what is unknown', async () => {
    place.manifest(www, { https: { cert_id: 0 } })
    expect((await apply()).code).toBe(1)
    const metrics = readMetrics()
    expect(metrics).toMatchObject({ apply_state: state('failed'), plan_changes: { set: 1 } })
    expect(metrics).toHaveProperty('apply_end_time_seconds')
    for (const name of ['apply_writes', 'items', 'budget_calls_left'])
      expect(metrics).not.toHaveProperty(name)
  })

  it('says while an apply runs that it does, in a file that is never half written', async () => {
    place.manifest(www, { timeout: { time: 60 } }).write('edgewise.prom', 'edgewise_old 1\n')
    const link = `${place.root}-link.prom`
    symlinkSync(join(place.root, 'edgewise.prom'), link)
    let meanwhile: Record<string, unknown> | null = null
    place.onStderr = () => (meanwhile ??= readMetrics())
    await setFaults(emulator, { kind: 'error', probability: 1 })
    expect((await place.cli('apply', '--yes', '--metrics-file', link)).code).toBe(3)
    place.onStderr = null
    expect(meanwhile).toMatchObject({ apply_state: state('running') })
    expect(meanwhile).not.toHaveProperty('apply_end_time_seconds')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    rmSync(link)
    expect(readdirSync(place.root).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('sends nothing if the file cannot be written', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    const { code, err } = await place.cli('apply', '--yes', '--metrics-file', 'no/edgewise.prom')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('is written beside a report in Markdown', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    expect((await apply('--report', 'apply.md')).code).toBe(0)
    expect(place.read('apply.md')).toContain('Applied')
    expect(readMetrics()).toMatchObject({ apply_state: state('done') })
  })
})
