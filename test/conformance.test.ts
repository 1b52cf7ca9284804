import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

interface Rule {
  rule: string
  item: string | null
  cases: string[]
}

const folder = new URL('./conformance/', import.meta.url)
const load = (path: string) =>
  JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as { id: string }[]
const ids = new Set(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json') && path !== 'rules.json')
    .flatMap(load)
    .map((each) => each.id),
)
const rules = JSON.parse(readFileSync(new URL('rules.json', folder), 'utf8')) as Rule[]

it.each(rules)('has cases for: $rule', ({ cases }) => {
  expect(cases.length).toBeGreaterThan(0)
  expect(cases.filter((id) => !ids.has(id))).toEqual([])
})
