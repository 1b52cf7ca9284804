import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Place } from './cli.ts'

let place: Place
beforeAll(() => {
  place = new Place('emulator')
})
afterAll(() => place.remove())

const origin = { default_master: 'eu.example.org', origin_mode: 'https' }
const https = { cert_id: 1001, force_https: 301 }
const images = { match_method: 'ext', pattern: 'jpg,png', expire: 30, expire_unit: 'D' }

/** A question of somebody who has only a URL, a workspace, and a part of the answer. */
const questions: [question: string, url: string, config: object, answer: string][] = [
  [
    'why is it not cached',
    'https://www.example.com/account/',
    {
      cache_rule_list: [
        { match_method: 'dir', pattern: '/account/,/basket/', expire: 0, priority: 1 },
        { ...images, priority: 2 },
      ],
    },
    'Not cached: rule "dir /account/,/basket/" (domains/www.yaml:13) forbids it.',
  ],
  [
    'which origin',
    'https://www.example.com/',
    {
      origin: {
        ...origin,
        default_master: ['eu.example.org', 'us.example.org'],
        default_slave: 'standby.example.org',
      },
    },
    'Fetched from eu.example.org or us.example.org over https, else from standby.example.org.',
  ],
  [
    'who is blocked',
    'https://www.example.com/',
    {
      ip_black_list: { list: ['203.0.113.7'] },
      referer: { type: 2, list: ['*.example.com'], allow_empty: true },
    },
    'Others are blocked by ip_black_list and referer.',
  ],
  [
    'does the redirect work',
    'http://www.example.com/a?b=1',
    {},
    'Redirected with 301 to https://www.example.com/a?b=1.',
  ],
  [
    'what is the key',
    'https://www.example.com/a.jpg?size=2&utm=x',
    {
      cache_rule_list: [
        {
          ...images,
          query_params_op: 'customer',
          query_params_op_way: 'remove',
          query_params_op_when: 'cache',
          params: 'utm',
        },
      ],
    },
    'the key keeps only size',
  ],
  [
    'how long is it cached',
    'https://www.example.com/a.jpg',
    { cache_rule_list: [images] },
    'Cached for 30 days by "ext jpg,png" (domains/www.yaml:13)',
  ],
  [
    'which header is set',
    'https://www.example.com/',
    {
      add_response_head: {
        list: [{ name: 'Strict-Transport-Security', value: 'max-age=31536000' }],
      },
    },
    'Sends strict-transport-security.',
  ],
  [
    'is it compressed',
    'https://www.example.com/',
    { compress_response: { content_type: ['text/html'], min_size: 1, min_size_unit: 'KB' } },
    'Compressed if its content type and size fit',
  ],
  [
    'which limit holds',
    'https://www.example.com/film.mp4',
    {
      rate_limit: {
        max_rate_count: 10,
        max_rate_unit: 'MB',
        leading_flow_count: 1,
        leading_flow_unit: 'MB',
      },
    },
    'Speed limit 10 MB/s after the first 1 MB',
  ],
  [
    'what if the origin fails',
    'https://www.example.com/',
    {
      cache_error_code: {
        code: ['404', '5XX'],
        bcache: 'on',
        cache_time: 10,
        cache_unit: 'second',
      },
    },
    'Errors: 404 and 5xx cached for 10 seconds.',
  ],
]

it('of the storefront, nothing is unknown without an option', async () => {
  const url = 'https://www.example.com/products/a.jpg'
  const { out } = await place.cli('-C', resolve('examples/storefront'), 'trace', url)
  expect(out).not.toMatch(/unknown|give /)
  expect(out).toMatch(
    /^Served\. Cached for 5 minutes by "dir \/products\/" \(profiles\/web\.yaml:12\)/m,
  )
  for (const stage of ['access', 'cache', '  key', 'origin', 'response'])
    expect(out).toMatch(new RegExp(`^${stage} `, 'm'))
})

it.each(questions)('%s is answered in the first three lines', async (_, url, config, answer) => {
  const manifest = { domain: 'www.example.com', config: { origin, https, ...config } }
  place.write('domains/www.yaml', JSON.stringify(manifest, null, 2))
  const { out, code } = await place.cli('trace', url)
  expect(code).toBe(0)
  const first = out.split('\n').slice(0, 3)
  expect(first.join(' ')).toContain(answer)
})
