import { expect, it } from 'vitest'
import { groupEffects, type GroupOptions } from '../../src/core/effects/group.ts'
import type { CountedRequest } from '../../src/core/effects/requests/parse-requests.ts'
import { createDomainFinder } from '../../src/core/effects/requests/find-domain.ts'
import { change, whole } from './build.ts'

const sides = change(
  {
    referer: { type: 2, list: ['a.com', 'b.com'], allow_empty: true },
    cache_rule: [{ type: 1, pattern: 'jpg', time: 5, timeunit: 's' }],
    origin_host: { host: 'a.example.net' },
    timeout: { time: '5' },
    source_url_rewrite: null,
  },
  {
    referer: { type: 2, list: ['a.com'], allow_empty: true },
    cache_rule: [{ type: 1, pattern: 'jpg', time: 6, timeunit: 's' }],
    origin_host: { host: 'a.example.net' },
    timeout: { time: '6' },
    source_url_rewrite: [{ origin_url: '^/old/(.*)$', target_url: '/new/$1' }],
  },
)

const at = 'https://www.example.com'
const headers = (referer: string | null) => ({ referer, '*': null })
const requests: CountedRequest[] = [
  { request: { ...whole, url: `${at}/a.css`, headers: headers(null) }, count: 7 },
  { request: { ...whole, url: `${at}/1.jpg`, headers: headers(null) }, count: 1 },
  { request: { ...whole, url: `${at}/2.jpg`, headers: headers(null) }, count: 1 },
  { request: { url: `${at}/old/a`, headers: headers(null) }, count: 1 },
  { request: { url: `${at}/old/b`, headers: headers(null) }, count: 1 },
  { request: { ...whole, url: `${at}/3.css`, headers: headers('https://b.com/') }, count: 2 },
  { request: { ...whole, url: `${at}/4.css`, headers: {} }, count: 1 },
  { request: { url: 'https://foreign.example/' }, count: 10 },
  { request: { url: 'no url' }, count: 1 },
  { request: { url: `${at}/`, ip: 'none' }, count: 1 },
  { request: { ...whole, url: `${at}/5.jpg`, headers: headers(null) }, count: 1 },
  { request: { ...whole, url: `${at}/6.jpg`, headers: headers(null) }, count: 1 },
  { request: { ...whole, url: `${at}/1.jpg`, headers: headers(null), method: 'HEAD' }, count: 1 },
]

function group(options: GroupOptions) {
  const findSides = (host: string) => (host === 'www.example.com' ? sides : null)
  return groupEffects(requests, findSides, { visitor: 'unknown', ...options })
}

it('groups requests with equal deltas, the strongest and largest first', () => {
  const { groups, ...counts } = group({ skipped: 3 })
  expect(counts).toEqual({
    total: 32,
    skipped: 15,
    same: 7,
    byDomain: new Map([['www.example.com', 17]]),
  })
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(10)
  const shown = groups.map(({ class: found, verdict, count, items, examples }) =>
    [found, verdict, count, items.join(), examples.map((url) => url.slice(at.length)).join()].join(
      ' ',
    ),
  )
  expect(shown).toEqual([
    'visible differs 2 cache_rule,referer,source_url_rewrite,timeout /3.css',
    'visible may-differ 1 referer /4.css',
    'content differs 5 cache_rule /1.jpg,/2.jpg,/5.jpg',
    'content differs 1 cache_rule,source_url_rewrite,timeout /old/a',
    'content differs 1 cache_rule,source_url_rewrite,timeout /old/b',
  ])
  expect(groups.every(({ domains }) => domains.join() === 'www.example.com')).toBe(true)
})

it('shows the deltas of the first request with their rules, without internal ones', () => {
  const { groups } = group({})
  const deltas = groups[2]?.deltas ?? []
  expect(deltas.map(({ field }) => field)).toEqual(['cache.seconds', 'cache.lifetime'])
  expect(deltas[0]?.rules).toEqual([
    { side: 'before', item: 'cache_rule', pointer: '/0', pattern: 'jpg' },
    { side: 'after', item: 'cache_rule', pointer: '/0', pattern: 'jpg' },
  ])
  expect(groups.flatMap((each) => each.deltas).some((each) => each.class === 'internal')).toBe(
    false,
  )
})

it('groups by shape compare URLs and keys only by whether they change', () => {
  const { groups } = group({ groupBy: 'shape' })
  const shown = groups.map(({ count, items }) => `${count} ${items.join()}`)
  expect(shown).toContain('2 cache_rule,source_url_rewrite,timeout')
  expect(groups).toHaveLength(4)
})

it('takes what a request lacks from a usual visitor unless told otherwise', () => {
  const lacking = [{ request: { url: `${at}/4.css` }, count: 1 }]
  const read = (options?: GroupOptions) => groupEffects(lacking, () => sides, options)
  expect(read()).toMatchObject({ same: 1, groups: [] })
  expect(read({ visitor: 'unknown' }).groups).toMatchObject([
    { class: 'visible', verdict: 'may-differ', items: ['cache_rule', 'referer'] },
  ])
})

it('groups span domains', () => {
  const add = (count: number) => ({ rate_limit: { max_rate_count: count } })
  const limited = change(add(1), add(2))
  const other = { ...change(add(1), add(2)), domain: 'b.example.com' }
  const urls = ['https://www.example.com/', 'https://b.example.com/'].map((url) => ({
    request: { ...whole, url },
    count: 1,
  }))
  const found = groupEffects(urls, (host) => (host === 'b.example.com' ? other : limited))
  expect(found.groups.map(({ domains, count }) => [domains, count])).toEqual([
    [['b.example.com', 'www.example.com'], 2],
  ])
})

it('the domain of a host is itself, or the longest wildcard that it ends in', () => {
  const find = createDomainFinder(['a.b.example.com', '.b.example.com', '.example.com'])
  expect(
    ['a.b.example.com', 'x.b.example.com', 'y.x.example.com', 'example.com', 'xexample.com'].map(
      find,
    ),
  ).toEqual(['a.b.example.com', '.b.example.com', '.example.com', null, null])
})
