import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/model/json.ts'
import { createExtendedWorld } from './extended-world.ts'
import { createWorld } from './world.ts'

const compress = { content_type: ['text/css'], min_size: 1 }
const rule = { pattern: '.*', expire: 1, expire_unit: 'h', priority: 1 }
const head = { regex: '.*', head_op: 'DEL', head_direction: 'CLI_REP', head: 'X-A', order: 1 }
const slow = { type: 'all', pattern: '.*', begin_time: '01:00', end_time: '02:00' }

/** What clients send, and what is stored. */
const sent: [config: Record<string, Json>, stored: object, isStrict: boolean][] = [
  [
    { compress_response: { ...compress, min_size_unit: 'kb' } },
    { compress_response: { ...compress, min_size_unit: 'KB' } },
    false,
  ],
  [
    { rate_limit: { max_rate_count: 1, max_rate_unit: 'mb', leading_flow_unit: 'kb' } },
    { rate_limit: { max_rate_count: 1, max_rate_unit: 'MB', leading_flow_unit: 'KB' } },
    false,
  ],
  [
    { cache_rule_list: [{ ...rule, match_method: 'all' }] },
    { cache_rule_list: [expect.objectContaining({ ...rule, match_method: 'all' }) as object] },
    false,
  ],
  [
    { compress_response: { ...compress, min_size: '1', min_size_unit: 'KB' } },
    { compress_response: { ...compress, min_size_unit: 'KB' } },
    true,
  ],
  [{ head_control: { list: [{ ...head, value: '' }] } }, { head_control: { list: [head] } }, true],
  [{ speed_limit: [{ ...slow, speed: 8 }] }, { speed_limit: [{ ...slow, speed: '8' }] }, true],
  [
    { https: { cert_id: 1, force_https: '301' } },
    { https: { cert_id: 1, force_https: 301 } },
    true,
  ],
]

describe.each([
  ['extended', createExtendedWorld],
  ['lenient', () => createWorld({ lenient: true })],
])('the %s emulator', (_, create) => {
  it.each(sent)('takes %j', async (config, stored) => {
    const service = create()
    const answer = await service.write(config)
    expect(answer.body).toMatchObject({ code: 0, data: { config } })
    expect(await service.state()).toEqual({ 'www.example.com': stored })
  })

  it('takes a token and unknown parameters in the query of a write', async () => {
    const answer = await create().request({
      query: 'unknown=1&token=tok',
      body: JSON.stringify({ domains: 'www.example.com', config: { timeout: { time: '60' } } }),
    })
    expect(answer.body).toMatchObject({ code: 0 })
  })

  it('refuses what is wrong beside it', async () => {
    const service = create()
    const unit = { ...compress, min_size_unit: 'Kb' }
    expect((await service.write({ compress_response: unit })).body).toMatchObject({ code: 400203 })
    const rules = [{ ...rule, match_method: 'all', expire: -1 }]
    expect((await service.write({ cache_rule_list: rules })).body).toMatchObject({ code: 400203 })
  })
})

describe('a rule that matches all', () => {
  it('comes back as it was sent', async () => {
    const service = createExtendedWorld()
    const regex = { ...rule, match_method: 'regex', pattern: 'a', priority: 2 }
    await service.write({ cache_rule_list: [{ ...rule, match_method: 'all' }, regex] })
    expect(await service.read('www.example.com')).toMatchObject({
      cache_rule_list: [{ match_method: 'all', pattern: '.*' }, { match_method: 'regex' }],
    })
  })
})

describe('the strict emulator', () => {
  it.each(sent)('still has its own rules about %j', async (config, _, isStrict) => {
    const answer = await createWorld().write(config)
    expect(answer.body).toMatchObject({ code: isStrict ? 0 : 400203 })
  })
})

describe('unknown fields', () => {
  it('stay refused by the extended emulator', async () => {
    const service = createExtendedWorld()
    const answer = await service.write({ timeout: { time: '60', unknown: 1 } })
    expect(answer.body).toMatchObject({ code: 400203 })
  })
})

describe.each([false, true])('the extended emulator (lenient: %s)', (lenient) => {
  it.each([
    ['the name as it was returned', { key: 'X-A' }],
    ['the name beside the one that was returned', { head: 'X-A', key: 'X-Old' }],
    ['a rule that was returned, with another name', { head: 'X-A', key: 'X-Old', fun_name: '' }],
  ])('takes %s', async (_, names) => {
    const service = createExtendedWorld({ lenient })
    const { head: _head, ...rest } = head
    const answer = await service.write({ head_control: { list: [{ ...rest, ...names }] } })
    expect(answer.body).toMatchObject({ code: 0 })
    expect(await service.state()).toEqual({
      'www.example.com': { head_control: { list: [head] } },
    })
  })

  it('stores no field that it does not know beside a kept order', async () => {
    const service = createExtendedWorld({ lenient })
    await service.write({ head_control: { list: [{ ...head, order: 7 }] } })
    const { order: _order, ...rest } = head
    const more: Record<string, string> = lenient ? { other: 'x' } : {}
    await service.write({ head_control: { list: [{ ...rest, ...more }] } })
    expect(await service.state()).toEqual({
      'www.example.com': { head_control: { list: [{ ...head, order: 7 }] } },
    })
  })
})
