import { describe, expect, it } from 'vitest'
import {
  liftCommon,
  maxParts,
  type LiftedConfigs,
} from '../../src/manifest/manifests/lift-common.ts'
import type { JsonObject } from '../../src/core/model/json.ts'
import { fc, itLong, itOften, runs } from '../runs.ts'

const https = { cert_id: 1001, force_https: 301, http2: 'on' }
const timeout = { time: '60' }
const origin = (n: number) => ({ default_master: `192.0.2.${n}`, origin_mode: 'default' })

/** Creates a fleet of domains d0, d1, … with these configurations. */
const createFleet = (...configs: JsonObject[]) =>
  new Map(configs.map((config, i) => [`d${i}.example.com`, config]))

/** Recombines the configuration of each domain; an item in two parts is an error. */
function recombine(lifted: LiftedConfigs): Map<string, JsonObject> {
  return new Map(
    [...lifted.domains].map(([domain, { takes, config }]) => {
      const parts = [...takes.map((i) => lifted.common[i] ?? {}), config]
      const names = parts.flatMap((part) => Object.keys(part))
      expect(new Set(names).size).toBe(names.length)
      return [domain, Object.assign({}, ...parts) as JsonObject]
    }),
  )
}

describe('liftCommon', () => {
  it('extracts the common part, and leaves the rest', () => {
    const lifted = liftCommon(
      createFleet(...[1, 2, 3, 4].map((n) => ({ https, timeout, origin: origin(n) }))),
    )
    expect(lifted.common).toEqual([{ https, timeout }])
    expect(lifted.domains.get('d2.example.com')).toEqual({
      takes: [0],
      config: { origin: origin(3) },
    })
  })

  it('gives a domain only parts that fit all of its values', () => {
    const others: JsonObject[] = [{ https: { ...https, cert_id: 7 }, timeout }, { timeout }, {}]
    const lifted = liftCommon(
      createFleet(
        { https, timeout },
        { https, timeout },
        { https, timeout },
        { https, timeout },
        ...others,
      ),
    )
    expect(lifted.common).toEqual([{ https, timeout }])
    expect([...lifted.domains.values()].map(({ takes }) => takes.length)).toEqual([
      1, 1, 1, 1, 0, 0, 0,
    ])
    expect(lifted.domains.get('d4.example.com')?.config).toEqual(others[0])
  })

  it('extracts a second part if the first does not fit all', () => {
    const lifted = liftCommon(
      createFleet(
        ...[1, 2, 3, 4, 5, 6].map((n): JsonObject =>
          n < 4 ? { https, timeout, origin: origin(9) } : { https, timeout },
        ),
      ),
    )
    expect(lifted.common).toEqual([{ https, timeout }, { origin: origin(9) }])
    expect(lifted.domains.get('d0.example.com')).toEqual({ takes: [0, 1], config: {} })
  })

  it.each([
    ['only two domains', createFleet({ https, timeout }, { https, timeout })],
    [
      'less than half of the domains with the item',
      createFleet(...[1, 1, 1, 2, 3, 4, 5].map((n) => ({ origin: origin(n) }))),
    ],
    [
      'a value too short to be worth a name',
      createFleet(...[1, 2, 3].map(() => ({ cache_share: {} }))),
    ],
    ['no domains', createFleet()],
  ])('extracts nothing for %s', (_what, configs) => {
    const lifted = liftCommon(configs)
    expect(lifted.common).toEqual([])
    expect(recombine(lifted)).toEqual(configs)
  })

  it('never extracts excluded items', () => {
    const configs = createFleet(...[1, 2, 3].map(() => ({ https, timeout })))
    expect(liftCommon(configs, new Set(['https'])).common).toEqual([{ timeout }])
  })

  itOften('preserves each domain, for any order, with at most the allowed number of parts', () => {
    const item = fc.constantFrom('https', 'timeout', 'origin', 'referer', 'extend', 'rate_limit')
    const config = fc.dictionary(
      item,
      fc.constantFrom(https, timeout, origin(1), 'a text of some length', 'another text'),
    )
    fc.assert(
      fc.property(fc.array(config, { maxLength: 12 }), (configs) => {
        const all = createFleet(...configs)
        const lifted = liftCommon(all)
        expect(recombine(lifted)).toEqual(all)
        expect(lifted.common.length).toBeLessThanOrEqual(maxParts)
        lifted.common.forEach((_part, i) => {
          expect(
            [...lifted.domains.values()].filter(({ takes }) => takes.includes(i)).length,
          ).toBeGreaterThanOrEqual(3)
        })
        expect(liftCommon(new Map([...all].toReversed())).common).toEqual(lifted.common)
      }),
      { numRuns: runs(60, 900) },
    )
  })

  itLong('extracts the common part of many domains', () => {
    const configs = Array.from({ length: runs(1_000, 10_000) }, (_, i) => ({
      https: { ...https, cert_id: i % 5 },
      timeout: { time: String(30 + (i % 3)) },
      origin: origin(i % 200),
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_each, n) => [`item${n}`, { value: i % (n + 1) }]),
      ),
    }))
    expect(liftCommon(createFleet(...configs)).common.length).toBeGreaterThan(0)
  })
})
