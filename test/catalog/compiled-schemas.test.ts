// @module-tag often
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect } from 'vitest'
import { catalogue } from '../../src/core/catalog/catalogue.ts'
import type { ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { formats } from '../../src/core/catalog/value/formats.ts'
import { workspaceSchema } from '../../src/manifest/workspace-file/generated/file-schemas.ts'
import { createWorkspaceValidator } from '../../src/core/catalog/generated/schema-validators.ts'
import type { Json } from '../../src/core/model/json.ts'
import type { SchemaError } from '../../src/core/model/text/schema-fault.ts'
import { fc, itOften, runs } from '../runs.ts'

/** Compiles the reference: ajv with the draft that the schemas declare. */
function compileSchema(schema: object, useDefaults = false): (value: Json) => SchemaError[] {
  const ajv = new Ajv2020({ allErrors: true, strict: false, messages: false, useDefaults })
  for (const [name, accepts] of Object.entries(formats)) ajv.addFormat(name, accepts)
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : (validate.errors ?? []))
}

interface Part {
  type?: string
  properties?: Record<string, Part>
  items?: Part
  oneOf?: Part[]
  enum?: Json[]
  additionalProperties?: boolean | Part
}

const anyValue: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, -1, 0.5, 7, 1e9, '', 'x', '10.0.0.1', 'a.example.com', [], {}),
  fc.string({ maxLength: 8 }),
)

/** Values that fit a schema or nearly do, so that errors occur at every place. */
function arbitraryValue(part: Part): fc.Arbitrary<Json> {
  const { properties = {}, items, oneOf = [], additionalProperties } = part
  const wrong = { weight: 1, arbitrary: anyValue }
  if (part.enum !== undefined)
    return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...part.enum) }, wrong)
  if (oneOf.length > 0) return fc.oneof(...oneOf.map(arbitraryValue), wrong)
  if (items !== undefined)
    return fc.oneof(
      { weight: 6, arbitrary: fc.array(arbitraryValue(items), { maxLength: 3 }) },
      wrong,
    )
  if (part.type !== 'object') return anyValue
  const fields = Object.entries(properties).map(
    ([key, each]) => [key, arbitraryValue(each)] as const,
  )
  const free =
    typeof additionalProperties === 'object' ? arbitraryValue(additionalProperties) : anyValue
  const known = fc.record(Object.fromEntries(fields), { requiredKeys: [] })
  const withOthers = fc
    .tuple(known, fc.dictionary(fc.constantFrom('other', 'a/b', '~'), free, { maxKeys: 1 }))
    .map(([value, others]) => ({ ...value, ...others }) as Json)
  return fc.oneof({ weight: 6, arbitrary: withOthers }, wrong)
}

describe('the compiled validators find the same errors as ajv, in the same order', () => {
  itOften('of every item', () => {
    for (const { schema, findSchemaErrors } of catalogue.values())
      expect(countErrors(schema, findSchemaErrors)).toBeGreaterThan(0)
  })

  function countErrors(
    schema: ItemSchema,
    findSchemaErrors: (value: Json) => SchemaError[],
  ): number {
    const expected = compileSchema(schema)
    let refused = 0
    fc.assert(
      fc.property(arbitraryValue(schema as Part), (value) => {
        const errors = findSchemaErrors(value)
        expect(errors).toEqual(expected(value))
        refused += errors.length
      }),
      { numRuns: runs(15, 500) },
    )
    return refused
  }

  itOften('of edgewise.yaml, and fill in the same defaults', () => {
    const expected = compileSchema(workspaceSchema, true)
    const validate = createWorkspaceValidator()
    fc.assert(
      fc.property(arbitraryValue(workspaceSchema as unknown as Part), (value) => {
        // As files have it: no two parts are one object, into which defaults are written twice.
        const copy = () => JSON.parse(JSON.stringify(value)) as Json
        const [one, other] = [copy(), copy()]
        expect(validate(one) ? [] : validate.errors).toEqual(expected(other))
        expect(one).toEqual(other)
      }),
      { numRuns: runs(50, 1000) },
    )
  })
})
