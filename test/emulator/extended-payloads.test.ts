import { describe, expect, it } from 'vitest'
import { isObject, type Json, type JsonObject } from '../../src/core/model/json.ts'
import { accountNames, change, few, many, single } from './extended-payloads.ts'
import { createExtendedWorld, getData, listEntries, type ExtendedWorld } from './extended-world.ts'

const [files, pages] = ['files.example.com', 'pages.example.com']
const paths = ['/v2/domain/config', '/v2/domain'] as const

/** Writes a configuration, with the token where the client has it. */
async function write(service: ExtendedWorld, domain: string, config: JsonObject, token: string) {
  const query = token === 'query' ? 'token=tok' : ''
  const body = { domains: domain, config, ...(token === 'body' ? { token: 'tok' } : {}) }
  const answer = await service.request({ query, body: JSON.stringify(body) })
  expect([config, answer.status, answer.body]).toMatchObject([config, 200, { code: 0 }])
  expect(getData(answer.body)['config']).toEqual(buildAnswered(config))
}

/** Builds what a write answers: what was sent, with the URLs alone of one item. */
function buildAnswered(config: JsonObject): Json {
  const { visit_deny_whitelist: rules, ...rest } = config
  if (!Array.isArray(rules)) return config
  const url = rules.map((rule) => (isObject(rule) ? (rule['url'] ?? null) : null))
  return { ...rest, visit_deny_whitelist: { url } }
}

async function readBy(service: ExtendedWorld, path: string, domain: string): Promise<Json> {
  const { body } = await service.send(`GET ${path}?domains=${domain}`)
  return listEntries(body)[0]?.['config'] ?? null
}

/** Checks that what either query returns can be written, and changes nothing. */
async function writeBack(service: ExtendedWorld, domain: string): Promise<void> {
  for (const path of paths) {
    const read = await readBy(service, path, domain)
    if (!isObject(read)) continue
    await write(service, domain, read, 'query')
    expect(await readBy(service, path, domain)).toEqual(read)
  }
}

describe.each(['query', 'body'])('an item that a client writes, its token in the %s,', (token) => {
  it.each(single)('is read: %j', async (written, read) => {
    const service = createExtendedWorld({ itemKeys: accountNames })
    await write(service, files, written, token)
    const [name = ''] = Object.keys(written)
    expect(await service.read(files)).toEqual(read === null ? [] : { [name]: read })
    await writeBack(service, files)
    const body = { domains: files, config: [name, 'timeout'] }
    const unset = await service.send('DELETE /v2/domain/config', body)
    expect(unset.body).toEqual({ code: 0, data: '' })
    expect(await service.read(files)).toEqual([])
  })
})

it('a client of two domains reads what it created, wrote, changed and wrote back', async () => {
  const service = createExtendedWorld({ domains: [] })
  const create = async (domain: string, area: string, type: string, origin: Json) => {
    const body = { domain, area, type, config: { origin } }
    expect(getData((await service.send('POST /v2/domain', body)).body)).toMatchObject({
      domain,
      type,
      config: { origin },
    })
  }
  await create(files, 'global', 'download', few.written['origin'] ?? null)
  await write(service, files, few.written, 'query')
  await create(pages, 'mainland_china', 'page', many.written['origin'] ?? null)
  await write(service, pages, many.written, 'query')
  expect(await service.read(files)).toEqual(few.read)
  expect(await service.read(pages)).toEqual(many.read)
  const some = '&config[]=origin&config[]=referer&config[]=ip_black_list'
  const { origin = null, referer = null, ip_black_list = null } = many.read
  expect(await service.read(pages, some)).toEqual({ origin, referer, ip_black_list })

  const gone = { domains: pages, config: ['referer', 'compress_response'] }
  await service.send('DELETE /v2/domain/config', gone)
  await write(service, pages, change.written, 'query')
  const { referer: _, compress_response: __, ...left } = many.read
  const changed = { ...left, ...change.read }
  expect(await service.read(pages)).toEqual(changed)
  expect(await service.read(pages, some)).toEqual({ origin: changed.origin, ip_black_list })
  expect(await service.read(files)).toEqual(few.read)

  for (const [domain, read] of [[files, few.read] as const, [pages, changed] as const]) {
    await writeBack(service, domain)
    expect(await service.read(domain)).toEqual(read)
    const unset = { domains: domain, config: Object.keys(read) }
    await service.send('DELETE /v2/domain/config', unset)
    expect(await service.read(domain)).toEqual([])
    await service.send(`DELETE /v2/domain?domains=${domain}`)
    expect(await service.read(domain)).toBeUndefined()
  }
})

it.each<[string, (list: string[]) => Json]>([
  ['ip_black_list', (list) => ({ list: list.map((each) => `203.0.113.${each}`) })],
  ['deny_url', (list) => ({ urls: list.map((each) => `/${each}`) })],
  ['referer', (list) => ({ type: 1, list: list.map((each) => `r${each}.example.net`) })],
])('a list of %s has the order of its last write', async (item, build) => {
  const service = createExtendedWorld()
  for (const list of [
    ['3', '1', '2'],
    ['2', '3', '1'],
    ['1', '2', '3'],
  ]) {
    await write(service, files, { [item]: build(list) }, 'body')
    expect(await service.read(files)).toMatchObject({ [item]: build(list) })
  }
})

it('a class of status codes in lower case is refused, and nothing is written', async () => {
  const service = createExtendedWorld()
  const codes = { code: ['502', '5xx'], bcache: 'on', cache_time: 3, cache_unit: 'minute' }
  const answer = await service.write({ timeout: { time: '45' }, cache_error_code: codes }, files)
  expect(answer).toMatchObject({ status: 400, body: { code: 400203 } })
  expect(await service.read(files)).toEqual([])
})
