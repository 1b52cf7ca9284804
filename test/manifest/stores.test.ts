import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { storeRows } from '../../src/core/model/stores.ts'

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/workspace.schema.json', import.meta.url), 'utf8'),
) as { properties: { state: { properties: Record<string, { enum?: string[] }> } } }
const { store, ...keys } = schema.properties.state.properties

it('the workspace file has each store of the table, and no other', () => {
  expect(storeRows.map(([name]) => name)).toEqual(store?.enum)
})

it('each key of a store is in the workspace file, and belongs to one store', () => {
  const known = storeRows.flatMap(([, row]) => row.keys)
  expect(new Set(known).size).toBe(known.length)
  expect(Object.keys(keys)).toEqual(expect.arrayContaining(known))
})

it.each([
  ['git:a:b', 'git', { branch: 'a:b' }],
  ['dir:../state', 'dir', { path: '../state' }],
  ['postgres://host/name', 'postgres', { url: 'postgres://host/name' }],
  ['${env:NAME}', 'postgres', { url: '${env:NAME}' }],
  ['git:', null, null],
  ['.edgewise/state', null, null],
])('the place %j is in the store %s', (text, name, settings) => {
  const found = storeRows.filter(([, row]) => row.readPlace(text) !== null)
  expect(found.map(([each]) => each)).toEqual(name === null ? [] : [name])
  expect(found[0]?.[1].readPlace(text) ?? null).toEqual(settings)
})
