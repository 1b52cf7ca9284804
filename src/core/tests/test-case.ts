import type { Action } from '../model/change.ts'
import type { ItemKey } from '../model/item.ts'
import type { Json, JsonObject } from '../model/json.ts'
import type { Asked } from '../trace/trace.ts'

/** A test of manifests, as a valid document of a test file has it. */
export interface TestFile {
  test: string
  domains?: string[]
  /** A configuration of its own: `profiles`, `vars` and `config`. */
  given?: JsonObject
  /** Answers of readings, over those of the workspace. */
  assume?: JsonObject
  /** Expected values by `ITEM/FIELD`; null for what must not be set. */
  items?: JsonObject
  requests?: (JsonObject & { url: string; expect?: JsonObject })[]
  plan?: { from?: JsonObject; writes?: number | { min?: number; max?: number }; actions?: Action[] }
  emulator?: 'accepts' | 'refuses' | { refuses: { text?: string; code?: number } }
  /** Names of all policies that are violated. */
  expect?: { violates: string[] }
}

/** A parsed test. Pointers are within its document. */
export interface TestCase extends TestFile {
  parts: ItemCheck[]
  traces: RequestCheck[]
}

/** An expected value of a part of an item. */
export interface ItemCheck {
  pointer: string
  /** As written: `https/force_https`. */
  name: string
  item: ItemKey
  /** JSON pointer within the value of the item. */
  part: string
  expected: Json
}

/** A request in the form of a trace, and its expected answers. */
export interface RequestCheck {
  pointer: string
  request: JsonObject & { url: string }
  answers: { pointer: string; name: string; asked: Asked; expected: Json }[]
}
