import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { isSameJson, type Json } from '../../src/core/model/json.ts'

interface Case {
  id: string
  payload: Json
  expect: 'accept' | 'reject' | null
  manifest: boolean | null
  rule: string
}

const folders = ['items', 'own'].map((name) => new URL(`../conformance/${name}/`, import.meta.url))

for (const folder of folders) {
  for (const file of readdirSync(folder)) {
    const item = file.replace('.json', '')
    const cases = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Case[]
    // One test for all cases of an item: a test for each would take longer than the cases.
    it(`${item} (${folder.pathname.split('/').at(-2)}): each case is judged as expected`, () => {
      const wrong = cases.flatMap(({ id, rule, payload, expect: expected, manifest: isValid }) => {
        const spec = getItemSpec(item)
        const wire = parseItem(spec, payload, 'wire')
        const manifest = parseItem(spec, payload, 'manifest')
        const answer = wire.value === null ? 'reject' : 'accept'
        const isJudged =
          (expected === null || answer === expected) &&
          (isValid === null || (manifest.value !== null) === isValid)
        const isCanonical = [wire, manifest].every(
          (parsed) =>
            parsed.value === null ||
            (isSameJson(spec.canonicalize(parsed.value), parsed.value) &&
              isSameJson(spec.canonicalize(parsed.payload), parsed.value)),
        )
        return isJudged && isCanonical ? [] : [{ id, rule, wire, manifest, isCanonical }]
      })
      expect(wrong).toEqual([])
    })
  }
}
