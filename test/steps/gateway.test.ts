import { describe, expect, it } from 'vitest'
import { fetchCalls, fetchConfig, setFaults } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage()

const [one, two, three] = ['one.example.com', 'two.example.com', 'three.example.com'] as const
const config = { timeout: { time: 60 }, post_upload_size_limit: { limit_value: 5 } }
const unwrap = (text: string) => text.replaceAll(/\s+/g, ' ')

describe('an answer of a gateway before the service', () => {
  it('403: the blocked part is isolated, and everything else is written', async () => {
    for (const domain of [one, two, three]) place.manifest(domain, config)
    await setFaults(emulator, { kind: 'gateway', domain: two, item: 'timeout' })
    const { code, err } = await place.cli('apply', '--yes')
    expect(unwrap(err)).toContain('HTTP 403 without an answer of the service: a proxy or firewall?')
    expect(err).not.toMatch(/EDGEWISE_TOKEN|in-doubt/)
    expect(code).toBe(3)
    for (const domain of [one, three])
      expect(Object.keys(await fetchConfig(emulator, domain))).toHaveLength(2)
    expect(Object.keys(await fetchConfig(emulator, two))).toEqual(['post_upload_size_limit'])
  })

  it('403 down to the smallest parts stops the apply; nothing is in-doubt', async () => {
    for (let i = 0; i < 12; i++)
      place.manifest(`d${i}.example.com`, { ...config, timeout: { time: 60 + (i % 6) } })
    await setFaults(emulator, { kind: 'gateway' })
    const { code, err } = await place.cli('apply', '--yes')
    expect(unwrap(err)).toMatch(
      /HTTP 403 without an answer of the service: a proxy or firewall\? Each part of write/,
    )
    expect(err).not.toMatch(/EDGEWISE_TOKEN|in-doubt/)
    expect(code).toBe(1)
    expect((await fetchCalls(emulator)).length).toBeLessThan(30)
    await setFaults(emulator)
    expect((await place.cli('apply', '--yes')).code).toBe(0)
  })

  it.each([400, 405, 408, 413, 414, 431, 451])(
    '%i is a refusal: sent once as a whole, and bisected',
    async (status) => {
      for (const domain of [one, two]) place.manifest(domain, { timeout: { time: 60 } })
      await setFaults(emulator, { kind: 'gateway', status, domain: two })
      const { code, err } = await place.cli('apply', '--yes')
      expect(unwrap(err)).toContain(`HTTP ${status} without an answer of the service`)
      expect(err).not.toContain('in-doubt')
      expect(code).toBe(3)
      expect(await fetchConfig(emulator, one)).toEqual({ timeout: { time: '60' } })
      expect((await fetchCalls(emulator)).length).toBeLessThan(5)
    },
  )

  it.each([401, 404])('%i stops the apply at once', async (status) => {
    for (const domain of [one, two]) place.manifest(domain, { timeout: { time: 60 } })
    await setFaults(emulator, { kind: 'gateway', status })
    const { code, err } = await place.cli('apply', '--yes')
    expect(unwrap(err)).toContain(`HTTP ${status} without an answer of the service`)
    expect(code).toBe(1)
    expect(await fetchCalls(emulator)).toHaveLength(1)
  })

  it('502 is named, and in-doubt', async () => {
    place.manifest(one, { timeout: { time: 60 } })
    await setFaults(emulator, { kind: 'gateway', status: 502 })
    const { code, err } = await place.cli('apply', '--yes')
    expect(unwrap(err)).toContain('HTTP 502 without an answer of the service')
    expect(code).toBe(3)
  })

  it.each([403, 413])(
    'a query answered %i is not repeated, and blames no token',
    async (status) => {
      place.manifest(one, { timeout: { time: 60 } })
      await setFaults(emulator, { kind: 'gateway', status })
      const { code, err } = await place.cli('stats', one)
      expect(unwrap(err)).toContain(`HTTP ${status} without an answer of the service`)
      expect(err).not.toContain('EDGEWISE_TOKEN')
      expect(code).toBe(1)
      expect(await fetchCalls(emulator)).toHaveLength(1)
    },
  )
})
