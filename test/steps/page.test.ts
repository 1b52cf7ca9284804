import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parsePage } from '../report/page/parse-page.ts'
import { Place, fetchWrites, setFaults } from './cli.ts'
import { emulator, enterPlace, place, setStage } from './stage.ts'
import { itLong } from '../runs.ts'

setStage()
beforeEach(async () => {
  await setFaults(emulator)
  place.manifest('www.example.com', { timeout: { time: 60 } })
})

const page = () => place.read('page.html')
const html = ['--report', 'page.html']
/** Pages are written as a whole: nothing else remains. */
const expectNoDraft = () =>
  expect(readdirSync(place.root).filter((name) => name.endsWith('.tmp'))).toEqual([])

describe('plan --report', () => {
  it('writes the page, and leaves the output as it is', async () => {
    const before = await place.cli('plan', '--json')
    const { code, out } = await place.cli('plan', '--json', ...html)
    expect([code, out]).toEqual([0, before.out])
    expect(page()).toContain('1 to set on 1 domain · 1 write · a few seconds')
    for (const text of ['www.example.com', 'domains/www.example.com.yaml:1', 'time  60'])
      expect(page()).toContain(text)
    expectNoDraft()
  })

  itLong('names changes that cannot be rolled back, and those on hold', async () => {
    enterPlace(new Place(emulator.url, 'rollout: {waves: [1, 100%], pause: 10m}\n'))
    for (const name of ['a', 'b', 'c'])
      place.manifest(`${name}.example.com`, { timeout: { time: 60 } })
    expect((await place.cli('plan', ...html)).code).toBe(0)
    expect(page()).toContain('about 10 min in 2 waves')
    expect(page()).toMatch(/timeout can.{1,6}t be rolled back: it was not recorded before/)
    expect((await place.cli('apply', '--yes', '--no-wait')).code).toBe(0)
    const id = place.loadRollouts()[0]?.id ?? ''
    expect((await place.cli('rollout', 'abort', id, '--yes')).code).toBe(0)
    expect((await place.cli('plan', ...html)).code).toBe(0)
    expect(page()).toContain('Nothing to send: 2 changes on hold.')
    expect(page()).toMatch(/2 changes on hold since .{16} UTC by rollout \S+, stopped/)
    for (const domain of ['b.example.com', 'c.example.com']) expect(page()).toContain(domain)
  })

  it('is exit code 1 if the page cannot be written', async () => {
    const { code, err } = await place.cli('plan', '--report', 'no/folder/page.html')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
  })
})

describe('apply --report', () => {
  it('writes the page before anything is sent, and the outcome at the end', async () => {
    place.write('page.html', 'earlier')
    place.manifest('api.example.com', { timeout: { time: 61 } })
    await setFaults(emulator, { kind: 'refuse', domain: 'www.example.com', probability: 1 })
    let meanwhile = ''
    place.onStderr = () => (meanwhile ||= page())
    expect((await place.cli('apply', '--yes', ...html)).code).toBe(3)
    place.onStderr = null
    expect(meanwhile).toContain('The apply has not ended')
    expect(page()).toContain('Not everything was applied; writes: 1 confirmed, 1 refused.')
    expect(page()).toContain('timeout of www.example.com (domains/www.example.com.yaml:1)')
    const states = parsePage(page()).changes.map(({ state }) => state)
    expect(new Set(states)).toEqual(new Set(['confirmed', 'refused']))
    expectNoDraft()
  })

  it('writes the page of an apply that is refused before its first call', async () => {
    place.manifest('www.example.com', { https: { cert_id: 0 } })
    expect((await place.cli('apply', '--yes', ...html)).code).toBe(1)
    expect(page()).toContain('Nothing was applied.')
    expect(page()).toContain('destructive')
  })

  it('sends nothing if the page cannot be written', async () => {
    const { code, err } = await place.cli('apply', '--yes', '--report', 'no/folder/page.html')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
    expect(existsSync(join(place.root, 'no'))).toBe(false)
    expect(await fetchWrites(emulator)).toEqual([])
  })

  it('leaves the JSON as it is', async () => {
    const { code, out } = await place.cli('apply', '--yes', '--json', ...html)
    expect(code).toBe(0)
    for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('type')
    expect(out).toContain('"type":"apply.finished"')
    expect(out).not.toContain('edgewise.page')
  })
})

describe('drift --report', () => {
  it('writes the drift, and the observed items that are not managed', async () => {
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    place.write(
      'live.json',
      JSON.stringify({ 'www.example.com': { timeout: { time: '30' }, https: { cert_id: 1 } } }),
    )
    const args = ['drift', '--observed', 'live.json']
    const before = await place.cli(...args, '--json')
    const { code, out } = await place.cli(...args, '--json', ...html)
    expect([code, out]).toEqual([2, before.out])
    const texts = ['Drift: 1 at the service.', 'time  60 → 30', 'https of 1 domain is observed']
    for (const text of texts) expect(page()).toContain(text)
    expectNoDraft()
  })

  it('repairs nothing if the page cannot be written', async () => {
    expect((await place.cli('apply', '--yes')).code).toBe(0)
    const sent = (await fetchWrites(emulator)).length
    place.write('live.json', JSON.stringify({ 'www.example.com': { timeout: { time: '30' } } }))
    const args = ['drift', '--observed', 'live.json', '--repair', '--yes']
    const { code, err } = await place.cli(...args, '--report', 'no/folder/page.html')
    expect([code, err]).toEqual([1, expect.stringContaining("can't be written (ENOENT)")])
    expect(await fetchWrites(emulator)).toHaveLength(sent)
  })
})
