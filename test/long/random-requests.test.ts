// @module-tag often
// @module-tag nightly
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { draw, hashKey } from '../../src/emulator/entities/chance.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { createWorld } from '../emulator/world.ts'
import { runs } from '../runs.ts'

const items = new URL('../conformance/items/', import.meta.url)
const payloads = readdirSync(items).flatMap((file) =>
  (JSON.parse(readFileSync(new URL(file, items), 'utf8')) as { payload: Json }[]).map(
    ({ payload }) => [file.replace('.json', ''), payload] as const,
  ),
)
const domains = 'abcdefghij'.split('').map((letter) => `${letter}.example.com`)
const odd: Json[] = [
  null,
  '',
  [],
  {},
  -1,
  1e308,
  '\u0000',
  '__proto__',
  { $secret: 'x' },
  [[[[]]]],
  true,
  'ä'.repeat(300),
  '%',
  '2026-02-30',
]

/** Seeded random source. */
class Dice {
  #n = 0
  readonly #key: number
  constructor(seed: string) {
    this.#key = hashKey(seed)
  }

  below(limit: number): number {
    return Math.floor(draw(this.#key, this.#n++) * limit)
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  once(in_: number): boolean {
    return this.below(in_) === 0
  }
}

/** Replaces a part of a value by an odd one. */
function broken(value: Json, dice: Dice): Json {
  if (Array.isArray(value) && value.length > 0 && !dice.once(3)) {
    const at = dice.below(value.length)
    return value.map((entry, i) => (i === at ? broken(entry, dice) : entry))
  }
  if (isObject(value) && !dice.once(3)) {
    const keys = Object.keys(value)
    const key = dice.of([...keys, 'constructor'])
    return { ...value, [key]: broken(value[key] ?? null, dice) }
  }
  return dice.of(odd)
}

function randomWrite(dice: Dice): { body: Uint8Array; contentType: string; query: string } {
  const chosen = Array.from({ length: 1 + dice.below(4) }, () => dice.of(payloads))
  const names = Array.from({ length: 1 + dice.below(dice.once(20) ? 14 : 4) }, () =>
    dice.of(domains),
  )
  let given: Json = { token: 'tok', domains: names.join(','), config: Object.fromEntries(chosen) }
  if (dice.once(3)) given = broken(given, dice)
  let body = Buffer.from(JSON.stringify(given))
  if (dice.once(12)) body = body.subarray(0, dice.below(body.length))
  if (dice.once(12)) body[dice.below(body.length)] = dice.below(256)
  return {
    body,
    contentType: dice.once(20)
      ? dice.of([
          'text/plain',
          '',
          'multipart/form-data; boundary=x',
          'application/x-www-form-urlencoded',
        ])
      : 'application/json',
    query: dice.once(9) ? 'token=tok' : '',
  }
}

function randomForm(dice: Dice): { body: string; contentType: string; query: string } {
  const parts = [
    'config',
    '[',
    ']',
    'https',
    '__proto__',
    'cert_id',
    '=',
    '&',
    'on',
    '1',
    '%41',
    '%',
    '+',
    '[]',
    '[0]',
    'domains=a.example.com',
    'constructor',
    '[9999]',
  ]
  const domain = dice.of(domains)
  const rest = Array.from({ length: dice.below(16) }, () => dice.of(parts)).join('')
  const body = `token=tok&domains=${domain}&config[https][cert_id]=1&${rest}`
  return { body, contentType: 'application/x-www-form-urlencoded', query: '' }
}

function randomRead(dice: Dice): { method: string; path: string; query: string } {
  const times = [
    '2026-11-01',
    '2026-11-02 10:00',
    '2026-11-19 23:59',
    '2026-11-20',
    '2026-10-01',
    '2026-13-01',
    '9999-12-31',
    '0001-01-01',
    'x',
    '',
  ]
  const values: Record<string, readonly string[]> = {
    token: ['tok', 'tok', 'tok', 'tok', 'wrong'],
    domains: [...domains, 'all', 'x.example.net', domains.join(','), ',', '__proto__'],
    start_time: times,
    end_time: times,
    grad: ['minute', 'minute5', 'hour', 'hour', 'day', 'day', 'week', ''],
    stat_is_forward: ['0', '1', '2'],
    query_area: ['all', 'cn', 'abroad', 'x'],
    task_id: ['1', '2', '0', 'x', '99999999999999999999'],
    url: ['http://a.example.com/1', ''],
    page_number: ['1', '2', '0', '-1', '1e3', '9007199254740991'],
    page_size: ['1', '50', '9007199254740991', ' '],
  }
  const path = dice.of([
    '/v2/stat/httpcode',
    '/v2/stat/httpcode/eachDomain',
    '/v2/cache/prefetch',
    '/v2/domain/config',
    '/v2/../x',
    '//',
  ])
  const wanted = path.includes('prefetch')
    ? dice.of([
        ['task_id'],
        ['start_time', 'end_time'],
        ['task_id', 'url'],
        ['start_time', 'end_time', 'url', 'page_size'],
        Object.keys(values),
      ])
    : [
        'domains',
        'start_time',
        'end_time',
        ...(dice.once(4) ? ['stat_is_forward', 'query_area'] : []),
        ...(dice.once(2) ? ['grad'] : []),
      ]
  const query = ['token', ...wanted]
    .filter(() => !dice.once(25))
    .map((name) => `${name}=${encodeURIComponent(dice.of(values[name] ?? ['']))}`)
  return {
    method: dice.of(['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'PUT', 'HEAD']),
    path,
    query: query.join('&') + (dice.once(30) ? '&%ff' : ''),
  }
}

it(
  'random requests get no 5xx, and refused writes change nothing',
  { timeout: 240_000 },
  async () => {
    const count = runs(0, 60_000)
    const service = createWorld({ domains })
    const dice = new Dice('random requests')
    await service.postControl('prefetch', {
      urls: ['http://a.example.com/1', 'http://a.example.com/2'],
    })
    const seen = new Map<string, number>()
    let before = JSON.stringify(await service.state())
    for (let n = 0; n < count; n++) {
      if (dice.once(50)) service.clock.now += dice.below(600_000)
      const kind = dice.below(10)
      const request = kind < 5 ? randomWrite(dice) : kind < 6 ? randomForm(dice) : randomRead(dice)
      const { status, body } = await service.request(request)
      const writes = kind < 6
      const outcome = `${writes ? 'write' : 'read'} ${status}`
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
      if (
        status >= 500 ||
        !isObject(body) ||
        typeof body['code'] !== 'number' ||
        (status === 200) !== (body['code'] === 0)
      ) {
        throw new Error(
          `request ${n} ${JSON.stringify(request).slice(0, 2000)} ` +
            `was answered ${status} ${JSON.stringify(body)}`,
        )
      }
      if (writes || n % 100 === 0) {
        const after = JSON.stringify(await service.state())
        if (!(writes && status === 200) && after !== before)
          throw new Error(`request ${n} was refused (${status}) and changed the state`)
        before = after
      }
    }
    expect(Object.getPrototypeOf({})).toEqual(Object.prototype)
    for (const outcome of [
      'write 200',
      'write 400',
      'write 401',
      'write 415',
      'read 200',
      'read 400',
      'read 401',
      'read 404',
    ]) {
      expect([outcome, (seen.get(outcome) ?? 0) > count / 600]).toEqual([outcome, true])
    }
  },
)
