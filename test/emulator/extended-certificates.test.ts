import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DataFile } from '../../src/emulator/store/data-file.ts'
import { Store } from '../../src/emulator/store/store.ts'
import type { Json } from '../../src/core/model/json.ts'
import { createExtendedWorld, getData, type ExtendedWorld } from './extended-world.ts'
import { itLong } from '../runs.ts'

const path = '/v2/domain/certificate'
/** Private keys that no other test and no message has. */
const [key, otherKey] = [`key-${randomUUID()}`, `key-${randomUUID()}`]
const submitted = { name: 'main', certificate: 'CERTIFICATE 1', key }
/** A certificate without its key, for example.com and *.example.com. */
const real = [
  '-----BEGIN CERTIFICATE-----',
  'MIIBqDCCAU6gAwIBAgIUBeS+HODnghC4MwWkX3+YDDjFCXAwCgYIKoZIzj0EAwIw',
  'FjEUMBIGA1UEAwwLZXhhbXBsZS5jb20wHhcNMjYxMTI2MTYyMTE1WhcNMzYxMTIz',
  'MTYyMTE1WjAWMRQwEgYDVQQDDAtleGFtcGxlLmNvbTBZMBMGByqGSM49AgEGCCqG',
  'SM49AwEHA0IABOUBk5zmMmx0o2YQ47uX1Li4Ad8mAMBmlHYYarOnBbNu2sRnfeMf',
  'nt88zv7MhpcH5+vW/x3MGu99LA6hLjExheyjejB4MB0GA1UdDgQWBBQF0rDhSHKm',
  'mN2nValRTnb3Xu/tjzAfBgNVHSMEGDAWgBQF0rDhSHKmmN2nValRTnb3Xu/tjzAP',
  'BgNVHRMBAf8EBTADAQH/MCUGA1UdEQQeMByCC2V4YW1wbGUuY29tgg0qLmV4YW1w',
  'bGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBlQ3oqauzg5J4/dnjdxbQetSFtNyVRB',
  'li2EuC5MtS+pAiEAyf5AMVqhBgwjTSd4RVj+nZMLlT1tEl/kQFNHcyYon8E=',
  '-----END CERTIFICATE-----',
].join('\n')

/** Facts of a text that is no certificate, and that no domain has. */
const noFacts = {
  bind_domains: [],
  associated_domains: [],
  include_domains: [],
  cert_start_time: '',
  cert_expire_time: '',
}

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgewise-certificates-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function save(service: ExtendedWorld, body: Json): Promise<string> {
  const { cert_id } = getData((await service.send(`POST ${path}`, body)).body)
  return String(cert_id)
}

describe('certificates', () => {
  it('are created, replaced, answered and removed', async () => {
    const service = createExtendedWorld()
    const id = await save(service, { ...submitted, cert_id: null })
    const expected = { cert_id: id, ...submitted, ...noFacts }
    expect(getData((await service.send(`GET ${path}?cert_id=${id}`)).body)).toEqual(expected)

    const replacement = { name: 'next', certificate: 'CERTIFICATE 2', key: otherKey }
    expect(await save(service, { ...replacement, cert_id: Number(id) })).toBe(id)
    expect(await save(service, { ...replacement, cert_id: id })).toBe(id)
    const other = await save(service, submitted)
    expect(other).not.toBe(id)
    expect(getData((await service.send(`GET ${path}`)).body)).toEqual({
      total_number: 2,
      page_number: 1,
      page_size: 100,
      list: [
        { cert_id: id, ...replacement, ...noFacts },
        { cert_id: other, ...submitted, ...noFacts },
      ],
    })
    const second = await service.send(`GET ${path}?page_number=2&page_size=1`)
    expect(getData(second.body)).toMatchObject({ total_number: 2, list: [{ cert_id: other }] })

    expect((await service.send(`DELETE ${path}`, { cert_id: Number(id) })).body).toEqual({
      code: 0,
      data: '',
    })
    expect((await service.send(`GET ${path}?cert_id=${id}`)).body).toMatchObject({ code: 400602 })
    expect((await service.send(`DELETE ${path}`, { cert_id: id })).body).toMatchObject({
      code: 400602,
    })
  })

  it('name what they are for, and when they are valid', async () => {
    const service = createExtendedWorld({ domains: ['www.example.com', 'a.b.example.com'] })
    const id = await save(service, { ...submitted, certificate: real })
    await service.write({ https: { cert_id: Number(id) } }, 'www.example.com')
    const found = getData((await service.send(`GET ${path}?cert_id=${id}`)).body)
    expect(found).toMatchObject({
      bind_domains: ['www.example.com'],
      associated_domains: ['www.example.com'],
      include_domains: ['example.com', '*.example.com'],
      cert_start_time: '2026-11-26 16:21:15',
      cert_expire_time: '2036-11-23 16:21:15',
    })
  })

  it('list the domains that are bound to them, however these came about', async () => {
    const service = createExtendedWorld()
    const id = await save(service, submitted)
    const https = { cert_id: id }
    await service.write({ https }, 'www.example.com')
    const made = { domain: 'new.example.com', type: 'page', config: { https } }
    await service.send('POST /v2/domain', made)
    await service.write({ https: { cert_id: 99 } }, 'other.example.com')
    const look = async () => getData((await service.send(`GET ${path}?cert_id=${id}`)).body)
    expect(await look()).toMatchObject({ bind_domains: ['www.example.com', 'new.example.com'] })
    await service.send('DELETE /v2/domain?domains=www.example.com')
    expect(await look()).toMatchObject({ bind_domains: ['new.example.com'] })
    await service.write({ https: { cert_id: 0 } }, 'new.example.com')
    expect(await look()).toMatchObject({ bind_domains: [] })
  })

  it('are refused as duplicates, with the id of the other one', async () => {
    const service = createExtendedWorld()
    const id = await save(service, submitted)
    const other = await save(service, { ...submitted, certificate: 'CERTIFICATE 2' })
    for (const body of [submitted, { ...submitted, name: 'b' }, { ...submitted, cert_id: other }])
      expect(await service.send(`POST ${path}`, body)).toMatchObject({
        status: 400,
        body: { code: 400699, message: `this certificate is exists, cert_id is (${id})` },
      })
  })

  it.each([
    { ...submitted, name: '' },
    { ...submitted, certificate: 7 },
    { ...submitted, certificate: 'x'.repeat(65_537) },
    { name: 'a', certificate: 'b' },
    { ...submitted, key: [key] },
    { ...submitted, cert_id: 99 },
    { ...submitted, cert_id: { $secret: key } },
  ])('are refused if malformed, without their contents', async (body) => {
    const answer = await createExtendedWorld().send(`POST ${path}`, body)
    expect(answer.status).toBe(400)
    expect(JSON.stringify(answer)).not.toContain(key)
  })

  itLong('are at most 1,000', async () => {
    const service = createExtendedWorld()
    for (let n = 0; n < 1000; n++) await save(service, { ...submitted, certificate: String(n) })
    const more = await service.send(`POST ${path}`, submitted)
    expect(more.body).toMatchObject({ code: 400601 })
    await service.send(`DELETE ${path}`, { cert_id: 1 })
    expect((await service.send(`POST ${path}`, submitted)).body).toMatchObject({ code: 0 })
  })

  it('show their private keys in their own answer only, and in no file', async () => {
    const dataFile = join(folder, 'data.json')
    const service = createExtendedWorld({ dataFile })
    const id = await save(service, submitted)
    await service.send(`POST ${path}`, submitted)
    await service.send(`POST ${path}`, { ...submitted, name: '' })
    for (const place of ['state', 'calls', 'nothing']) {
      const look = await service.request({ method: 'GET', path: `/_emulator/${place}` })
      expect(JSON.stringify(look)).not.toContain(key)
    }
    service.end()
    expect(readFileSync(dataFile, 'utf8')).toContain('CERTIFICATE 1')
    expect(readFileSync(dataFile, 'utf8')).not.toContain(key)

    // Another process knows the certificate, but not its key.
    const next = createExtendedWorld({ dataFile })
    expect(getData((await next.send(`GET ${path}?cert_id=${id}`)).body)).toEqual({
      cert_id: id,
      ...submitted,
      ...noFacts,
      key: '',
    })
  })
})

