import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/core/model/json.ts'
import { openState } from '../../src/state/store/open-state.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { listSchemaErrors as schemaFaults } from '../report/output-schema.ts'
import { setFaults, fetchConfig, Place, fetchWrites } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

const [a, b] = ['a.example.com', 'b.example.com']
setStage()

const time = (seconds: number) => ({ timeout: { time: String(seconds) } })
const ids = async () =>
  ((await place.json('state', 'history'))['applies'] as { id: string }[]).map(({ id }) => id)
const listItems = async (domain: string) => await place.recorded(domain)
const applied = (...configs: [string, JsonObject][]) => {
  for (const [domain, config] of configs) place.manifest(domain, config)
  return place.settle()
}

describe('rollback', () => {
  itLong(
    'reverts the last apply, and notes that the manifests still desire its changes',
    async () => {
      await applied([a, { ...time(10), https: { cert_id: 1 } }], [b, time(20)])
      const before = [await fetchConfig(emulator, a), await fetchConfig(emulator, b)]
      await applied([a, { ...time(11), https: { cert_id: 1 } }], [b, time(21)])
      const [bad] = await ids()
      const { code, out, err } = await place.cli('rollback', '--yes')
      expect({ code, err }).toMatchObject({
        code: 0,
        err: expect.stringContaining(`the state before apply ${bad} by`) as string,
      })
      expect([await fetchConfig(emulator, a), await fetchConfig(emulator, b)]).toEqual(before)
      expect(out).toContain('Plan: 2 to change')
      expect(err).toMatch(/rolled-back values of 2 items. They are on hold: .*\(git revert\)/)
      expect((await ids())[0]).toMatch(/^\d{8}T\d{6}Z-[0-9a-f]{4}-rollback$/)
      expect((await place.json('plan'))['summary']).toMatchObject({ change: 0, held: 2 })
      place.manifest(a, { ...time(10), https: { cert_id: 1 } }).manifest(b, time(20))
      expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    },
  )

  itLong('of a named apply touches only its items, and replaces later values of them', async () => {
    await applied([a, time(10)], [b, time(20)])
    await applied([a, time(11)], [b, time(20)])
    const [second = ''] = await ids()
    await applied([a, time(12)], [b, time(21)])
    const [third] = await ids()
    const { code, err } = await place.cli('rollback', second, '--yes')
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining(
        `are replaced too: 1 domain (${a}), recorded by ${third}`,
      ) as string,
    })
    expect([await fetchConfig(emulator, a), await fetchConfig(emulator, b)]).toMatchObject([
      time(10),
      time(21),
    ])
  })

  itLong('skips applies that changed nothing', async () => {
    await applied([a, time(10)])
    await applied([a, time(11)])
    await setFaults(emulator, { kind: 'refuse', item: 'timeout', probability: 1 })
    expect((await place.manifest(a, time(12)).cli('apply', '--yes')).code).toBe(3)
    await setFaults(emulator)
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, a)).toMatchObject(time(10))
  })

  it('is not undone by a second rollback, unless named', async () => {
    await applied([a, time(10)])
    await applied([a, time(11)])
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    const [itself = ''] = await ids()
    expect(await place.cli('rollback', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`the last apply, ${itself}, was a rollback itself`) as string,
    })
    expect((await place.cli('rollback', itself, '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, a)).toMatchObject(time(11))
  })

  it('without a difference does nothing', async () => {
    await applied([a, time(10)])
    await applied([a, time(11)])
    const [second = ''] = await ids()
    await applied([a, time(10)])
    const before = (await fetchWrites(emulator)).length
    const { code, out, err } = await place.cli('rollback', second, '--yes')
    expect({ code, out, err }).toMatchObject({
      code: 0,
      out: 'No changes.\n',
      err: expect.stringContaining('already reverted') as string,
    })
    expect(await fetchWrites(emulator)).toHaveLength(before)
    expect(await ids()).toHaveLength(3)
  })

  it('unsets new items, removes them from state, and lists irreversible items', async () => {
    await applied([a, time(10)])
    await applied([
      a,
      {
        ...time(10),
        origin_host: { host: 'o.example.com' },
        connect_timeout: { origin_connect_timeout: '5' },
      },
    ])
    const { code, err } = await place.cli('rollback', '--yes')
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining(
        "can't be rolled back:\n  connect_timeout of a.example.com: it was not recorded before, " +
          'and the service\n  documents no way to unset it\n',
      ) as string,
    })
    expect(await fetchConfig(emulator, a)).toMatchObject({
      origin_host: { host: a },
      connect_timeout: { origin_connect_timeout: '5' },
    })
    expect(Object.keys(await listItems(a)).toSorted()).toEqual(['connect_timeout', 'timeout'])
    expect((await place.manifest(a, time(10)).json('plan'))['changes']).toMatchObject([
      { item: 'connect_timeout', action: 'release' },
    ])
  })

  it('fails if nothing can be rolled back', async () => {
    await applied([a, time(10)])
    const failed = await place.json('rollback', '--yes')
    expect(schemaFaults('error', failed)).toEqual([])
    expect(failed).toMatchObject({
      code: 'irreversible',
      message: expect.stringContaining(`timeout of ${a} (it was not recorded`) as string,
    })
    expect((await place.cli('rollback', '--yes')).code).toBe(1)
  })

  itLong('writes released items again, and restores a list that another item emptied', async () => {
    const list = (...entries: string[]) => ({ list: entries })
    await applied([a, { ...time(10), ip_black_list: list('192.0.2.1') }])
    await applied([a, { ip_white_list: list('192.0.2.2') }])
    expect(await fetchConfig(emulator, a)).not.toHaveProperty('ip_black_list')
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, a)).toMatchObject({
      ...time(10),
      ip_black_list: { list: ['192.0.2.1'] },
    })
    expect(await fetchConfig(emulator, a)).not.toHaveProperty('ip_white_list')
    place.manifest(a, { ...time(10), ip_black_list: list('192.0.2.1') })
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  itLong('restores a domain that is in neither manifests nor state', async () => {
    await applied([a, time(10)], [b, time(20)])
    rmSync(join(place.root, `domains/${b}.yaml`))
    await place.settle()
    expect(((await place.json('state', 'list'))['domains'] as object[]).length).toBe(1)
    expect(await place.cli('rollback', '--target', 'c.*', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('changed no domain that matches "c.*"') as string,
    })
    expect((await place.cli('rollback', '--target', 'b.*', '--yes')).code).toBe(0)
    expect(await listItems(b)).toMatchObject({ timeout: { candidates: [{ time: '20' }] } })
  })

  itLong('rolls back all waves of a rollout, or a named one', async () => {
    await applied([a, time(10)], [b, time(20)])
    await rollout('r1', [a, 11, 10], [b, 21, 20])
    for (const words of [['rollback'], ['rollback', 'r1']]) {
      const { out, err } = await place.cli(...words)
      expect({ out, err }).toMatchObject({
        out: expect.stringContaining('Plan: 2 to change') as string,
        err: expect.stringContaining('before the 2 applies from r1-w1') as string,
      })
    }
    expect((await place.cli('rollback', 'r1-w2')).out).toContain('Plan: 1 to change')
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect([await fetchConfig(emulator, a), await fetchConfig(emulator, b)]).toMatchObject([
      time(10),
      time(20),
    ])
  })

  itLong('of an item changed by several waves restores the value before the first', async () => {
    await applied([a, time(10)])
    await rollout('r1', [a, 11, 10], [a, 12, 11])
    expect((await place.cli('rollback', '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, a)).toMatchObject(time(10))
  })

  itLong('respects guards, selection and consent like an apply', async () => {
    await applied([a, time(10)], [b, time(20)])
    await applied([a, time(11)], [b, time(21)])
    expect(await place.cli('rollback')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--yes') as string,
    })
    place.ask = async () => false
    expect(await place.cli('rollback')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^Rollback cancelled: nothing was sent\.$/m) as string,
    })
    expect((await place.cli('rollback', '--target', a, '--yes')).code).toBe(0)
    expect([await fetchConfig(emulator, a), await fetchConfig(emulator, b)]).toMatchObject([
      time(10),
      time(21),
    ])
    const guarded = new Place(emulator.url, `guards: {protect: [${b}]}\n`, { root: place.root })
    const [, bad = ''] = await ids()
    expect(await guarded.cli('rollback', bad, '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('protected') as string,
    })
    expect(await fetchConfig(emulator, b)).toMatchObject(time(21))
  })

  it('refuses an unknown apply, and suggests one', async () => {
    expect(await place.cli('rollback', '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining('nothing has been applied yet') as string,
    })
    await applied([a, time(10)])
    const [first = ''] = await ids()
    expect(await place.cli('rollback', first.slice(0, -1), '--yes')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Did you mean "${first}"?`) as string,
    })
  })

  itLong('needs no valid manifests', async () => {
    await applied([a, time(10)])
    await applied([a, time(11)])
    place.write(`domains/${a}.yaml`, '}')
    expect((await place.cli('apply', '--yes')).code).toBe(1)
    const { code, err } = await place.cli('rollback', '--yes')
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining('rolled-back values of 1 item') as string,
    })
    expect(await fetchConfig(emulator, a)).toMatchObject(time(10))
  })

  itLong('prints JSON events like an apply', async () => {
    await applied([a, time(10)])
    await applied([a, { ...time(11), connect_timeout: { origin_connect_timeout: '5' } }])
    const { code, out, err } = await place.cli('rollback', '--yes', '--json')
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining('connect_timeout of a') as string,
    })
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
    for (const event of events) expect(schemaFaults('apply-event', event)).toEqual([])
    expect(events.at(-1)).toMatchObject({ type: 'apply.finished', confirmed: 1 })
  })

  itLong('writes an earlier secret only if its value is still available', async () => {
    const signed = {
      visit_timestamp: {
        pattern: '.*',
        time_format: 'timestamp',
        key: '${secret:signing}',
        deadtime: 60,
        req_uri_type: 1,
      },
    }
    // Replaces the workspace file.
    new Place(emulator.url, 'secrets: {signing: {env: SIGNING}}\n', { root: place.root })
    place.env['SIGNING'] = 'the-first-key'
    await applied([a, signed], [b, time(20)])
    place.env['SIGNING'] = 'the-second-key'
    await applied([a, signed], [b, time(21)])
    const lost = await place.cli('rollback', '--yes')
    expect(lost).toMatchObject({
      code: 0,
      err: expect.stringMatching(
        /visit_timestamp of a.*\s+.*whose\s+value\s+is\s+not\s+available \(signing\)/,
      ) as string,
    })
    expect(await fetchConfig(emulator, b)).toMatchObject(time(20))
    expect(await fetchConfig(emulator, a)).toMatchObject({
      visit_timestamp: { key: 'the-second-key' },
    })
    const [, bad = ''] = await ids()
    place.env['SIGNING'] = 'the-first-key'
    // No manifest mentions the domain any more.
    place.manifest(a, time(10))
    expect((await place.cli('rollback', bad, '--yes')).code).toBe(0)
    expect(await fetchConfig(emulator, a)).toMatchObject({
      visit_timestamp: { key: 'the-first-key' },
    })
  })
})

/**
 * Records a rollout as its applies would: one per wave, each changing the timeout of one domain
 * from the last number to the first.
 */
async function rollout(
  id: string,
  ...waves: [domain: string, to: number, from: number][]
): Promise<void> {
  const state = { store: 'dir' as const, branch: '', remote: '', path: '.edgewise/state' }
  const key = { root: place.root, id: 'default', address: emulator.url, account: 'default', state }
  const { store } = await openState(key, {
    disk: realDisk,
    processName: 'rollout',
    openGit: async () => null,
  })
  for (const [i, [domain, to, from]] of waves.entries()) {
    const recorded = await store.load()
    const about = {
      id: `${id}-w${i + 1}`,
      commit: null,
      author: 'somebody',
      startedAt: new Date(Date.now() + 1000 + i).toISOString(),
    }
    const counts = { confirmed: 1, refused: 0, inDoubt: 0, notSent: 0 }
    const apply = { ...about, endedAt: null, writes: counts, outcome: 'unfinished' as const }
    const item = (seconds: number, by: string) => ({
      status: 'confirmed' as const,
      candidates: [{ time: String(seconds) }],
      at: about.startedAt,
      apply: by,
      origin: 'write' as const,
    })
    const after = new Map([
      [domain, new Map([...(recorded.get(domain) ?? []), ['timeout', item(to, apply.id)]])],
    ])
    await store.recordIntents(apply, {
      number: 1,
      before: new Map([[domain, new Map([['timeout', item(from, 'earlier')]])]]),
      intents: new Map([[1, after]]),
      landWithinMs: 40_000,
    })
    await store.recordOutcomes(apply, [1], after)
    await store.endApply({ ...apply, endedAt: about.startedAt, outcome: 'complete' })
  }
}
