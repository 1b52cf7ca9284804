import { describe, expect, it } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { getData, listEntries } from './extended-world.ts'

type Call = <T>(request: string, body: Json, check: (body: Json) => T) => Promise<T>

/** Calls an extended emulator over HTTP; a client sends its JSON type with queries too. */
async function withEmulator(work: (call: Call, url: string) => Promise<void>): Promise<void> {
  let [time, answered] = [Date.UTC(2026, 10, 20), 0]
  const emulator = await startEmulator(
    {
      token: 'tok',
      domains: null,
      callsPerMinute: 30,
      itemKeys: {},
      control: false,
      lenient: false,
      extended: true,
      deployMs: 3000,
      dataFile: null,
      limitStyle: 'status',
      seed: 'traffic',
      timezone: 'UTC',
      deadOrigins: [],
      faults: [],
      now: () => time,
      requestId: () => String(++answered),
    },
    { host: '127.0.0.1', port: 0 },
  )
  const call: Call = async (request, body, check) => {
    time += 2000
    const [method = '', path = ''] = request.split(' ')
    const mark = path.includes('?') ? '&' : '?'
    const answer = await fetch(`${emulator.url}${path}${mark}token=tok`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    })
    const answeredBody = (await answer.json()) as Json
    expect([request, answer.status, answeredBody]).toMatchObject([request, 200, { code: 0 }])
    return check(answeredBody)
  }
  try {
    await work(call, emulator.url)
  } finally {
    await emulator.close()
  }
}

const site = 'shop.example.com'
const config: JsonObject = {
  origin: {
    default_master: '198.51.100.20,198.51.100.21',
    default_slave: '203.0.113.44',
    origin_mode: 'custom',
    ori_https: 'yes',
    port: 8443,
  },
  referer: { type: 1, list: ['evil.example.org'], allow_empty: true },
  compress_response: { content_type: ['text/plain'], min_size: '64', min_size_unit: 'kb' },
  speed_limit: [
    { type: 'dir', pattern: '/big/', speed: 99, begin_time: '09:30', end_time: '17:00' },
  ],
  rate_limit: { max_rate_count: 3, max_rate_unit: 'mb', leading_flow_unit: 'MB' },
  cache_rule_list: [
    { match_method: 'route', pattern: '/feed', expire: 90, expire_unit: 'i', priority: 4 },
    { match_method: 'all', pattern: '.*', expire: 2, expire_unit: 'D', priority: 5 },
  ],
  head_control: {
    list: [
      {
        regex: '/x',
        head_op: 'DEL',
        head_direction: 'SER_REP',
        head: 'X-Powered-By',
        value: '',
        order: 1,
      },
    ],
  },
}

const listConfigKeys = (body: Json): string[] => Object.keys(listEntries(body)[0]?.['config'] ?? {})
const getRecord = (body: Json): JsonObject => listEntries(body)[0] ?? {}

