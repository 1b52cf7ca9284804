// @module-tag nightly
import { beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { EdgewiseError } from '../../src/core/model/edgewise-error.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import type { UserCache } from '../../src/operations/runtime/parts.ts'
import { listSchemaErrors } from '../report/output-schema.ts'
import { buildAnswer } from '../service/query-world.ts'
import { realDisk } from '../../src/state/folder/real-disk.ts'
import { checkWrites } from '../state/checked-disk.ts'
import { place, setStageInTime, time } from './stage.ts'
import { itLong } from '../runs.ts'

setStageInTime()

const www = 'www.example.com'
const api = 'api.example.com'
const key = 'correct-horse-battery'

/** What the service has stored, and the times of the queries for it. */
let stored: Map<string, JsonObject>
let reads: { at: number; domains: string[] }[]
/** Called with the number of each query before its answer. */
let onRead: (count: number) => void
/** Changes what the service stores of a write. */
let store: (config: JsonObject) => JsonObject

/** Adds settings to the workspace file. */
function configure(settings: JsonObject): void {
  const before = parse(place.read('edgewise.yaml')) as Record<string, JsonObject>
  for (const [name, value] of Object.entries(settings))
    before[name] = { ...before[name], ...(value as JsonObject) }
  place.write('edgewise.yaml', stringify(before))
}

/** Keeps the parts of the cache in memory. */
function createCache(): UserCache & { texts: Map<string, string> } {
  const texts = new Map<string, string>()
  return {
    texts,
    open: (_root, part) => ({
      load: () => texts.get(part) ?? null,
      save: (text) => void texts.set(part, text),
    }),
  }
}

function answerRead(domains: string[]): { status?: number; body: Json } {
  const recent = reads.filter(({ at }) => at > time.now - 60_000)
  if (recent.length >= 30) return { status: 429, body: { code: 429, message: 'too many calls' } }
  reads.push({ at: time.now, domains })
  onRead(reads.length)
  const data = domains.flatMap((domain) => {
    const config = stored.get(domain)
    if (config === undefined) return []
    return [{ domain, domain_id: '1', config: Object.keys(config).length === 0 ? [] : config }]
  })
  return { body: { code: 0, data } }
}

function answerList(number: number): { body: Json } {
  const size = 500
  const list = [...stored.keys()].map((domain, i) => ({
    id: String(i),
    domain,
    status: domain.startsWith('gone') ? 'deleted' : 'serving',
  }))
  const page = list.slice((number - 1) * size, number * size)
  const total = { total_number: String(list.length), page_number: String(number) }
  return { body: { code: 0, data: { ...total, list: page } } }
}

beforeEach(() => {
  stored = new Map()
  reads = []
  onRead = () => undefined
  store = (config) => config
  configure({ service: { readBack: true }, limits: { readsPerMinute: 30 } })
  place.transport = async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/v2/domain/config' && request.body === undefined)
      return buildAnswer(answerRead((searchParams.get('domains') ?? '').split(',')))
    if (pathname === '/v2/domain/list')
      return buildAnswer(answerList(Number(searchParams.get('page_number'))))
    if (request.body === undefined) throw new Error(`unexpected request: ${pathname}`)
    const { domains, config } = JSON.parse(request.body) as { domains: string; config: JsonObject }
    for (const domain of domains.split(','))
      stored.set(domain, { ...stored.get(domain), ...store(config) })
    return buildAnswer({ body: { code: 0, data: { config } } })
  }
})

/** Records domains with this value as imported, and stores it at the service. */
async function adopt(...domains: string[]): Promise<void> {
  for (const domain of domains) {
    place.manifest(domain, { timeout: { time: 60 } })
    stored.set(domain, { timeout: { time: '60' } })
  }
  expect((await place.cli('import', '--live')).code).toBe(0)
}

