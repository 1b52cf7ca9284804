// @module-tag often
// @module-tag nightly
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { catalogue, getItemSpec } from '../../src/core/catalog/catalogue.ts'
import { findSecretFields, parseItem } from '../../src/core/catalog/parse-item.ts'
import { orderSets } from '../../src/core/catalog/item-spec.ts'
import { listOmittedHidden } from '../../src/core/catalog/hidden-fields.ts'
import type { ItemKey } from '../../src/core/model/item.ts'
import {
  formatPointerStep,
  isObject,
  isSameJson,
  parsePointer,
  resolvePointer,
  type Json,
  type JsonObject,
} from '../../src/core/model/json.ts'
import { buildReadForm } from '../../src/emulator/entities/read-form.ts'
import { arbitraryPayload, isDesired } from '../laws/values.ts'
import { fc, runs } from '../runs.ts'
import { fetchConfig, resetEmulator } from '../steps/cli.ts'
import { emulator, place, setStage } from '../steps/stage.ts'

setStage({ extended: true })

const www = 'www.example.com'
const allowed = ['https', 'extend', 'origin'].flatMap((item) => ['--allow', item])

/** Text of the workspace file. */
let settings = ''
beforeEach(() => {
  const before = parse(place.read('edgewise.yaml')) as { service: JsonObject }
  before.service['readBack'] = true
  settings = stringify(before)
})

/** Lists the pointers of the texts, numbers and flags in a value. */
function listLeaves(value: Json, pointer = ''): string[] {
  return typeof value !== 'object' || value === null
    ? [pointer]
    : Object.entries(value).flatMap(([key, field]) =>
        listLeaves(field, pointer + formatPointerStep(key)),
      )
}

/** Returns a copy with another value at a pointer. */
function replaceAt(value: Json, pointer: string, replacement: Json): Json {
  const copy = structuredClone({ root: value }) as JsonObject
  const steps = ['root', ...parsePointer(pointer)]
  const last = steps.pop() ?? ''
  const parent = steps.reduce<Json>((outer, step) => (outer as JsonObject)[step] ?? null, copy)
  ;(parent as JsonObject)[last] = replacement
  return copy['root'] ?? null
}

/** Edits one field of a value, or the end of its list, towards another value of the item. */
function edit(value: Json, other: Json, choice: number): { value: Json; apply(to: Json): Json }[] {
  const leaves = listLeaves(value).flatMap((pointer) => {
    const to = resolvePointer(other, pointer)
    const differs =
      to !== undefined && typeof to !== 'object' && to !== resolvePointer(value, pointer)
    return differs ? [(each: Json) => replaceAt(each, pointer, to)] : []
  })
  const lists = Array.isArray(value)
    ? [
        ...(value.length > 1 ? [(each: Json) => (each as Json[]).slice(0, -1)] : []),
        (each: Json) => [...(each as Json[]), ...(Array.isArray(other) ? other.slice(0, 1) : [])],
      ]
    : []
  const edits = [...leaves, ...lists]
  const chosen = edits[choice % Math.max(1, edits.length)]
  return chosen === undefined ? [] : [{ value: chosen(value), apply: chosen }]
}

/** Returns the canonical form of a payload, with the specification's types. */
const toCanonical = (item: ItemKey, payload: Json): Json =>
  parseItem(getItemSpec(item), payload, 'wire').value

const stored = async (item: ItemKey): Promise<Json> => {
  const config = await fetchConfig(emulator, www)
  return toCanonical(item, config[item] ?? null)
}

/** What a change must leave alone: all that is shown, and the fields that are not. */
function describeStored(item: ItemKey, value: Json): Json {
  const hidden =
    item === 'https' && isObject(value)
      ? [value['ocsp'] ?? null, value['ssl_protocol'] ?? null]
      : []
  const all = item === 'cache_rule_list' ? [value] : []
  return [buildReadForm(item, value) ?? null, ...hidden, ...all]
}

/** Copies the hidden fields of stored entries to those of a manifest. */
function nameHidden(item: ItemKey, value: Json, truth: Json): Json {
  return listOmittedHidden(getItemSpec(item), value).reduce((named, pointer) => {
    const real = resolvePointer(truth, pointer)
    return real === undefined ? named : replaceAt(named, pointer, real)
  }, value)
}

async function checkEdit(
  item: ItemKey,
  payload: Json,
  other: Json,
  choice: number,
): Promise<boolean> {
  rmSync(join(place.root, 'domains'), { recursive: true, force: true })
  place.write('edgewise.yaml', settings)
  rmSync(join(place.root, '.edgewise'), { recursive: true, force: true })
  await resetEmulator(emulator)
  const body = { token: place.env['EDGEWISE_TOKEN'], domains: www, config: { [item]: payload } }
  const headers = { 'content-type': 'application/json' }
  const url = `${emulator.url}/v2/domain/config`
  const sent = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (sent.status !== 200) return false
  const imported = await place.cli('import', '--live', '--write-manifests', '--target', www)
  if (imported.code !== 0) return false
  const { config } = parse(place.read(`domains/${www}.yaml`)) as { config: JsonObject }
  const shown = config[item]
  if (shown === undefined) return false
  const before = await stored(item)
  // The workspace allows literal secrets; an import writes references to variables.
  const value = findSecretFields(getItemSpec(item), before).reduce<Json>(
    (each, { pointer }) => replaceAt(each, pointer, resolvePointer(before, pointer) ?? null),
    shown,
  )
  const [edited] = edit(value, other, choice)
  if (edited === undefined || !isDesired(item, edited.value) || isSameJson(edited.value, value))
    return false
  const expected = toCanonical(item, edited.apply(orderSets(getItemSpec(item), before, [value])))
  if (expected === null) return false
  place.manifest(www, { [item]: edited.value })
  const applied = await place.cli('apply', '--yes', ...allowed)
  if (applied.code === 0) {
    const after = await stored(item)
    expect(describeStored(item, after)).toEqual(describeStored(item, expected))
    return true
  }
  expect(applied.err).toContain('never shows')
  expect(await stored(item)).toEqual(before)
  place.manifest(www, { [item]: nameHidden(item, edited.value, expected) })
  const named = await place.cli('apply', '--yes', ...allowed)
  if (named.code === 0)
    expect(describeStored(item, await stored(item))).toEqual(describeStored(item, expected))
  else expect(named.err).toContain('never shows')
  return true
}

describe('an edit after a live import', () => {
  it(
    'changes nothing at the service that it does not name',
    { tags: 'often', timeout: 600_000 },
    async () => {
      let checked = 0
      for (const item of catalogue.keys())
        await fc.assert(
          fc.asyncProperty(
            arbitraryPayload(item),
            arbitraryPayload(item),
            fc.nat(),
            async (...args) => {
              if (await checkEdit(item, ...args)) checked++
            },
          ),
          { numRuns: runs(3, 40) },
        )
      expect(checked).toBeGreaterThan(runs(20, 200))
    },
  )
})