describe('the traffic of real clients', () => {
  it('that manage a domain from its creation to its end is answered', async () => {
    await withEmulator(async (call) => {
      const domain = {
        domain: site,
        area: 'rim',
        type: 'dynamic',
        config: { origin: config['origin'] ?? null },
      }
      const id = await call('POST /v2/domain', domain, (body) => {
        expect(getData(body)).toMatchObject({ domain: site, status: 'deploying' })
        return getData(body)['id']
      })
      await call('POST /v2/domain/config', { domains: site, config }, (body) =>
        expect(getData(body)).toMatchObject({ config, domains: [{ id, domain: site }] }),
      )
      for (const status of ['deploying', 'serving'])
        await call(`GET /v2/domain?domains=${site}`, null, (body) =>
          expect(getRecord(body)).toMatchObject({ id, domain: site, status, area: 'rim' }),
        )
      await call(`GET /v2/domain/config?domains=${site}`, null, (body) => {
        expect(getRecord(body)).toMatchObject({ domain: site, domain_id: id })
        expect(new Set(listConfigKeys(body))).toEqual(new Set(Object.keys(config)))
      })
      const some = `domains=${site}&config[]=origin&config[]=referer&config[]=ip_white_list`
      await call(`GET /v2/domain/config?${some}`, null, (body) =>
        expect(listConfigKeys(body)).toEqual(['origin', 'referer']),
      )

      // A change: what is gone is unset first, then what has changed is sent whole.
      const gone = { domains: site, config: ['referer', 'compress_response', 'deny_url'] }
      await call('DELETE /v2/domain/config', gone, (body) =>
        expect(typeof (isObject(body) ? body['data'] : null)).toBe('string'),
      )
      const changed = { speed_limit: config['speed_limit'] ?? null }
      await call('POST /v2/domain/config', { domains: site, config: changed }, (body) =>
        expect(getData(body)).toMatchObject({ config: changed }),
      )
      await call(`GET /v2/domain/config?domains=${site}`, null, (body) => {
        const left = Object.keys(config).filter((item) => !gone.config.includes(item))
        expect(new Set(listConfigKeys(body))).toEqual(new Set(left))
      })
      await call('GET /v2/domain/list?page_number=1&page_size=500&domain_status=', null, (body) =>
        expect(getData(body)).toMatchObject({ total_number: '1', page_number: '1' }),
      )
      await call(`DELETE /v2/domain?domains=${site}`, null, () => {})
      await call(`GET /v2/domain/config?domains=${site}`, null, (body) =>
        expect(listEntries(body)).toEqual([]),
      )
    })
  })

  it('that submit URLs and ask for their tasks is answered', async () => {
    await withEmulator(async (call) => {
      const urls = [`https://${site}/video/1.mp4`, `https://${site}/video/2.mp4`]
      for (const kind of ['refresh', 'prefetch'] as const) {
        const body: JsonObject = kind === 'refresh' ? { urls, type: 'url' } : { urls }
        const task = await call(`POST /v2/cache/${kind}`, body, (answer) => {
          expect(getData(answer)).toEqual({
            task_id: expect.stringMatching(/^\d+$/) as string,
            count: 2,
            err_urls: [],
          })
          return String(getData(answer)['task_id'])
        })
        await call(`GET /v2/cache/${kind}?task_id=${task}`, null, (answer) => {
          const { list } = getData(answer)
          const ids = listEntries({ data: list ?? null }).map((record) => typeof record['id'])
          expect(ids).toEqual(['string', 'string'])
        })
      }
    })
  })

  it('that upload certificates and bind them is answered', async () => {
    await withEmulator(async (call) => {
      const first = { name: 'a', certificate: 'PEM A', key: 'PEM KEY A', cert_id: null }
      const id = await call('POST /v2/domain/certificate', first, (body) =>
        String(getData(body)['cert_id']),
      )
      await call(`GET /v2/domain/config?config%5B%5D=https&domains=${site}`, null, (body) =>
        expect(getRecord(body)['config']).toEqual([]),
      )
      const https = { cert_id: Number(id), http2: 'on', force_https: '302' }
      await call('POST /v2/domain/config', { domains: site, config: { https } }, (body) =>
        expect(getData(body)).toMatchObject({ config: { https } }),
      )
      const second = { ...first, certificate: 'PEM B', cert_id: id }
      await call('POST /v2/domain/certificate', second, (body) =>
        expect(getData(body)['cert_id']).toBe(id),
      )
      await call(`GET /v2/domain/certificate?cert_id=${id}`, null, (body) =>
        expect(getData(body)).toMatchObject({ certificate: 'PEM B', key: 'PEM KEY A' }),
      )
      await call('DELETE /v2/domain/certificate', { cert_id: Number(id) }, () => {})
    })
  })
  it('that have their token in a header only is refused', async () => {
    await withEmulator(async (_, url) => {
      const headers = { Token: 'tok', Authorization: 'Bearer tok' }
      const answer = await fetch(`${url}/v2/domain/config?domains=${site}`, { headers })
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ code: 401001 })
    })
  })
})
