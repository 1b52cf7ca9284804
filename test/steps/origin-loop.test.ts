import { expect, it } from 'vitest'
import { createLoopFinder } from '../../src/core/effects/requests/find-domain.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { place, setStage } from './stage.ts'

setStage()

const origin = (master: string, slave?: string): JsonObject => ({
  origin: { default_master: master, ...(slave === undefined ? {} : { default_slave: slave }) },
})

/** Lists the loops that `validate` finds: the domain's file, and the origin. */
async function find(domains: Record<string, JsonObject>): Promise<string[]> {
  for (const [i, [domain, config]] of Object.entries(domains).entries())
    place.write(`domains/${i}.yaml`, JSON.stringify({ domain, config }))
  const { code, out } = await place.cli('validate', '--json')
  expect(code).toBe(0)
  const { diagnostics } = JSON.parse(out) as { diagnostics: Record<string, string>[] }
  return diagnostics
    .filter((each) => each['code'] === 'origin-loop')
    .map(({ severity, domain, item, detail }) => `${severity} ${domain} ${item} ${detail}`)
}

const start = (host: string, domain: string) =>
  `requests to ${host} come back to ${domain}. Name a server`

it.each<[string, Record<string, JsonObject>, [domain: string, item: string, host: string][]]>([
  ['itself', { 'a.test.com': origin('a.test.com') }, [['a.test.com', 'origin', 'a.test.com']]],
  [
    'itself as a backup',
    { 'a.test.com': origin('192.0.2.1', 'o.test.net,a.test.com') },
    [['a.test.com', 'origin', 'a.test.com']],
  ],
  [
    'itself by new_origin',
    { 'a.test.com': { new_origin: [{ origin: 'a.test.com', protocol: 'http' }] } },
    [['a.test.com', 'new_origin', 'a.test.com']],
  ],
  [
    'itself by tos_origin',
    {
      'a.test.com': {
        tos_origin: [{ isp: 'default', ips: ['b.test.com', 'a.test.com'], group_sort: 1 }],
      },
    },
    [['a.test.com', 'tos_origin', 'a.test.com']],
  ],
  [
    'a domain that leads back',
    { 'a.test.com': origin('b.test.com'), 'b.test.com': origin('a.test.com') },
    [
      ['a.test.com', 'origin', 'b.test.com'],
      ['b.test.com', 'origin', 'a.test.com'],
    ],
  ],
  [
    'three domains, and one that leads into their loop',
    {
      'a.test.com': origin('b.test.com'),
      'b.test.com': origin('c.test.com,192.0.2.1'),
      'c.test.com': origin('a.test.com'),
      'd.test.com': origin('a.test.com'),
    },
    [
      ['a.test.com', 'origin', 'b.test.com'],
      ['b.test.com', 'origin', 'c.test.com'],
      ['c.test.com', 'origin', 'a.test.com'],
    ],
  ],
  [
    'a name below a wildcard',
    { '.test.com': origin('www.test.com') },
    [['.test.com', 'origin', 'www.test.com']],
  ],
  [
    'a wildcard that leads back',
    { 'a.test.net': origin('x.test.com'), '.test.com': origin('a.test.net') },
    [
      ['a.test.net', 'origin', 'x.test.com'],
      ['.test.com', 'origin', 'a.test.net'],
    ],
  ],
])('warns of an origin that is %s', async (_, domains, loops) => {
  expect(await find(domains)).toEqual(
    loops.map(([domain, item, host]) =>
      expect.stringContaining(`warning ${domain} ${item} ${start(host, domain)}`),
    ),
  )
  const [domain = '', config = {}] = Object.entries(domains)[0] ?? []
  const { out } = await place.cli(
    'trace',
    `https://${domain.startsWith('.') ? `x${domain}` : domain}/`,
  )
  expect([config, out]).toEqual([config, expect.stringMatching(/^Note +an origin leads back/m)])
})

it.each<[string, Record<string, JsonObject>]>([
  ['a server', { 'a.test.com': origin('192.0.2.1,origin.test.com') }],
  [
    'a domain with a server',
    { 'a.test.com': origin('b.test.com'), 'b.test.com': origin('192.0.2.1') },
  ],
  [
    'a domain of its own under a wildcard',
    { '.test.com': origin('www.test.com'), 'www.test.com': origin('192.0.2.1') },
  ],
  [
    'another domain with that host header',
    { 'a.test.com': { ...origin('o.test.net'), origin_host: { host: 'a.test.com' } } },
  ],
  ['a longer name', { 'test.com': origin('www.test.com') }],
])('is silent about %s', async (_, domains) => {
  expect(await find(domains)).toEqual([])
  const domain = Object.keys(domains)[0] ?? ''
  const { out } = await place.cli('trace', `https://${domain.replace(/^\./, 'x.')}/`)
  expect(out).not.toMatch(/^loop/m)
})

it('names it in data, and a level of checks drops it', async () => {
  await find({ 'a.test.com': origin('a.test.com') })
  const { out } = await place.cli('trace', 'https://a.test.com/', '--json')
  expect(JSON.parse(out)).toMatchObject({ notes: ['origin-loop'] })
  place.configure('checks: {origin-loop: off}')
  expect(await find({})).toEqual([])
})

it('follows long ways and dense ones in bounded time', () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `d${i}.test.com`)
  const chain = (domain: string): Json => ({
    default_master: names[(Number(/\d+/.exec(domain)?.[0]) + 1) % names.length] ?? '',
  })
  const known = new Map(names.map((name) => [name, chain(name)]))
  const search = createLoopFinder(names, (domain, item) =>
    item === 'origin' ? known.get(domain) : undefined,
  )
  const startedAt = performance.now()
  for (const name of names.slice(0, 2000)) expect(search(name)).toEqual([])
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})
