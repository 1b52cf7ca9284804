import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Alias,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Json, JsonObject } from '../model/json.ts'

/** A range of offsets, and why what stands there is no data of a manifest. */
export interface YamlFault {
  start: number
  end: number
  detail: string
}

interface Reading {
  faults: YamlFault[]
  anchors: Map<string, Node>
  /** What an alias stood for when it was first met: an anchor may be given anew further down. */
  targets: Map<Alias, Node>
  uses: Map<Node, number>
  open: Set<Node>
  /** Values that aliases may still add. */
  budget: number
}

const mostLevels = 64
const mostUses = 50
const mostAliased = 100_000
/** What every object inherits: as data it makes objects behave unlike objects. */
const reservedKeys = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

/**
 * The value of a syntax tree as JSON; what JSON, or a manifest, can't hold is a fault and stands as
 * null.
 */
export function convertToJson(root: unknown): { value: Json; faults: YamlFault[] } {
  const reading: Reading = {
    faults: [],
    anchors: new Map(),
    targets: new Map(),
    uses: new Map(),
    open: new Set(),
    budget: mostAliased,
  }
  return { value: valueOf(root, 0, reading), faults: reading.faults }
}

function valueOf(node: unknown, level: number, reading: Reading): Json {
  if (node === null || node === undefined) return null
  if (isAlias(node)) return aliasOf(node, level, reading)
  if (reading.open.size > 0 && --reading.budget < 0) return null
  if (isScalar(node)) {
    if (node.anchor !== undefined) meet(node, node.anchor, reading)
    return scalarOf(node.value, node, reading)
  }
  if (!isMap(node) && !isSeq(node))
    return fault(node, 'expected a mapping, a list or a plain value', reading)
  if (node.anchor !== undefined) meet(node, node.anchor, reading)
  if (level >= mostLevels)
    return fault(node, `expected at most ${mostLevels} levels of nesting, got more`, reading)
  return isMap(node) ? mapOf(node, level + 1, reading) : listOf(node, level + 1, reading)
}

function meet(node: Node, anchor: string, reading: Reading): void {
  if (reading.open.size === 0) reading.anchors.set(anchor, node)
}

function aliasOf(alias: Alias, level: number, reading: Reading): Json {
  const target = reading.targets.get(alias) ?? reading.anchors.get(alias.source)
  if (target === undefined)
    return fault(
      alias,
      `the alias "*${alias.source}" has no anchor "&${alias.source}" above it`,
      reading,
    )
  reading.targets.set(alias, target)
  const uses = (reading.uses.get(target) ?? 0) + 1
  reading.uses.set(target, uses)
  if (reading.open.has(target) || within(alias, target))
    return fault(alias, `the alias "*${alias.source}" stands inside what it refers to`, reading)
  if (uses > mostUses)
    return fault(
      alias,
      `expected at most ${mostUses} aliases of one anchor, got more. Use a profile for what many manifests share.`,
      reading,
    )
  reading.open.add(target)
  const value = valueOf(target, level, reading)
  reading.open.delete(target)
  return reading.budget < 0
    ? fault(alias, `expected aliases to stand for at most ${mostAliased} values, got more`, reading)
    : value
}

function within(alias: Alias, target: Node): boolean {
  const [at, range] = [alias.range, target.range]
  return (
    at !== null &&
    at !== undefined &&
    range !== null &&
    range !== undefined &&
    at[0] >= range[0] &&
    at[1] <= range[1]
  )
}

function mapOf(map: YAMLMap, level: number, reading: Reading): JsonObject {
  const result: JsonObject = {}
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? key.value : undefined
    if (isScalar(key) && key.anchor !== undefined) meet(key, key.anchor, reading)
    if (typeof name !== 'string') {
      fault(
        isNode(key) ? key : map,
        `expected a string as key, got ${isScalar(key) ? String(name) : 'a value that is none'}. Put quotes around it.`,
        reading,
      )
    } else if (reservedKeys.has(name)) {
      fault(key, `"${name}" can't be a key`, reading)
    } else if (Object.hasOwn(result, name)) {
      fault(key, `the key "${name}" stands twice in this mapping. Keep one of them.`, reading)
    } else {
      result[name] = valueOf(value, level, reading)
    }
  }
  return result
}

function listOf(list: YAMLSeq, level: number, reading: Reading): Json[] {
  return list.items.map((entry) => valueOf(entry, level, reading))
}

function scalarOf(value: unknown, node: Node, reading: Reading): Json {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') {
    return /[\ud800-\udfff]/.test(value) && /\p{Surrogate}/u.test(value)
      ? fault(node, 'expected Unicode text, got half a surrogate pair', reading)
      : value
  }
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
  if (number === undefined)
    return fault(node, 'expected a plain value, got one with a tag of its own', reading)
  if (!Number.isFinite(number))
    return fault(
      node,
      `expected a finite number, got ${String(number)}. Put quotes around it if it is text.`,
      reading,
    )
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    return fault(
      node,
      'expected a number that is kept exactly, got one beyond 9007199254740991. Put quotes around it if it is text.',
      reading,
    )
  }
  return number === 0 ? 0 : number
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}

function fault(node: unknown, detail: string, reading: Reading): null {
  const range = isNode(node) ? node.range : undefined
  if (reading.faults.length < 100)
    reading.faults.push({ start: range?.[0] ?? 0, end: range?.[1] ?? 0, detail })
  return null
}