describe('a private key', () => {
  it('is forgotten with its certificate, and by a reset', () => {
    const options = { domains: null, callsPerMinute: 0, deadOrigins: [] }
    const store = new Store(options, new DataFile(null))
    const ids = ['1', '2'].map((certificate) =>
      store.saveCertificate({ name: 'a', certificate }, key),
    )
    const listKeys = () => ids.map((id) => store.getKey(id))
    expect(listKeys()).toEqual([key, key])
    store.removeCertificate(ids[0] ?? 0)
    expect(listKeys()).toEqual(['', key])
    store.reset()
    expect(listKeys()).toEqual(['', ''])
  })
})

describe('the data file', () => {
  it('has domains, refreshes and certificates', async () => {
    const dataFile = join(folder, 'data.json')
    const options = { dataFile, domains: ['www.example.com', 'old.example.com'], deployMs: 10_000 }
    const service = createExtendedWorld(options)
    const look = async (world: ExtendedWorld) => [
      (await world.send('GET /v2/domain/list')).body,
      (await world.send('GET /v2/domain/list?domain_status=deleted')).body,
      (await world.send(`GET /v2/cache/refresh?task_id=1`)).body,
      (await world.send(`GET ${path}`)).body,
      await world.read('new.example.com'),
    ]
    await service.send('POST /v2/domain', {
      domain: 'new.example.com',
      area: 'rim',
      type: 'dynamic',
      config: { timeout: { time: '60' } },
    })
    await service.send('DELETE /v2/domain?domains=old.example.com')
    await service.send('POST /v2/cache/refresh', {
      urls: ['https://new.example.com/a/'],
      type: 'dir',
    })
    const id = await save(service, submitted)
    await service.send(`DELETE ${path}`, { cert_id: id })
    await service.write({ timeout: { time: '30' } }, 'www.example.com')
    const expected = await look(service)
    expect(expected[0]).toMatchObject({
      data: {
        list: [{ status: 'deploying' }, { area: 'rim' }, { status: 'deleted' }],
      },
    })
    service.end()
    expect(await look(createExtendedWorld(options))).toEqual(expected)
    // An id is not used twice.
    expect(await save(createExtendedWorld(options), submitted)).toBe(String(Number(id) + 1))
  })

  it('is emptied by a reset', async () => {
    const dataFile = join(folder, 'data.json')
    const service = createExtendedWorld({ dataFile })
    const id = await save(service, submitted)
    await service.send('DELETE /v2/domain?domains=www.example.com')
    await service.postControl('reset', {})
    service.end()
    expect(readFileSync(dataFile, 'utf8')).not.toContain('CERTIFICATE')
    expect(await service.read('www.example.com')).toEqual([])
    expect((await service.send(`GET ${path}?cert_id=${id}`)).body).toMatchObject({ code: 400602 })
    expect(await save(service, { ...submitted, key: otherKey })).toBe(id)
    expect(getData((await service.send(`GET ${path}?cert_id=${id}`)).body)).toMatchObject({
      key: otherKey,
    })
  })
})
