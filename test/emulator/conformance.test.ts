import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { unnamedItems } from '../../src/core/catalog/catalogue.ts'
import type { Json, JsonObject } from '../../src/core/model/json.ts'
import { createWorld } from './world.ts'

const conformance = new URL('../conformance/', import.meta.url)

function load(file: URL): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

interface ItemCase {
  id: string
  payload: Json
  expect: 'accept' | 'reject' | null
  rule: string
}

for (const folder of ['items/', 'own/'].map((name) => new URL(name, conformance))) {
  for (const file of readdirSync(folder)) {
    const item = file.replace('.json', '')
    const cases = (load(new URL(file, folder)) as ItemCase[]).filter(
      (given) => given.expect !== null,
    )
    // One test for all cases of an item: a test for each would take longer than the cases.
    const where = folder.pathname.split('/').at(-2)
    it(`${item} (${where}): each case is answered as expected`, async () => {
      for (const { id, rule, payload, expect: expected } of cases) {
        const service = createWorld()
        const { status, body } = await service.write({ [item]: payload })
        const answer = { id, rule, answer: status === 200 ? 'accept' : 'reject', body }
        if (expected === 'accept') expect(answer).toMatchObject({ answer: expected })
        else {
          const message = expect.stringContaining(`item(${item})`) as string
          expect(answer).toMatchObject({ answer: expected, body: { code: 400203, message } })
          expect({ id, state: await service.state() }).toEqual({ id, state: {} })
        }
      }
    })
  }
}

it('covers the two items without a documented wire name', () => {
  expect(readdirSync(new URL('own/', conformance))).toEqual(
    expect.arrayContaining(unnamedItems.map((item) => `${item}.json`)),
  )
})

interface ConfigCase {
  id: string
  config: JsonObject
  expect: 'accept' | 'reject' | null
  rule: string
}

describe('whole configurations', () => {
  const cases = ['config.json', 'own-config.json'].flatMap(
    (name) => load(new URL(name, conformance)) as ConfigCase[],
  )
  it.each(cases)('$id: $rule', async ({ config, expect: expected }) => {
    const { status, body } = await createWorld().write(config)
    // If a case leaves it open, every combination of items is accepted.
    expect({ answer: status === 200 ? 'accept' : 'reject', body }).toMatchObject({
      answer: expected ?? 'accept',
    })
  })
})

interface Transition {
  id: string
  rule: string
  domain: string
  steps: { config: JsonObject; state: JsonObject; refused?: boolean }[]
}

describe('transitions', () => {
  it.each(load(new URL('transitions.json', conformance)) as Transition[])(
    '$id: $rule',
    async ({ domain, steps }) => {
      const service = createWorld()
      for (const [i, { config, state, refused = false }] of steps.entries()) {
        const { status, body } = await service.write(config, domain)
        expect({ step: i, refused: status !== 200, body }).toMatchObject({ refused })
        expect({ step: i, state: ((await service.state()) as JsonObject)[domain] ?? {} }).toEqual({
          step: i,
          state,
        })
      }
    },
  )
})
