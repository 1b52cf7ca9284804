import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { getItemSpec } from '../../src/catalog/catalogue.ts'
import { parseItem } from '../../src/catalog/parse-item.ts'
import type { Json } from '../../src/model/json.ts'

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
    describe(`${item} (${folder.pathname.split('/').at(-2)})`, () => {
      it.each(cases)('$id: $rule', (given) => {
        const spec = getItemSpec(item)
        const wire = parseItem(spec, given.payload, 'wire', 'www.example.com')
        const manifest = parseItem(spec, given.payload, 'manifest', 'www.example.com')
        if (given.expect !== null)
          expect({
            answer: wire.value === null ? 'reject' : 'accept',
            problems: wire.problems,
          }).toMatchObject({ answer: given.expect })
        if (given.manifest !== null)
          expect({ valid: manifest.value !== null, problems: manifest.problems }).toMatchObject({
            valid: given.manifest,
          })
        for (const { value, payload } of [wire, manifest]) {
          if (value === null) continue
          expect(spec.canonicalize(value)).toEqual(value)
          expect(spec.canonicalize(payload)).toEqual(value)
        }
      })
    })
  }
}
