import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listSchemaErrors } from '../report/output-schema.ts'
import { Place } from './cli.ts'
import { DeletingAccount } from './deleting-account.ts'
import { itLong } from '../runs.ts'

const [a, b] = ['a.example.com', 'b.example.com']
const time = { timeout: { time: 60 } }
const connectTime = { connect_timeout: { origin_connect_timeout: '5' } }
const unset = { $unset: true }

let account: DeletingAccount
let place: Place

const offer = (offers: boolean) =>
  place.write(
    'edgewise.yaml',
    place
      .read('edgewise.yaml')
      .replace(/ {2}unset: .*\n/, '')
      .replace('  timezone', `  unset: ${offers}\n  timezone`),
  )

beforeEach(() => {
  account = new DeletingAccount()
  place = new Place('https://service.test')
  place.transport = account.transport
  offer(true)
})
afterEach(() => place.remove())

/** Applies `time` and `connectTime` on two domains, and then asks to unset the first of them. */
async function unsetOnBoth(): Promise<void> {
  for (const domain of [a, b]) place.manifest(domain, { ...time, ...connectTime })
  expect((await place.cli('apply', '--yes')).code).toBe(0)
  account.calls.length = 0
  for (const domain of [a, b])
    place.manifest(domain, { timeout: unset, connect_timeout: { origin_connect_timeout: '9' } })
}

const writes = [`DELETE ${a},${b} timeout`, `POST ${a},${b} connect_timeout`]

describe('$unset without a documented reset', () => {
  itLong('is shown as a DELETE by text, Markdown, JSON and page', async () => {
    await unsetOnBoth()
    const files = ['--report', 'plan.md', '--report', 'plan.html']
    const { code, out } = await place.cli('plan', '-v', ...files)
    expect(code).toBe(0)
    expect(out).toContain('  - timeout  unset by DELETE\n')
    expect(out).toContain('  1  2 domains from a.example.com: unset by DELETE (timeout)\n')
    expect(out).toContain('  2  2 domains from a.example.com: connect_timeout\n')
    expect(place.read('plan.md')).toContain('- timeout  unset by DELETE')
    expect(place.read('plan.md')).toContain('a.example.com: unset by DELETE (timeout)')
    expect(place.read('plan.html')).toContain('unset by DELETE')
    const plan = await place.json('plan')
    expect(listSchemaErrors('plan', plan)).toEqual([])
    expect(plan).toMatchObject({
      changes: [{}, { item: 'timeout', action: 'unset', after: null }, {}, {}],
      writes: [
        { domains: [a, b], config: { timeout: null }, forms: { timeout: 'delete' } },
        { forms: { connect_timeout: 'replace' } },
      ],
      summary: { unset: 2, writes: 2, lowerBound: 2 },
    })
    expect(account.calls).toEqual([])
  })

  itLong('is applied by a DELETE first, recorded as unset, and no change then', async () => {
    await unsetOnBoth()
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([0, expect.stringContaining('confirmed  write 1 of 2  timeout')])
    expect(account.calls).toEqual(writes)
    expect(new Set(account.urls)).toEqual(new Set(['https://service.test/v2/domain/config']))
    expect([...(account.stored.get(a)?.keys() ?? [])]).toEqual(['connect_timeout'])
    const state = { items: await place.recorded(a) }
    expect(state.items['timeout']).toMatchObject({ status: 'unset', candidates: [] })
    expect((await place.json('plan'))['changes']).toEqual([])
    const drift = await place.json('drift')
    expect(drift['summary']).toMatchObject({ pending: 0, inDoubt: 0 })
  })

  it('is refused with a place where the account does not offer it', async () => {
    await unsetOnBoth()
    offer(false)
    const { code, out } = await place.cli('validate')
    expect(code).toBe(1)
    expect(out.replaceAll(/\s+/g, ' ')).toContain('set "service: {unset: true}" in edgewise.yaml')
    expect((await place.cli('apply', '--yes')).code).not.toBe(0)
    expect(account.calls).toEqual([])
  })

  it('ends an apply with the option in the message if the account has no such call', async () => {
    await unsetOnBoth()
    account.refusals.push([400, { code: 401_006, message: 'no permission for the interface' }])
    const { code, err } = await place.cli('apply', '--yes')
    expect(code).not.toBe(0)
    expect(err.replaceAll(/\s+/g, ' ')).toContain('(service.unset in edgewise.yaml)')
    expect(account.calls).toEqual(writes.slice(0, 1))
    expect({ items: await place.recorded(a) }).toMatchObject({
      items: { timeout: { status: 'confirmed' } },
    })
  })

  it('shows no message of the service if the recorded value has a secret', async () => {
    const key = 'a-signing-key'
    const signed = { pattern: '.*', time_format: 'timestamp', key, deadtime: 60, req_uri_type: 1 }
    place.manifest(a, { visit_timestamp: signed })
    await place.cli('apply', '--yes')
    place.manifest(a, { visit_timestamp: unset })
    account.refusals.push([400, { code: 7, message: `it had the key ${key.slice(0, 9)}` }])
    const { code, err } = await place.cli('apply', '--yes')
    expect([code, err]).toEqual([3, expect.stringContaining('message withheld')])
    expect(err).not.toContain(key.slice(0, 9))
  })

  it('of the origin needs --allow', async () => {
    place.manifest(a, { origin: unset })
    const refused = await place.cli('apply', '--yes')
    expect(refused.err).toContain('--allow origin')
    expect(account.calls).toEqual([])
    expect((await place.cli('apply', '--yes', '--allow', 'origin')).code).toBe(0)
    expect(account.calls).toEqual([`DELETE ${a} origin`])
  })
})

