import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { catalogue } from '../../src/catalog/catalogue.ts'
import { loadWorkspace } from '../../src/manifest/load-workspace.ts'
import { plainKeeper } from './test-workspace.ts'

const load = (name: string) =>
  loadWorkspace(
    fileURLToPath(new URL(`../../examples/${name}/`, import.meta.url)),
    {},
    () => plainKeeper,
  )

it.each(['storefront', 'every-item'])('loads the example %s without a problem', (name) => {
  const workspace = load(name)
  expect(workspace.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(workspace.desired.size).toBeGreaterThan(5)
})

it('finds every item of the catalogue in the example that has them all', () => {
  const items = new Set(
    [...load('every-item').desired.values()].flatMap((held) => [...held.keys()]),
  )
  expect([...items].toSorted()).toEqual([...catalogue.keys()].toSorted())
})

it('fills variables in, appends to lists and takes items out', () => {
  const { desired } = load('storefront')
  const held = (domain: string, item: string) => desired.get(domain)?.get(item)?.candidates[0]
  expect(held('sg.shop.example.com', 'origin')).toMatchObject({
    default_master: 'web-1.asia.example.org,web-2.asia.example.org',
  })
  expect(held('pay.example.com', 'error_page_rewrite')).toMatchObject([
    { redirect_url: 'https://static1.example.net/sorry.html?from=pay.example.com' },
  ])
  expect(held('partners.example.com', 'ip_black_list')).toMatchObject({
    list: ['192.0.2.66', '198.51.100.0/24', '203.0.113.77'],
  })
  expect(held('admin.example.org', 'ip_black_list')).toBeUndefined()
  expect(held('trailers.example.net', 'visit_timestamp')).toBeUndefined()
  expect(JSON.stringify(held('api-eu.example.com', 'add_back_source_head'))).toContain(
    '"head_value":{"$secret":',
  )
})
