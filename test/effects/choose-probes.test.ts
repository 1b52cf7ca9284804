import { expect, it } from 'vitest'
import { chooseProbes } from '../../src/core/effects/requests/choose-probes.ts'
import type { JsonObject } from '../../src/core/model/json.ts'

const domains = ['www.example.com', '.video.example.com']

const choose = (requests: JsonObject[], count = 4) => [
  ...chooseProbes(
    requests.map((request) => ({ request, count: 1 })),
    domains,
    count,
  ),
]

it('spreads the requests to each domain over its samples, one for each domain in turn', () => {
  const chosen = choose([
    { url: 'https://www.example.com/a' },
    { url: 'http://a.video.example.com:8080/b?c=1', method: 'head' },
    { url: 'https://www.example.com/d' },
  ])
  expect(chosen.map(({ domain, turn, method, url }) => [domain, turn, method, url.path])).toEqual([
    ['www.example.com', 0, 'GET', '/a'],
    ['.video.example.com', 0, 'HEAD', '/b'],
    ['www.example.com', 1, 'GET', '/d'],
    ['.video.example.com', 1, 'HEAD', '/b'],
    ['www.example.com', 2, 'GET', '/a'],
    ['.video.example.com', 2, 'HEAD', '/b'],
    ['www.example.com', 3, 'GET', '/d'],
    ['.video.example.com', 3, 'HEAD', '/b'],
  ])
})

it('of more samples than requests, some of all parts are sent', () => {
  const many = Array.from({ length: 1000 }, (_, i) => ({ url: `https://www.example.com/${i}` }))
  const numbers = choose(many, 10).map(({ url }) => Number(url.path.slice(1)))
  expect(numbers.map((number) => Math.floor(number / 100))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

it.each<JsonObject>([
  { url: 'https://other.example.com/' },
  { url: 'https://www.example.com.evil.example/' },
  { url: 'https://www.example.com@evil.example/' },
  { url: 'https://169.254.169.254/' },
  { url: 'ftp://www.example.com/' },
  { url: 'file:///etc/passwd' },
  { url: '//www.example.com/' },
  { url: 7 },
  {},
  { url: 'https://www.example.com/', method: 'POST' },
  { url: 'https://www.example.com/', method: 'DELETE' },
  { url: 'https://www.example.com/', method: 'CONNECT' },
  { url: 'https://www.example.com/', method: 'G T' },
  { url: 'https://www.example.com/', headers: { a: 'b\r\nc: d' } },
  { url: 'https://www.example.com/', headers: { 'a b': 'c' } },
  { url: 'https://www.example.com/', headers: { a: '漢' } },
  { url: 'https://www.example.com/', unknown: 1 },
])('%j is not sent', (request) => {
  expect(choose([request])).toEqual([])
})

it('sends the headers of a sample, but none of the connection', () => {
  const url = 'https://www.example.com/'
  const headers = {
    Cookie: 'a=b',
    Referer: null,
    Host: 'evil.example',
    'Content-Length': '5',
    'Transfer-Encoding': 'chunked',
    Connection: 'close',
    Upgrade: 'h2c',
    '*': null,
  }
  const list = (given: JsonObject) => choose([{ url, headers: given }], 1)[0]?.headers
  expect(list(headers)).toEqual({ 'user-agent': 'edgewise', cookie: 'a=b' })
  expect(list({ 'User-Agent': 'curl/8' })).toEqual({ 'user-agent': 'curl/8' })
  expect(list({ 'User-Agent': null })).toEqual({})
})
