import { describe, expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { getAnnotations, type ItemSchema } from '../../src/core/catalog/value/item-schema.ts'
import { isObject, type Json } from '../../src/core/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { arbitraryPayload } from './values.ts'

describe.each([...catalogue.keys()])('any valid value of %s', (item) => {
  const spec = getItemSpec(item)
  const canonicalize = (payload: Json) => parseItem(spec, payload, 'manifest').value

  itOften('has a canonical form that is idempotent, valid and the value at the service', () => {
    let valid = 0
    fc.assert(
      fc.property(arbitraryPayload(item), (payload) => {
        const value = canonicalize(payload)
        if (value === null) return
        valid++
        expect(spec.canonicalize(value)).toEqual(value)
        expect(canonicalize(value)).toEqual(value)
        const wire = parseItem(spec, value, 'wire')
        expect(wire.problems.filter((problem) => problem.severity === 'error')).toEqual([])
        expect(wire.value).toEqual(value)
        expect([value, undefined]).toContainEqual(spec.reduce(undefined, value))
      }),
      { numRuns: runs(30, 360) },
    )
    // The law must have been tried on enough values.
    expect(valid).toBeGreaterThan(10)
  })

  itOften(
    'has one canonical form for any order and repetition in sets, and any order of keys',
    () => {
      fc.assert(
        fc.property(arbitraryPayload(item), fc.infiniteStream(fc.nat()), (payload, chances) => {
          const value = canonicalize(payload)
          if (value === null) return
          expect(canonicalize(shuffleSets(spec.schema, value, chances))).toEqual(value)
        }),
        { numRuns: runs(30, 180) },
      )
    },
  )

  itOften('is reached from any other by every form', () => {
    fc.assert(
      fc.property(arbitraryPayload(item), arbitraryPayload(item), (first, second) => {
        const [from, to] = [canonicalize(first), canonicalize(second)]
        if (from === null || to === null) return
        const before = spec.reduce(undefined, from)
        const whole = spec.buildWhole({ status: 'confirmed', candidates: [from] }, to)
        const deltas = spec.buildDeltas?.({ status: 'confirmed', candidates: [from] }, to) ?? []
        const forms = [
          ...(whole === null ? [] : [[whole]]),
          ...(deltas.length === 0 ? [] : [deltas, deltas.toReversed(), [...deltas, ...deltas]]),
        ]
        for (const sequence of forms) {
          const end = sequence.reduce((value, form) => spec.reduce(value, form.payload), before)
          const target = spec.reduce(undefined, to)
          const kept = isObject(before ?? null)
            ? spec.keptFields.filter((name) => Object.hasOwn(before as object, name))
            : []
          if (kept.length === 0) expect([sequence, end]).toEqual([sequence, target])
          else expect(end).toMatchObject(target as object)
        }
      }),
      { numRuns: runs(30, 180) },
    )
  })
})

/** Shuffles the sets of a value and reverses its keys. */
function shuffleSets(schema: ItemSchema, value: Json, chances: Iterator<number>): Json {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => shuffleSets(schema.items ?? {}, entry, chances))
    if (getAnnotations(schema).set !== true) return entries
    const chosen = entries.map((entry) => ({ entry, chance: Number(chances.next().value) }))
    const shuffled = chosen.toSorted((a, b) => a.chance - b.chance).map(({ entry }) => entry)
    // A repeated network overlaps with itself, which is refused.
    const repeated = shuffled
      .filter((entry) => typeof entry !== 'string' || !/\/\d+$/.test(entry))
      .slice(0, 1)
    return shuffled.length < (schema.maxItems ?? Infinity) ? [...shuffled, ...repeated] : shuffled
  }
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([key, field]) => [
    key,
    shuffleSets(schema.properties?.[key] ?? {}, field, chances),
  ])
  return Object.fromEntries(fields.toReversed()) as Json
}
