import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { Json } from '../../src/core/model/json.ts'

interface Case {
  payload: Json
  manifest: boolean | null
}

const items = [...catalogue.values()].filter(({ answerForm }) => answerForm !== undefined)

/** Lists the payloads of an item's cases that are valid in a manifest. */
function validPayloads(item: string): Json[] {
  const path = new URL(`../conformance/items/${item}.json`, import.meta.url)
  const cases = JSON.parse(readFileSync(path, 'utf8')) as Case[]
  return cases.filter(({ manifest }) => manifest === true).map(({ payload }) => payload)
}

describe.each(items)('the answer form of $key', ({ key, answerForm, canonicalize }) => {
  const payloads = validPayloads(key).map((payload) => canonicalize(payload))

  it('matches what it builds', () => {
    expect(payloads).not.toEqual([])
    for (const payload of payloads) {
      expect(answerForm?.matches(payload, answerForm.build(payload))).toBe(true)
    }
  })

  it('matches neither the answer to another payload nor another form', () => {
    const [first = null] = payloads
    const other = payloads.find((payload) => JSON.stringify(payload) !== JSON.stringify(first))
    expect(other).toBeDefined()
    const answers = [answerForm?.build(other ?? null), null, [], {}, 'text', { url: 'text' }]
    for (const answer of answers) expect(answerForm?.matches(first, answer ?? null)).toBe(false)
  })
})
