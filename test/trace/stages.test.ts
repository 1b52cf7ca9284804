import { expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { Json } from '../../src/core/model/json.ts'
import { buildSettings } from '../../src/core/trace/settings.ts'
import { compile, trace } from '../../src/core/trace/trace.ts'

const items = [...catalogue.keys()]
const others = { R18: 'every', R30: 'from-client', R51: 'tos-first', R66: 'before-access' }
const allSettings = [{}, others].map((assume) => buildSettings({ ...assume, unmanaged: 'unknown' }))
const values: Record<string, Json> = {
  origin: { default_master: '192.0.2.10' },
  https: { cert_id: 1, force_https: 301 },
  // So that exemptions, addresses of clients and headers matter.
  ip_black_list: { list: ['203.0.113.7'] },
  referer: { type: 1, list: ['bad.org'] },
  client_real_ip: { head: 'X-Real' },
}
const request = {
  url: 'http://www.example.com/a.mp4?b=1',
  method: 'GET',
  ip: '203.0.113.7',
  headers: { 'accept-encoding': 'gzip', '*': null },
  origin: { status: 404, headers: { 'content-type': 'text/html', '*': null }, size: 5000 },
}

it.each(items)('%s is read in the stages that its row says', (item) => {
  const known = new Map(items.map((key) => [key, [values[key] ?? null]]))
  known.delete(item)
  const served = { ...request, ip: '192.0.2.1', url: 'https://www.example.com/a.mp4?b=1' }
  const found = allSettings.flatMap((settings) =>
    [request, served].flatMap((each) => {
      const compiled = compile('www.example.com', known, settings)
      return [...trace(compiled, each, { visitor: 'unknown', asks: false }).replies]
    }),
  )
  const read = found.flatMap(([path, reply]) =>
    'unknown' in reply && reply.unknown.includes(`unmanaged ${item}`) ? [path.split('.')[0]] : [],
  )
  const stages = catalogue.get(item)?.stages ?? []
  expect(stages.length).toBeGreaterThan(0)
  expect([...new Set(read)]).toEqual(expect.arrayContaining([...stages]))
})