describe('$unset where the account offers DELETE', () => {
  it('uses it for items with a documented reset too', async () => {
    place.manifest(a, { origin_host: { host: 'one.example.net' }, deny_url: { urls: ['/a'] } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    account.calls.length = 0
    place.manifest(a, { origin_host: unset, deny_url: unset })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    expect(account.calls).toEqual([`DELETE ${a} deny_url,origin_host`])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it.each([true, false])('unsets both IP lists of a domain: %s', async (offers) => {
    offer(offers)
    place.manifest(a, { ip_black_list: { list: ['192.0.2.1'] } })
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    place.manifest(a, { ip_black_list: unset, ip_white_list: unset })
    const applied = await place.cli('apply', '--yes')
    expect(applied.code, applied.err).toBe(0)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    const items = await place.recorded(a)
    expect(items).toMatchObject({
      ip_black_list: { status: 'unset' },
      ip_white_list: { status: 'unset' },
    })
  })
})

describe('a saved plan', () => {
  it('with a DELETE is applied, and refused once the account does not offer it', async () => {
    await unsetOnBoth()
    expect((await place.cli('plan', '--out', 'plan.json')).code).toBe(0)
    offer(false)
    const refused = await place.cli('apply', 'plan.json')
    expect([refused.code, account.calls]).toEqual([1, []])
    expect(refused.err).toContain("This item can't be unset")
    offer(true)
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(account.calls).toEqual(writes)
  })

  it('without a DELETE is valid whether the account offers it or not', async () => {
    place.manifest(a, time)
    offer(false)
    await place.cli('plan', '--out', 'plan.json')
    const saved = place.read('plan.json')
    offer(true)
    await place.cli('plan', '--out', 'again.json')
    expect(place.read('again.json')).toBe(saved)
    expect((await place.cli('apply', 'plan.json')).code).toBe(0)
    expect(account.calls.every((call) => call.startsWith('POST'))).toBe(true)
  })

  it('whose DELETE was altered into a write is refused', async () => {
    await unsetOnBoth()
    await place.cli('plan', '--out', 'plan.json')
    const text = place.read('plan.json').replace('"delete"', '"replace"')
    const { code, err } = await place.write('plan.json', text).cli('apply', 'plan.json')
    expect([code, err]).toEqual([1, expect.stringContaining('the writes in the plan file differ')])
  })
})

describe('a rollback', () => {
  const add = async () => {
    place.manifest(a, connectTime)
    await place.cli('apply', '--yes')
    place.manifest(a, { ...connectTime, ...time })
    await place.cli('apply', '--yes')
    account.calls.length = 0
  }

  it('deletes what was not recorded before, and forgets it', async () => {
    await add()
    const { code, err } = await place.cli('rollback', '--yes')
    expect([code, err]).toEqual([0, expect.not.stringContaining("can't be rolled back")])
    expect(account.calls).toEqual([`DELETE ${a} timeout`])
    const state = { items: await place.recorded(a) }
    expect(Object.keys(state.items)).toEqual(['connect_timeout'])
  })

  it('leaves it where the account does not offer DELETE', async () => {
    await add()
    offer(false)
    const { code, err } = await place.cli('rollback', '--yes')
    expect([code, err]).toEqual([1, expect.stringContaining('no way to unset it')])
    expect(account.calls).toEqual([])
  })

  it('is promised by a plan that rolls back on failure', async () => {
    const health = 'rollout: {waves: [1, 100%], health: {onFailure: rollback}}\n'
    place.write('edgewise.yaml', place.read('edgewise.yaml') + health)
    place.manifest(a, time)
    const warnings = async () => JSON.stringify((await place.json('plan'))['warnings'])
    expect(await warnings()).not.toContain("can't roll back")
    offer(false)
    expect(await warnings()).toContain("can't roll back")
  })
})
