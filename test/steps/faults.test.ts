// @module-tag often
import { beforeEach, describe, expect, it } from 'vitest'
import { DefectAfterWrites } from '../../src/core/model/edgewise-error.ts'
import { isSameJson, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { setFaults, fetchConfig, Place, fetchWrites } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'

const www = 'www.example.com'
const domains = Array.from({ length: 5 }, (_, i) => `d${i}.example.com`)

setStage()
beforeEach(() => setFaults(emulator))

interface Item {
  candidates: Json[]
  status: string
  unknown?: boolean
}

async function record(domain: string): Promise<Record<string, Item>> {
  const shown = { items: await place.recorded(domain) }
  return (shown['items'] ?? {}) as unknown as Record<string, Item>
}

/** State always allows for the live configuration. */
async function expectTruth(domain: string): Promise<void> {
  const truth = await fetchConfig(emulator, domain)
  for (const [item, { candidates, unknown }] of Object.entries(await record(domain))) {
    const possible =
      unknown === true || candidates.some((candidate) => isSameJson(candidate, truth[item]))
    expect([domain, item, possible, truth[item], candidates]).toEqual([
      domain,
      item,
      true,
      truth[item],
      candidates,
    ])
  }
}

const before: JsonObject = {
  timeout: { time: '60' },
  ip_black_list: { list: ['192.0.2.1'], mode: 'cover' },
}
const after: JsonObject = {
  timeout: { time: '61' },
  ip_black_list: { list: ['192.0.2.1', '192.0.2.2'], mode: 'cover' },
}

describe.each([
  ['error', [3]],
  ['reset-before', [3]],
  ['reset-after', [3]],
  ['truncated', [3]],
  ['not-json', [3]],
  ['unauthorized-from', [1]],
] as const)('%s on every call', (kind, codes) => {
  it('records only certain outcomes, and the next apply confirms all', async () => {
    await place.manifest(www, before).settle()
    await setFaults(emulator, { kind })
    const { code } = await place.manifest(www, after).cli('apply', '--yes')
    expect(codes).toContain(code)
    await expectTruth(www)
    const doubted = Object.values(await record(www)).filter((item) => item.status === 'in-doubt')
    expect(doubted.length > 0).toBe(kind !== 'unauthorized-from')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)

    await setFaults(emulator)
    await place.settle()
    expect(await fetchConfig(emulator, www)).toEqual(after)
    for (const item of Object.values(await record(www)))
      expect(item).toMatchObject({ status: 'confirmed' })
  })

  it('reverted manifests are written again, unless certainly nothing was saved', async () => {
    await place.manifest(www, before).settle()
    await setFaults(emulator, { kind })
    await place.manifest(www, after).cli('apply', '--yes')
    await setFaults(emulator)
    const count = (await fetchWrites(emulator)).length
    await place.manifest(www, before).settle()
    expect(await fetchConfig(emulator, www)).toEqual(before)
    expect((await fetchWrites(emulator)).length > count).toBe(kind !== 'unauthorized-from')
  })
})

it.each(['error', 'reset-after', 'truncated'])(
  '%s once is retried within the apply, which succeeds',
  async (kind) => {
    await setFaults(emulator, { kind, on: [1] })
    await place.manifest(www, { timeout: { time: 60 } }).settle()
    expect((await record(www))['timeout']).toMatchObject({
      status: 'confirmed',
      candidates: [{ time: '60' }],
    })
  },
)

it('the old and the new value are the in-doubt candidates, and the plan shows it', async () => {
  await place.manifest(www, { timeout: { time: 60 } }).settle()
  await setFaults(emulator, { kind: 'reset-after' })
  await place.manifest(www, { timeout: { time: 61 } }).cli('apply', '--yes')
  expect((await record(www))['timeout']).toMatchObject({
    status: 'in-doubt',
    candidates: [{ time: '60' }, { time: '61' }],
  })
  expect(await place.json('state', 'list')).toMatchObject({
    domains: [{ domain: www, items: 1, inDoubt: 1 }],
  })
  expect(await place.json('plan')).toMatchObject({
    changes: [{ item: 'timeout', reason: 'in-doubt', after: { time: '61' } }],
  })
  expect((await place.cli('plan')).out).toContain('in-doubt; written again')
})

describe('a refusal', () => {
  const all = (config: JsonObject) => {
    for (const domain of domains) place.manifest(domain, config)
    return place
  }

  it('of one of several domains: the others are confirmed, it is unchanged', async () => {
    await all({ timeout: { time: 60 } }).settle()
    await setFaults(emulator, { kind: 'refuse', domain: domains[2] ?? '' })
    const { code, err } = await all({ timeout: { time: 61 } }).cli('apply', '--yes')
    expect(code).toBe(3)
    expect(err).toMatch(/domains\/d2\.example\.com\.yaml:1:\d+ timeout of d2\.example\.com/)
    for (const domain of domains) {
      const time = domain === domains[2] ? '60' : '61'
      expect([domain, await fetchConfig(emulator, domain)]).toEqual([domain, { timeout: { time } }])
      expect((await record(domain))['timeout']).toMatchObject({
        status: 'confirmed',
        candidates: [{ time }],
      })
    }
    expect(await place.json('plan')).toMatchObject({
      changes: [{ domain: domains[2], before: { time: '60' } }],
    })
  })

  it('of one item: the other items are confirmed everywhere', async () => {
    enterPlace(new Place(emulator.url, 'grouping: {groups: all}\n'))
    await setFaults(emulator, { kind: 'refuse', item: 'https', named: false })
    expect(
      (
        await all({ timeout: { time: 60 }, https: { cert_id: 1 }, range_back_source: 'off' }).cli(
          'apply',
          '--yes',
        )
      ).code,
    ).toBe(3)
    for (const domain of domains) {
      expect(await fetchConfig(emulator, domain)).toEqual({
        timeout: { time: '60' },
        range_back_source: 'off',
      })
      expect((await record(domain))['timeout']).toMatchObject({ status: 'confirmed' })
      await expectTruth(domain)
    }
    await setFaults(emulator)
    await place.settle()
  })

  it('of a partly saved write is bisected', async () => {
    await all({ timeout: { time: 60 } }).settle()
    await setFaults(emulator, { kind: 'partial', domain: domains[4] ?? '' })
    expect((await all({ timeout: { time: 61 } }).cli('apply', '--yes')).code).toBe(3)
    for (const domain of domains) await expectTruth(domain)
  })
})

it('a rewritten value is reported once, and is no difference afterwards', async () => {
  await setFaults(emulator, { kind: 'rewrite' })
  await place.manifest(www, { timeout: { time: 60 } }).settle()
  const count = (await fetchWrites(emulator)).length
  await place.settle()
  expect(await fetchWrites(emulator)).toHaveLength(count)
})

describe('a defect of the program', () => {
  const failing = (word: string) => {
    place.onStderr = (text) => {
      if (text.includes(word)) throw new TypeError('a defect')
    }
  }
  beforeEach(() => {
    place.manifest(www, after)
    place.onStderr = null
  })

  it('after writes may have been sent is reported, and the next apply confirms all', async () => {
    failing('confirmed')
    await expect(place.cli('apply', '--yes')).rejects.toBeInstanceOf(DefectAfterWrites)
    place.onStderr = null
    await expectTruth(www)
    await place.settle()
  })

  it('before the first write is thrown unchanged', async () => {
    failing('note')
    await expect(place.cli('apply', '--yes')).rejects.toThrow('a defect')
    place.onStderr = null
    expect(await fetchWrites(emulator)).toEqual([])
  })
})
