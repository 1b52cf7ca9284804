import { describe, expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/catalog/catalogue.ts'
import { parseItem } from '../../src/catalog/parse-item.ts'
import { getAnnotations, type ItemSchema } from '../../src/catalog/value/item-schema.ts'
import { isObject, type Json } from '../../src/model/json.ts'
import { fc, itOften, runs } from '../runs.ts'
import { arbitraryPayload } from './values.ts'

const domain = 'www.example.com'

describe.each([...catalogue.keys()])('%s, for any valid value', (item) => {
  const spec = getItemSpec(item)
  const canonicalOf = (payload: Json) => parseItem(spec, payload, 'manifest', domain).value

  itOften('canonical is idempotent, valid again, and what the service then holds', () => {
    let valid = 0
    fc.assert(
      fc.property(arbitraryPayload(item), (payload) => {
        const value = canonicalOf(payload)
        if (value === null) return
        valid++
        expect(spec.canonicalize(value)).toEqual(value)
        expect(canonicalOf(value)).toEqual(value)
        const wire = parseItem(spec, value, 'wire', domain)
        expect(wire.problems.filter((problem) => problem.severity === 'error')).toEqual([])
        expect(wire.value).toEqual(value)
        expect([value, undefined]).toContainEqual(spec.reduce(undefined, value))
      }),
      { numRuns: runs(60, 360) },
    )
    // A law that was tried on next to nothing says nothing.
    expect(valid).toBeGreaterThan(10)
  })

  itOften('order and repetition in a set, and the order of keys, make no difference', () => {
    fc.assert(
      fc.property(arbitraryPayload(item), fc.infiniteStream(fc.nat()), (payload, chances) => {
        const value = canonicalOf(payload)
        if (value === null) return
        expect(canonicalOf(mixed(spec.schema, value, chances))).toEqual(value)
      }),
      { numRuns: runs(30, 180) },
    )
  })

  itOften('every way leads from any valid value to any other', () => {
    fc.assert(
      fc.property(arbitraryPayload(item), arbitraryPayload(item), (first, second) => {
        const [from, to] = [canonicalOf(first), canonicalOf(second)]
        if (from === null || to === null) return
        const held = spec.reduce(undefined, from)
        const whole = spec.buildWhole({ status: 'confirmed', candidates: [from] }, to)
        const deltas = spec.buildDeltas?.({ status: 'confirmed', candidates: [from] }, to) ?? []
        const ways = [
          ...(whole === null ? [] : [[whole]]),
          ...(deltas.length === 0 ? [] : [deltas, deltas.toReversed(), [...deltas, ...deltas]]),
        ]
        for (const way of ways) {
          const end = way.reduce((value, form) => spec.reduce(value, form.payload), held)
          const wanted = spec.reduce(undefined, to)
          const kept = isObject(held ?? null)
            ? spec.keptFields.filter((name) => Object.hasOwn(held as object, name))
            : []
          if (kept.length === 0) expect([way, end]).toEqual([way, wanted])
          else expect(end).toMatchObject(wanted as object)
        }
      }),
      { numRuns: runs(30, 180) },
    )
  })
})

/** The same value with its sets in another order and its keys from last to first. */
function mixed(schema: ItemSchema, value: Json, chances: Iterator<number>): Json {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => mixed(schema.items ?? {}, entry, chances))
    if (getAnnotations(schema).set !== true) return entries
    const chosen = entries.map((entry) => ({ entry, chance: Number(chances.next().value) }))
    const shuffled = chosen.toSorted((a, b) => a.chance - b.chance).map(({ entry }) => entry)
    // A network that is given twice overlaps with itself, which is refused.
    const repeated = shuffled
      .filter((entry) => typeof entry !== 'string' || !/\/\d+$/.test(entry))
      .slice(0, 1)
    return shuffled.length < (schema.maxItems ?? Infinity) ? [...shuffled, ...repeated] : shuffled
  }
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([key, field]) => [
    key,
    mixed(schema.properties?.[key] ?? {}, field, chances),
  ])
  return Object.fromEntries(fields.toReversed()) as Json
}
