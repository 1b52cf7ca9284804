import { expect, it } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { describeSchemaErrors } from '../../src/core/catalog/value/schema-problems.ts'

function listPatterns({ pattern, properties = {}, items, oneOf = [] }: ItemSchema): string[] {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items]), ...oneOf]
  return [...(pattern === undefined ? [] : [pattern]), ...inner.flatMap(listPatterns)]
}

it('a value that violates a pattern is reported in words, not with a regular expression', () => {
  const patterns = new Set([...catalogue.values()].flatMap(({ schema }) => listPatterns(schema)))
  expect(patterns.size).toBeGreaterThan(4)
  for (const pattern of patterns) {
    const error = { instancePath: '', schemaPath: '#/pattern', keyword: 'pattern' }
    const [problem] = describeSchemaErrors(
      [{ ...error, params: { pattern } }],
      { type: 'string', pattern },
      ' ?',
    )
    expect(problem?.detail).not.toContain('text that matches')
  }
})