describe('drift --live', () => {
  it('is verified where the service has what was recorded', async () => {
    await adopt(www, api)
    const { code, out } = await place.cli('drift', '--live')
    expect([code, out]).toEqual([0, expect.stringContaining('2 as recorded')])
  })

  it('finds a changed value, and an item that the service does not have', async () => {
    await adopt(www, api)
    stored.set(www, { timeout: { time: '61' } })
    stored.set(api, {})
    const found = await place.json('drift', '--live')
    expect(found['items']).toMatchObject([
      { domain: api, kinds: ['live'], live: [{ op: 'remove', path: '' }] },
      { domain: www, kinds: ['live'], live: [{ op: 'replace', path: '/time', value: '61' }] },
    ])
    expect((await place.cli('drift', '--live')).code).toBe(2)
  })

  it('reads the selected domains only', async () => {
    await adopt(www, api)
    reads = []
    await place.cli('drift', '--live', '--target', 'api.*')
    expect(reads.map(({ domains }) => domains)).toEqual([[api]])
  })

  it('does not take a value that was never applied for one that is not shown', async () => {
    await adopt(www)
    place.manifest(www, { timeout: { time: 60 }, range_back_source: 'on' })
    expect((await place.json('drift', '--live'))['items']).toMatchObject([
      { item: 'range_back_source', kinds: ['pending'] },
      { item: 'timeout', kinds: [] },
    ])
    await place.cli('import', '--live', '--replace')
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(2)
  })

  itLong('names a domain that the service does not have', async () => {
    await adopt(www, api)
    stored.delete(api)
    const note = `The service has no configuration of ${api}: not compared.`
    const { out, err } = await place.cli('drift', '--live', '--report', 'drift.md')
    expect(err + out).toContain(note)
    expect(place.read('drift.md')).toContain(note)
    expect(out).toContain('1 as recorded, 1 assumed as recorded')
    expect(out).toContain('Drift: 1 domain not at the service.')
    expect((await place.cli('drift', '--live', '-q')).code).toBe(2)
    const output = await place.json('drift', '--live')
    expect(listSchemaErrors('drift', output)).toEqual([])
    expect(output).toMatchObject({ unanswered: [api], summary: { live: 0 } })
  })

  itLong('notifies of a domain that the service does not have', async () => {
    const titles: string[] = []
    const { transport } = place
    place.transport = async (request) => {
      if (!request.url.startsWith('https://hooks.')) return transport!(request)
      titles.push((JSON.parse(request.body ?? '') as { title: string }).title)
      return buildAnswer({ body: {} })
    }
    const receiver = '{kind: webhook, url: "https://hooks.example.com", on: [drift]}'
    place.write('edgewise.yaml', `${place.read('edgewise.yaml')}notify: [${receiver}]\n`)
    await adopt(www, api)
    expect((await place.cli('drift', '--live')).code).toBe(0)
    stored.delete(api)
    await place.cli('drift', '--live')
    stored.set(www, { timeout: { time: '61' } })
    await place.cli('drift', '--live')
    expect(titles).toEqual([
      'Drift: 1 domain not at the service.',
      'Drift: 1 item of 1 domain, 1 domain not at the service.',
    ])
  })

  itLong('ignores what drift.ignore names, and counts it', async () => {
    await adopt(www)
    stored.set(www, { timeout: { time: '61' } })
    const rule = { domain: '*.example.com', item: 'timeout', pointer: '/time', reason: 'tuned' }
    configure({ drift: { ignore: [rule] } })
    const { code, out } = await place.cli('drift', '--live')
    expect(code).toBe(0)
    expect(out).toContain('timeout (tuned): www.example.com')
    expect(out).toContain('Differences of 1 item are ignored by drift.ignore.')
    expect(out).toContain('Of 1 item: 1 ignored.')
    const shown = await place.cli('show', www, '--live')
    expect(shown.out).toContain('its difference is ignored: tuned')
    expect(shown.out).not.toContain('verified')
    const output = await place.json('drift', '--live')
    expect(listSchemaErrors('drift', output)).toEqual([])
    const { items, summary } = output
    expect(items).toMatchObject([{ kinds: [], ignored: 'tuned' }])
    expect(summary).toMatchObject({ live: 0, ignored: 1 })
  })

  it('needs service.readBack, and excludes --observed', async () => {
    await adopt(www)
    configure({ service: { readBack: false } })
    const off = await place.cli('drift', '--live')
    expect([off.code, off.err]).toEqual([1, expect.stringContaining('service.readBack is off')])
    const both = await place.cli('drift', '--live', '--observed', 'live.json')
    expect([both.code, both.err]).toEqual([1, expect.stringContaining('exclude each other')])
  })
})

