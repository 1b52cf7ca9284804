import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import { loadWorkspace } from '../../src/manifest/manifests/load-workspace.ts'
import { plainKeeper } from './test-workspace.ts'

const load = (name: string) =>
  loadWorkspace(
    fileURLToPath(new URL(`../../examples/${name}/`, import.meta.url)),
    {},
    () => plainKeeper,
  )

it.each(['storefront', 'every-item'])('loads the example %s without errors', (name) => {
  const workspace = load(name)
  expect(workspace.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(workspace.desired.size).toBeGreaterThan(5)
})

it('finds every item of the catalogue in the example every-item', () => {
  const items = new Set(
    [...load('every-item').desired.values()].flatMap((findValue) => [...findValue.keys()]),
  )
  expect([...items].toSorted()).toEqual([...catalogue.keys()].toSorted())
})

it('replaces variables, appends to lists and removes items', () => {
  const { desired } = load('storefront')
  const findValue = (domain: string, item: string) => desired.get(domain)?.get(item)?.candidates[0]
  expect(findValue('sg.shop.example.com', 'origin')).toMatchObject({
    default_master: 'web-1.asia.example.org,web-2.asia.example.org',
  })
  expect(findValue('pay.example.com', 'error_page_rewrite')).toMatchObject([
    { redirect_url: 'https://static1.example.net/sorry.html?from=pay.example.com' },
  ])
  expect(findValue('partners.example.com', 'ip_black_list')).toMatchObject({
    list: ['192.0.2.66', '198.51.100.0/24', '203.0.113.77'],
  })
  expect(findValue('admin.example.org', 'ip_black_list')).toBeUndefined()
  expect(findValue('trailers.example.net', 'visit_timestamp')).toBeUndefined()
  expect(JSON.stringify(findValue('api-eu.example.com', 'add_back_source_head'))).toContain(
    '"head_value":{"$secret":',
  )
})
