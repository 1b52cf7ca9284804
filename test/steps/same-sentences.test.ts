import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findSpot } from '../../src/cli/lsp/cursor.ts'
import { describeSpot } from '../../src/cli/lsp/hover.ts'
import { loadWorkspace } from '../../src/operations/runtime/load-workspace.ts'
import { connectAgent } from '../mcp/agent.ts'
import { Place } from './cli.ts'

const domain = 'www.example.com'
const config = {
  origin: { default_master: 'eu.example.org', origin_mode: 'https' },
  https: { cert_id: 1001 },
  cache_rule_list: [
    { match_method: 'route', pattern: '/', expire: 5, expire_unit: 'i', priority: 1 },
    { match_method: 'dir', pattern: '/', expire: 30, expire_unit: 'D', priority: 2 },
  ],
}
const sentences =
  'Served. Cached for 5 minutes by "route /" (domains/www.example.com.yaml:1), unless the origin ' +
  'forbids it; the key is the URL. Fetched from eu.example.org over https. Not compressed, no ' +
  'speed limit.'
const introduced = `GET https://${domain}/ by a usual visitor: ${sentences}`

let place: Place
beforeAll(() => {
  place = new Place('emulator').manifest(domain, config)
})
afterAll(() => place.remove())

const join = (text: string) => text.replaceAll(/\s+/g, ' ')

describe('the sentences of a trace', () => {
  it('stand above the stages, in at most 80 columns', async () => {
    const { out } = await place.cli('trace', `https://${domain}/`)
    const [, ...lines] = out.split('\n\n')[0]?.split('\n') ?? []
    expect(lines.join(' ')).toBe(sentences)
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('stand in one line in the panel of a served page; rules have kinds and times', async () => {
    const { out } = await place.cli('trace', '--served', `https://${domain}/`)
    expect(out.split('\n')[0]).toBe(sentences)
    expect(out).toMatch(/^cache +5 minutes +route \/\n +domains\/www\.example\.com\.yaml:1$/m)
    expect(out).toMatch(/^ {2}also +30 days +dir \/\n +domains\/www\.example\.com\.yaml:1$/m)
  })

  it('are what show says of a request for the first page', async () => {
    const { out } = await place.cli('show', domain)
    expect(join(out)).toContain(introduced)
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('are beside the answers of tools for agents', async () => {
    const agent = await connectAgent(place)
    try {
      const traced = await agent.call('trace', { requests: [`https://${domain}/`] })
      expect(traced.texts.join()).toContain(JSON.stringify(introduced))
      const shown = await agent.call('show', { domain })
      expect(shown.texts.join()).toContain(JSON.stringify(introduced))
    } finally {
      await agent.close()
    }
  })

  it('are what an editor says of a domain', () => {
    const path = `domains/${domain}.yaml`
    const text = place.read(path)
    const spot = findSpot(text, text.indexOf(domain) + 1)
    if (spot === null) throw new Error('there is nothing at the domain')
    const workspace = loadWorkspace(place.root, place.createIo(), 'none')
    const hover = describeSpot({ path, spot, workspace, recorded: null, now: 0 })
    expect(hover?.replaceAll('\\', '')).toContain(introduced)
  })
})

it('show tells http without a certificate, a host of a wildcard, what is recorded', async () => {
  const other = new Place('emulator')
  try {
    const origin = 'config: {origin: {default_master: eu.example.org}'
    other.write('domains/wild.yaml', `domain: .wild.example.com\n${origin}}\n`)
    const { out } = await other.cli('show', '.wild.example.com')
    expect(join(out)).toContain('GET http://www.wild.example.com/ by a usual visitor: Served. Not')
    expect((await other.cli('apply', '--yes')).code).toBe(0)
    other.write('domains/wild.yaml', `domain: .wild.example.com\n${origin}, timeout: {time: x}}\n`)
    const recorded = await other.cli('show', '.wild.example.com')
    expect(join(recorded.out)).toContain('http://www.wild.example.com/ by a usual visitor: Served.')
  } finally {
    other.remove()
  }
})
