import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { place, setStage } from './stage.ts'

const www = 'www.example.com'
const folder = new URL('../../examples/policies/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

setStage()

const origin = (default_master: string, origin_mode = 'https') => ({
  origin: { default_master, origin_mode },
})
const https = (more: object) => ({ https: { cert_id: 1001, ...more } })

/** A configuration that violates each policy, and one that does not. */
const cases: Record<string, [object, object]> = {
  'no-plain-origin.yaml': [origin('192.0.2.1', 'http'), origin('192.0.2.1')],
  'no-private-origin.yaml': [origin('192.0.2.1,172.20.1.1'), origin('172.40.1.1,100.10.0.1')],
  'redirect-to-https.yaml': [https({}), https({ force_https: 301 })],
  'modern-tls.yaml': [
    https({ ssl_protocol: ['TLSv1.1', 'TLSv1.2'] }),
    https({ ssl_protocol: ['TLSv1.2', 'TLSv1.3'] }),
  ],
  'certificates-alone.yaml': [{ ...https({}), timeout: { time: 60 } }, https({})],
  'nothing-released.yaml': [{ timeout: { time: 60 } }, { range_back_source: 'on' }],
}

it('every example is tested', () => {
  expect(files).toEqual(Object.keys(cases).toSorted())
  expect(files).toHaveLength(6)
})

it.each(Object.entries(cases))('%s finds what it is for, and nothing else', async (name, pair) => {
  const text = readFileSync(new URL(name, folder), 'utf8')
  const policy = /^policy: (.*)$/m.exec(text)?.[1] ?? ''
  const find = async () => {
    const { code, err } = await place.cli('plan')
    expect(code).toBe(0)
    return err.includes(`${policy} (`)
  }
  place.write(`policies/${name}`, text)
  if (name === 'nothing-released.yaml') {
    place.manifest(www, { timeout: { time: 60 }, connect_timeout: { origin_connect_timeout: 5 } })
    await place.cli('apply', '--yes')
    expect(await find()).toBe(false)
    place.manifest(www, { timeout: { time: 60 } })
    expect(await find()).toBe(true)
    return
  }
  const [bad, good] = pair
  for (const config of [good, { timeout: { time: 60 } }, { https: { cert_id: 0 } }]) {
    place.manifest(www, config as Record<string, never>)
    expect([config, await find()]).toEqual([config, false])
  }
  place.manifest(www, bad as Record<string, never>)
  expect(await find()).toBe(true)
})
