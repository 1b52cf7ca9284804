import type { ItemKey, ItemState } from '../../core/model/item.ts'
import type { JsonObject } from '../../core/model/json.ts'
import type { Finding } from '../manifests/finding.ts'
import type { DocumentPlace } from '../yaml/yaml-file.ts'

/** A configuration over profiles, as a part of another document has it. */
export interface GivenSource {
  document: DocumentPlace
  /** Pointer of the mapping in the document. */
  base: string
  /** Mapping of `profiles`, `vars` and `config`. */
  value: JsonObject
  /** Whether the defaults of the workspace are left out. */
  bare?: boolean
}

/** Where a part of an item is written. */
export interface Source {
  document: DocumentPlace
  pointer: string
  /** File of the manifest or test that uses it; null if it is written there. */
  manifest: string | null
}

/** What was parsed of a given configuration. */
export interface Given {
  items: ReadonlyMap<ItemKey, ItemState>
  /** The merged values as they are written, also those that are not valid. */
  raw: JsonObject
  /** Problems, with pointers in the document. */
  findings: Finding[]
  /** Finds where a part of an item is written; null if it is nowhere. */
  findSource(item: ItemKey, pointer: string): Source | null
}
