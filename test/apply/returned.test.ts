import { describe, expect, it } from 'vitest'
import { findRewritten } from '../../src/engine/apply/attempt.ts'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import type { Form } from '../../src/core/model/change.ts'
import type { Value } from '../../src/core/model/item.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { Outcome } from '../../src/core/model/outcome.ts'
import { good, World } from './world.ts'

const a = 'a.example.com'
const time = (seconds: number) => ({ time: String(seconds) })
const signed = {
  pattern: '.*',
  time_format: 'timestamp',
  key: 'k',
  deadtime: 60,
  req_uri_type: 1,
}
const speedRule = {
  type: 'ext',
  pattern: 'jpg',
  speed: '100',
  begin_time: '08:00',
  end_time: '18:00',
}
const ips = (...list: string[]) => ({ list, mode: 'cover' })

describe('a returned value', () => {
  const answer = (config: Record<string, Value>): Outcome => ({ ...good, config }) as Outcome

  it('is recorded beside the sent value if they differ, without another write', async () => {
    const world = new World()
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), () => ({
      outcome: answer({ timeout: time(11) }),
    }))
    expect(world.item(a, 'timeout')).toMatchObject({
      status: 'confirmed',
      candidates: [time(10)],
      returned: time(11),
    })
    expect(world.events.find((event) => event.type === 'write.confirmed')).toMatchObject({
      rewritten: ['timeout'],
    })
    expect(world.plan({ [a]: { timeout: time(10) } }).changes).toEqual([])
  })

  it.each<[string, string, Value, Value]>([
    ['as sent', 'timeout', time(10), time(10)],
    ['with another type', 'timeout', time(10), { time: 10 }],
    [
      'in another order',
      'ip_black_list',
      ips('192.0.2.1', '192.0.2.2'),
      { list: ['192.0.2.2', '192.0.2.1'] },
    ],
    [
      'with defaults left out',
      'referer',
      { type: 1, list: ['a.com'], allow_empty: true },
      { type: '1', list: ['a.com'] },
    ],
    [
      'with fields of the service alone',
      'visit_timestamp',
      signed,
      { ...signed, request_style: 'x', error_page: '' },
    ],
    [
      'with the numbers of its rules',
      'speed_limit',
      [speedRule],
      [{ ...speedRule, speed: 104, priority: 1 }],
    ],
    [
      'visit_deny_whitelist as {url}',
      'visit_deny_whitelist',
      [{ url: '/x', turn_on: true }],
      { url: ['/x', '/other'] },
    ],
  ])('is no other value %s', async (_how, item, sent, returned) => {
    const world = new World()
    await world.apply(world.plan({ [a]: { [item]: sent } }), () => ({
      outcome: answer({ [item]: returned }),
    }))
    expect(world.item(a, item)).toMatchObject({ status: 'confirmed' })
    expect(world.item(a, item)).not.toHaveProperty('returned')
  })

  it('is sealed, and ends no apply, where a secret is returned in place of a structure', () => {
    const vault = new SecretVault('test', (name) => (name === 'key' ? 'hunter2hunter2' : null))
    const payload = vault.maskTemplate('${secret:key}')
    const inPlace: Json[] = [{ $secret: 'hunter2hunter2' }, 'hunter2hunter2']
    const structures = inPlace.flatMap((secret): Json[] => [
      secret,
      [secret],
      [[secret]],
      { list: secret },
      { list: [secret], url: secret },
    ])
    for (const item of catalogue.keys()) {
      for (const returned of structures) {
        const forms = { [item]: { name: 'replace', payload: { ...payload } } satisfies Form }
        const found = findRewritten(forms, { [item]: returned }, () => [], vault)
        expect({ item, found: JSON.stringify(found).includes('hunter2') }).toEqual({
          item,
          found: false,
        })
      }
    }
  })

  it('differs when a whitelist is returned without an entry', async () => {
    const world = new World()
    const entry = [{ url: '/x', turn_on: true }]
    await world.apply(world.plan({ [a]: { visit_deny_whitelist: entry } }), () => ({
      outcome: answer({ visit_deny_whitelist: { url: ['/y'] } }),
    }))
    expect(world.item(a, 'visit_deny_whitelist')).toHaveProperty('returned')
  })

  it('is recorded without secrets, even if it is malformed', async () => {
    const world = new World()
    world.secrets.maskAnswer = (_item, value) =>
      JSON.parse(JSON.stringify(value).replace('"plain"', '{"$secret":"scrypt:1"}')) as Value
    await world.apply(world.plan({ [a]: { timeout: time(10) } }), () => ({
      outcome: answer({
        timeout: { time: 'plain' },
        strange: [null],
        other: 5,
        constructor: 5,
        ...JSON.parse('{"__proto__": {"a": 1}}'),
      }),
    }))
    expect(JSON.stringify(world.durable)).not.toContain('plain')
    expect(Object.keys(world.durable[a] ?? {})).toEqual(['timeout'])
  })
})