it('import --live --replace records what drift --live found', async () => {
  await adopt(www, api)
  stored.set(www, { timeout: { time: '61' } })
  expect((await place.cli('drift', '--live')).code).toBe(2)
  expect((await place.cli('import', '--live', '--replace')).code).toBe(0)
  const shown = { items: await place.recorded(www) }
  expect(shown['items']).toMatchObject({
    timeout: { candidates: [{ time: '61' }], status: 'confirmed', origin: 'import' },
  })
  // The manifest still asks for the other value.
  expect(await place.json('drift', '--live')).toMatchObject({
    summary: { pending: 1, live: 0, verified: 2 },
  })
})

describe('apply --verify', () => {
  const apply = () => place.cli('apply', '--yes', '--verify')

  itLong('reads back what was written', async () => {
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 60 } })
    const { code, err } = await apply()
    expect([code, err]).toEqual([0, expect.stringContaining('Read back: 2 as sent.')])
    reads = []
    expect((await apply()).code).toBe(0)
    expect(reads).toEqual([])
  })

  itLong(
    'marks what the service stores differently, keeps what was sent, exits with 3',
    async () => {
      for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 60 } })
      store = () => ({ timeout: { time: '61' } })
      const { code, out, err } = await apply()
      expect([code, out]).toEqual([
        3,
        expect.stringContaining('Applied, but not read back as sent'),
      ])
      expect(err).toContain(`differs: timeout of ${api}, ${www}`)
      expect(err).toContain('Read back: 2 differ.')
      const shown = await place.json('show', www)
      expect(listSchemaErrors('show', shown)).toEqual([])
      expect(shown['items']).toMatchObject({
        timeout: { candidates: [{ time: '60' }], status: 'differs' },
      })
      expect((await place.cli('show', www)).out).toContain('differs')
      // It is not written again and again; drift has the values.
      expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
      expect((await place.cli('drift', '--live')).code).toBe(2)
      expect((await place.cli('import', '--live', '--replace')).code).toBe(0)
      expect(await place.recorded(www)).toMatchObject({
        timeout: { candidates: [{ time: '61' }], status: 'confirmed' },
      })
    },
  )

  it('is not done in its report, its metrics and its notification', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    store = () => ({ timeout: { time: '61' } })
    const url = 'https://hooks.example.net/x'
    const file = parse(place.read('edgewise.yaml')) as JsonObject
    const notify = [{ kind: 'webhook', url, on: ['applied'] }]
    place.write('edgewise.yaml', stringify({ ...file, notify }))
    const sent: string[] = []
    const { transport } = place
    place.transport = async (request) => {
      if (request.url !== url) return transport?.(request) ?? buildAnswer({ body: {} })
      sent.push(String(request.body))
      return buildAnswer({ body: {} })
    }
    const files = ['--report', 'report.md', '--metrics-file', 'edgewise.prom']
    await place.cli('apply', '--yes', '--verify', ...files)
    expect(sent.join('')).toContain('not read back as sent')
    expect(place.read('report.md')).toContain('not read back as sent')
    expect(place.read('edgewise.prom')).toMatch(/state="unverified"\S* 1/)
  })

  it('gives a write time to be seen', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    store = () => ({ timeout: { time: '1' } })
    onRead = (count) => {
      if (count === 2) stored.set(www, { timeout: { time: '60' } })
    }
    const { code, err } = await apply()
    expect([code, err]).toEqual([0, expect.stringContaining('Read back: 1 as sent.')])
  })

  it('is not whole where a domain is not returned, after it gave that time', async () => {
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 60 } })
    const kept = { timeout: { time: '60' } }
    onRead = (count) => void (count < 3 ? stored.delete(www) : stored.set(www, kept))
    expect((await apply()).code).toBe(0)
    expect(reads).toHaveLength(3)
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 70 } })
    const before = reads.length
    onRead = (count) => void (count > before + 1 && stored.delete(www))
    const { code, out, err } = await apply()
    expect([code, out]).toEqual([3, expect.stringContaining('Applied, but not read back')])
    expect(err).toContain(`not read back: the service has no configuration of ${www}`)
    expect(err).toContain('Read back: 1 as sent, 1 not comparable.')
  })

  it('compares neither what was refused nor what drift.ignore names', async () => {
    await adopt(www, api)
    const before = reads.length
    onRead = (count) => void (count > before + 1 && stored.set(api, { timeout: { time: '1' } }))
    for (const domain of [www, api]) place.manifest(domain, { timeout: { time: 70 } })
    configure({ drift: { ignore: [{ domain: www, item: 'timeout', reason: 'tuned' }] } })
    const { transport } = place
    place.transport = async (request) =>
      String(request.body).includes(api)
        ? buildAnswer({ status: 400, body: { code: 400001, message: 'refused' } })
        : (transport?.(request) ?? buildAnswer({ status: 500, body: {} }))
    store = () => ({ timeout: { time: '71' } })
    expect((await apply()).err).toContain('Read back: 1 not comparable.')
    expect(await place.recorded(api)).toMatchObject({
      timeout: { status: 'confirmed' },
    })
  })

  itLong('reads again no faster than the rate of the reads', async () => {
    const names = Array.from({ length: 250 }, (_, i) => `d${i}.example.com`)
    for (const domain of names) place.manifest(domain, { timeout: { time: 60 } })
    store = () => ({ timeout: { time: '61' } })
    let throttled = 0
    const { transport } = place
    place.transport = async (request) => {
      const answer = await (transport?.(request) ?? buildAnswer({ status: 500, body: {} }))
      throttled += Number(answer.status === 429)
      return answer
    }
    expect((await apply()).err).toContain('Read back: 250 differ.')
    expect([reads.length, throttled]).toEqual([75, 0])
  })

  it('keeps exit 3 and the outcome if the mark can not be saved', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    store = () => ({ timeout: { time: '61' } })
    let isRead = false
    onRead = () => void (isRead = true)
    place.disk = checkWrites(() => {
      if (isRead) throw new EdgewiseError('record-unreachable', 'no space left')
    })
    const { code, out, err } = await apply()
    place.disk = realDisk
    expect([code, out]).toEqual([3, expect.stringContaining('1 confirmed')])
    expect(err).toContain(`differs: timeout of ${www}`)
  })

  itLong('reports an event with --json', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    store = () => ({ timeout: { time: '61' } })
    const { code, out } = await place.cli('apply', '--yes', '--verify', '--json')
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as JsonObject)
    for (const event of events) expect(listSchemaErrors('apply-event', event)).toEqual([])
    expect([code, events.at(-1)]).toEqual([
      3,
      expect.objectContaining({
        type: 'apply.verified',
        differs: [{ domain: www, item: 'timeout' }],
      }),
    ])
  })

  it('keeps what was confirmed if nothing can be read', async () => {
    place.manifest(www, { timeout: { time: 60 } })
    onRead = () => {
      throw new Error('the connection is gone')
    }
    const { code, err } = await apply()
    expect(code).toBe(3)
    expect(err).toContain('not read back')
    expect(await place.recorded(www)).toMatchObject({
      timeout: { status: 'confirmed' },
    })
  })

  it('needs service.readBack, before anything is sent', async () => {
    configure({ service: { readBack: false } })
    place.manifest(www, { timeout: { time: 60 } })
    expect((await apply()).code).toBe(1)
    expect(stored.size).toBe(0)
  })
})

