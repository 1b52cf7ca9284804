import { describe, expect } from 'vitest'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { parseItem } from '../../src/core/catalog/parse-item.ts'
import { omitFields } from '../../src/core/catalog/observation.ts'
import { detectDrift } from '../../src/core/diff/detect-drift.ts'
import { parseObserved } from '../../src/manifest/observed/observed.ts'
import { SecretVault } from '../../src/manifest/secrets/secret-vault.ts'
import { isSameJson, isObject, getOwn, type Json } from '../../src/core/model/json.ts'
import type { DriftItem } from '../../src/core/model/drift.ts'
import { createItemState, type ItemKey, type Value } from '../../src/core/model/item.ts'
import { createExtendedWorld } from '../emulator/extended-world.ts'
import { fc, itLong, runs } from '../runs.ts'
import { arbitraryPayload, isDesired } from './values.ts'

const www = 'www.example.com'
const vault = new SecretVault('test', () => null)

/** Returns the canonical value of a valid desired payload that can be written; null for others. */
function parseDesired(item: ItemKey, payload: Json): Value | null {
  if (!isDesired(item, payload)) return null
  const spec = getItemSpec(item)
  const { value } = parseItem(spec, payload, 'manifest')
  // An emptied value is the same as an item that is not set.
  const isEmpty = value === null || spec.reduce(undefined, value) === undefined
  return isEmpty ? null : spec.canonicalize(value)
}

/** Writes a value to a service without it, and reads it back; null if nothing was written. */
async function writeAndRead(item: ItemKey, value: Value): Promise<{ read: Json } | null> {
  const service = createExtendedWorld()
  const form = getItemSpec(item).buildWhole({ status: 'unset', candidates: [] }, value)
  if (form === null) return null
  expect((await service.write({ [item]: form.payload })).body).toMatchObject({ code: 0 })
  const config = await service.read(www)
  return { read: (config !== undefined && isObject(config) ? getOwn(config, item) : null) ?? null }
}

/** Detects the drift of an item that is recorded with a value, and read as something else. */
function detect(item: ItemKey, value: Value, read: Json): DriftItem | undefined {
  const state = { ...createItemState(value), at: '2026-11-20T00:00:00.000Z' }
  const recorded = new Map([[www, new Map([[item, state]])]])
  const known = { recorded, desired: recorded, itemKeys: {}, vault, maker: 'foreign' as const }
  const { observed } = parseObserved({ [www]: { [item]: read } }, known)
  return detectDrift(recorded, recorded, observed).items[0]
}

/** Drops fields that the service keeps and the value does not manage. */
function pickManaged(item: ItemKey, value: Value, read: Json): Json {
  const names = isObject(value) ? Object.keys(value) : []
  const kept = getItemSpec(item).keptFields.filter((name) => !names.includes(name))
  return isObject(read) ? omitFields(read, kept) : read
}

/** The service and the catalogue know by themselves how values come back. */
describe.each([...catalogue.keys()])('%s, read back', (item) => {
  itLong(
    'has no drift after a write, and drift after another one that reads otherwise',
    async () => {
      let [same, changed] = [0, 0]
      const pair = fc.tuple(arbitraryPayload(item), arbitraryPayload(item))
      await fc.assert(
        fc.asyncProperty(pair, async (payloads) => {
          const [value, other] = payloads.map((payload) => parseDesired(item, payload))
          if (value === null || value === undefined) return
          const own = await writeAndRead(item, value)
          if (own === null) return
          same++
          expect(detect(item, value, own.read)).toMatchObject({ kinds: [], live: [] })
          const read =
            other === null || other === undefined ? null : await writeAndRead(item, other)
          const pick = (each: { read: Json }) => pickManaged(item, value, each.read)
          if (read === null || isSameJson(pick(read), pick(own))) return
          changed++
          expect(detect(item, value, read.read)?.kinds).toEqual(['live'])
        }),
        { numRuns: runs(15, 150) },
      )
      expect(same).toBeGreaterThan(3)
      expect(changed).toBeGreaterThan(0)
    },
  )
})
