import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { fetchConfig } from './cli.ts'
import { emulator, place, setStage } from './stage.ts'

setStage()

const domain = 'a.example.com'
const [one, two] = ['${secret:preview}', '${secret:other}']

function configure(config: JsonObject): void {
  place.manifest(domain, { https: { cert_id: 1 }, ...config })
}

async function run(...args: string[]): Promise<string> {
  const { code, out, err } = await place.cli(...args)
  expect([code, err.match(/error|defect/i)]).toEqual([0, null])
  expect(out + err).not.toMatch(/\[object|preview-text/i)
  return out.replaceAll(/\s+/g, ' ')
}

/** An item with a secret in a text that is no secret field, the values, and what is unknown. */
const rows: [string, Json, string, string][] = [
  [
    'visit_deny_whitelist',
    [
      { url: one, turn_on: true },
      { url: '/b', turn_on: true },
    ],
    '/x',
    '',
  ],
  ['cache_rule_list', [{ match_method: 'ext', pattern: one, expire: 5 }], 'jpg', 'cache unknown'],
  ['ip_black_list', { list: ['10.0.0.0/8', one] }, '192.0.2.1', 'ip_black_list unknown'],
  ['deny_url', { urls: [one, '/x'] }, '/y', 'deny_url unknown'],
  ['origin', { default_master: one }, '192.0.2.9', 'origin unknown'],
  ['source_url_rewrite', [{ origin_url: one, target_url: '/y' }], '/x', 'url unknown'],
]

describe.each(rows)('%s with a secret', (item, value, text, unknown) => {
  it('is sent, recorded, traced and compared', async () => {
    place.configure('secrets: {preview: {env: PREVIEW}, other: {env: OTHER}}')
    place.env = { ...place.env, PREVIEW: text, OTHER: `${text}9` }
    configure({ [item]: value })
    await run('apply', '--yes')
    expect(JSON.stringify((await fetchConfig(emulator, domain))[item])).toContain(`"${text}"`)
    expect(await run('plan')).toContain('No changes.')

    const facts = ['--ip', '192.0.2.7', '--method', 'GET', '--assume', 'unmanaged=absent']
    const traced = await run('trace', `https://${domain}/a.jpg`, ...facts, '--of', 'recorded')
    if (unknown !== '') expect(traced).toMatch(new RegExp(`${unknown} depends on secret preview`))

    place.write('requests.txt', `https://${domain}/a.jpg\n`)
    configure({ [item]: JSON.parse(JSON.stringify(value).replace(one, two)) as Json })
    const compared = await run('plan', '--requests', 'requests.txt', '--witness')
    if (unknown !== '') expect(compared).toMatch(/depends on secret other, preview/)
    expect(compared).not.toContain('literal')
    await run('apply', '--yes')
    expect(JSON.stringify((await fetchConfig(emulator, domain))[item])).toContain(`"${text}9"`)
  })
})