describe('import --live', () => {
  itLong('reads a fleet within the rate, and resumes after an interruption', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `d${i}.example.com`)
    for (const [i, domain] of names.entries())
      stored.set(domain, { timeout: { time: String(60 + (i % 7)) } })
    const cache = createCache()
    place.cache = cache
    const interrupt = new AbortController()
    place.signal = interrupt.signal
    onRead = (count) => {
      if (count === 100) interrupt.abort()
    }
    const begin = time.now
    const first = await place.cli('import', '--live', '--write-manifests')
    expect(first.code).not.toBe(0)
    expect(await place.json('state', 'list')).toMatchObject({ domains: [] })
    place.signal = new AbortController().signal
    const second = await place.cli('import', '--live', '--write-manifests')
    expect(second.err).toContain('Resumed: ')
    expect([second.code, second.out]).toEqual([0, 'Recorded 3,000 items of 3,000 domains.\n'])
    // Some answers were in flight.
    expect(reads.length).toBeLessThan(310)
    expect(time.now - begin).toBeLessThan(12 * 60_000)
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    expect(cache.texts.get('reads')).not.toContain('example.com')
  })

  itLong('reads again what an apply has changed since it was read', async () => {
    await adopt(www)
    place.cache = createCache()
    stored.set(www, { timeout: { time: '61' } })
    expect((await place.cli('import', '--live')).code).toBe(1)
    place.manifest(www, { timeout: { time: 99 } })
    expect((await place.cli('apply', '--yes', '--allow', 'timeout')).code).toBe(0)
    const { code, err } = await place.cli('import', '--live', '--replace')
    expect([code, err]).toEqual([0, expect.not.stringContaining('Resumed')])
    expect(await place.recorded(www)).toMatchObject({
      timeout: { candidates: [{ time: '99' }] },
    })
  })

  itLong('lists all domains of a service with smaller pages, and warns of the others', async () => {
    const names = Array.from({ length: 250 }, (_, i) => `d${i}.example.com`)
    for (const domain of names) stored.set(domain, { timeout: { time: '60' } })
    for (const domain of ['*.example.com', `${www},${api}`]) stored.set(domain, {})
    const { transport } = place
    place.transport = async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname !== '/v2/domain/list')
        return transport?.(request) ?? buildAnswer({ status: 500, body: {} })
      const end = Number(searchParams.get('page_number')) * 100
      const list = [...stored.keys()].slice(end - 100, end).map((domain) => ({ domain }))
      return buildAnswer({ body: { code: 0, data: { total_number: '253', list } } })
    }
    const { code, out, err } = await place.cli('import', '--live', '--write-manifests')
    expect([code, out]).toEqual([0, 'Recorded 250 items of 250 domains.\n'])
    expect(err).toContain('The service counts 253 domains, and lists 252: some may be missing.')
    expect(err.replaceAll(/\s+/g, ' ')).toContain(
      `Edgewise can't manage *.example.com, ${www},${api}: not imported.`,
    )
    expect(reads.flatMap(({ domains }) => domains).toSorted()).toEqual(names.toSorted())
  })

  it('keeps no secret of an interrupted import', async () => {
    const secret = { pattern: '.*', time_format: 'timestamp', key, deadtime: 1800, req_uri_type: 1 }
    stored.set(www, { visit_timestamp: secret })
    stored.set(api, { timeout: { time: '60' } })
    place.manifest(www, { visit_timestamp: secret })
    await adopt(api)
    stored.set(api, { timeout: { time: '61' } })
    const cache = createCache()
    place.cache = cache
    const { code, err } = await place.cli('import', '--live')
    expect([code, err]).toEqual([1, expect.stringContaining('--replace')])
    const kept = [...cache.texts.values()].join('\n')
    expect(kept).not.toContain(key)
    expect(kept).toContain(api)
  })

  it('keeps what was recorded of fields that the service never shows', async () => {
    const https = { cert_id: 7, ocsp: 'on', ssl_protocol: ['TLSv1.3'] }
    const rule = { regex: '.*', head_op: 'ADD', head_direction: 'CLI_REP', value: '1', order: 3 }
    const head_control = { list: [{ ...rule, head: 'X-A' }] }
    await place.manifest(www, { https, head_control }).settle()
    const { order: _order, ...shown } = { ...rule, key: 'X-A', fun_name: '' }
    const read = {
      https: { cert_id: 7, http2: '', force_https: '0' },
      head_control: { list: [shown] },
    }
    stored.set(www, read)
    const live = await place.cli('import', '--live')
    expect([live.code, live.out]).toEqual([0, 'Recorded 2 items of 1 domain.\n'])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
    // An answer of the query in a file is the same; a payload by domain is whole.
    place.write('read.json', JSON.stringify({ code: 0, data: [{ domain: www, config: read }] }))
    expect((await place.cli('import', 'read.json')).code).toBe(0)
    place.write('whole.json', JSON.stringify({ [www]: { https: { cert_id: 7 } } }))
    expect((await place.cli('import', 'whole.json')).err).toContain('the state has something else')
  })

  itLong('leaves out the fields that only the service has', async () => {
    const signed = { pattern: '.*', time_format: 'timestamp', key, deadtime: 60, req_uri_type: 1 }
    store = ({ visit_timestamp, ...rest }) => ({
      ...rest,
      visit_timestamp: { ...(visit_timestamp as JsonObject), error_page: '', request_style: '1' },
    })
    configure({ secrets: { sign: { env: 'SIGN' } } })
    place.env = { ...place.env, SIGN: key }
    await place.manifest(www, { visit_timestamp: { ...signed, key: '${secret:sign}' } }).settle()
    expect((await place.cli('drift', '--live')).out).toContain('1 as recorded')
    const { code, out } = await place.cli('import', '--live')
    expect([code, out]).toEqual([0, 'Recorded 1 item of 1 domain.\n'])
    expect((await place.cli('plan', '--detailed-exitcode')).code).toBe(0)
  })

  it('reads nothing where a manifest has an error', async () => {
    place.manifest(www, { timeout: { time: 'x' } })
    expect((await place.cli('import', '--live')).code).toBe(1)
    expect(reads).toEqual([])
  })

  it('skips what can not be imported, with the reason', async () => {
    place.manifest(www, { timeout: { time: 60 }, referer: { type: 1, list: ['a.example.com'] } })
    stored.set(www, { timeout: { time: '60' }, referer: { type: 7, list: [] } })
    const { code, out, err } = await place.cli('import', '--live')
    expect([code, out]).toEqual([0, 'Recorded 1 item of 1 domain.\n'])
    expect(err.replaceAll(/\s+/g, ' ')).toMatch(/referer: .* \(www\.example\.com\); it was not/)
  })

  it('leaves out the domains of --exclude, which it does not read either', async () => {
    for (const domain of [www, api]) stored.set(domain, { timeout: { time: '60' } })
    const { code } = await place.cli('import', '--live', '--write-manifests', '--exclude', 'api.*')
    expect([code, reads.flatMap(({ domains }) => domains)]).toEqual([0, [www]])
    const { domains } = (await place.json('state', 'list')) as { domains: JsonObject[] }
    expect(domains.map(({ domain }) => domain)).toEqual([www])
  })

  it('takes domains by name, without a manifest and without the list', async () => {
    stored.set(www, { timeout: { time: '60' } })
    stored.set('gone.example.com', { timeout: { time: '60' } })
    const { code } = await place.cli('import', '--live', '--write-manifests', '--target', www)
    expect(code).toBe(0)
    expect(await place.json('state', 'list')).toMatchObject({ domains: [{ domain: www }] })
    const all = await place.cli('import', '--live', '--write-manifests', '--replace')
    expect(all.code).toBe(0)
    expect(await place.json('state', 'list')).toMatchObject({ domains: [{ domain: www }] })
  })

  it.each([
    [['import'], 'expected files to import'],
    [['import', '--live', 'a.json'], 'files and --live exclude each other'],
    [['import', '--live', '--domain', www], 'cannot be used with option'],
    [['import', 'a.json', '--target', www], '--target is valid only with --live'],
    [['import', '--live'], 'no manifest declares a domain'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await place.cli(...args)
    expect([code, err.replaceAll(/\s+/g, ' ')]).toEqual([1, expect.stringContaining(message)])
  })
})
