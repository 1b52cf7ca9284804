import type { WrittenScalar } from './written-scalar.ts'
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Alias,
  type Node,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { findTextFault, inputLimits, tooDeep } from '../../core/model/input-limits.ts'
import { formatPointerStep, type Json, type JsonObject } from '../../core/model/json.ts'

/** A range of offsets, and why its content can't be data of a manifest. */
export interface YamlFault {
  start: number
  end: number
  detail: string
}

interface Conversion {
  faults: YamlFault[]
  written: WrittenScalar[]
  /** Pointer of the value that is being converted. */
  pointer: string
  anchors: Map<string, Node>
  /** Target of an alias when it was first met: its anchor may be redefined further down. */
  targets: Map<Alias, Node>
  uses: Map<Node, number>
  open: Set<Node>
  /** Number of values that aliases may still add. */
  budget: number
}

const maxUses = 50
const maxAliased = 100_000
/** Properties that every object inherits; such a key would break plain objects. */
export const reservedKeys = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])

/**
 * Converts a syntax tree to JSON; anything that JSON or a manifest can't contain is a fault and
 * becomes null.
 */
export function convertToJson(root: unknown): Conversion & { value: Json } {
  const conversion: Conversion = {
    faults: [],
    written: [],
    pointer: '',
    anchors: new Map(),
    targets: new Map(),
    uses: new Map(),
    open: new Set(),
    budget: maxAliased,
  }
  return { ...conversion, value: convertValue(root, 0, conversion) }
}

function convertValue(node: unknown, level: number, conversion: Conversion): Json {
  if (node === null || node === undefined) return null
  if (isAlias(node)) return convertAlias(node, level, conversion)
  if (conversion.open.size > 0 && --conversion.budget < 0) return null
  if (isScalar(node)) {
    if (node.anchor !== undefined) registerAnchor(node, node.anchor, conversion)
    return convertScalar(node, conversion)
  }
  if (!isMap(node) && !isSeq(node))
    return reportFault(node, 'expected a mapping, a list or a plain value', conversion)
  if (node.anchor !== undefined) registerAnchor(node, node.anchor, conversion)
  if (level >= inputLimits.levels) return reportFault(node, tooDeep, conversion)
  return isMap(node)
    ? convertMap(node, level + 1, conversion)
    : convertList(node, level + 1, conversion)
}

function registerAnchor(node: Node, anchor: string, conversion: Conversion): void {
  if (conversion.open.size === 0) conversion.anchors.set(anchor, node)
}

function convertAlias(alias: Alias, level: number, conversion: Conversion): Json {
  const target = conversion.targets.get(alias) ?? conversion.anchors.get(alias.source)
  if (target === undefined)
    return reportFault(
      alias,
      `the alias "*${alias.source}" has no anchor "&${alias.source}" above it. ` + quoteStar,
      conversion,
    )
  conversion.targets.set(alias, target)
  const uses = (conversion.uses.get(target) ?? 0) + 1
  conversion.uses.set(target, uses)
  if (conversion.open.has(target) || isInside(alias, target))
    return reportFault(
      alias,
      `the alias "*${alias.source}" refers to a value that contains it`,
      conversion,
    )
  if (uses > maxUses)
    return reportFault(
      alias,
      `expected at most ${maxUses} aliases of one anchor, got more. Use a profile for what ` +
        'many manifests share.',
      conversion,
    )
  conversion.open.add(target)
  const value = convertValue(target, level, conversion)
  conversion.open.delete(target)
  return conversion.budget < 0
    ? reportFault(
        alias,
        `expected aliases to stand for at most ${maxAliased} values, got more`,
        conversion,
      )
    : value
}

function isInside(alias: Alias, target: Node): boolean {
  const [inner, outer] = [alias.range, target.range]
  return inner != null && outer != null && inner[0] >= outer[0] && inner[1] <= outer[1]
}

function convertMap(map: YAMLMap, level: number, conversion: Conversion): JsonObject {
  const result: JsonObject = {}
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? key.value : undefined
    if (isScalar(key) && key.anchor !== undefined) registerAnchor(key, key.anchor, conversion)
    const excess = typeof name === 'string' ? findTextFault(name) : null
    if (excess !== null) {
      reportFault(key, excess, conversion)
    } else if (typeof name !== 'string') {
      reportFault(
        isNode(key) ? key : map,
        isScalar(key)
          ? `expected a string as key, got ${key.source ?? ''}. Put quotes around it.`
          : 'expected a string as key, got a mapping, list or alias. Use plain text.',
        conversion,
      )
    } else if (reservedKeys.has(name)) {
      reportFault(key, `"${name}" is reserved and can't be a key. Use another name.`, conversion)
    } else if (Object.hasOwn(result, name)) {
      reportFault(
        key,
        `the key "${name}" occurs twice in this mapping. Remove one of the two.`,
        conversion,
      )
    } else if (isScalar(key) && key.type === 'PLAIN' && name === '<<') {
      reportFault(key, noMerge, conversion)
    } else if (value === null) {
      const isJoined = isScalar(key) && key.type === 'PLAIN' && name.includes(':')
      reportFault(key, isJoined ? noBlank : noValue, conversion)
    } else {
      result[name] = convertWithin(name, value, level, conversion)
      if (isScalar(value) && value.value === null && value.source === '')
        conversion.written.push({ pointer: conversion.pointer + formatPointerStep(name), text: '' })
    }
  }
  return result
}

/** Without the key, which may contain a secret. */
const noBlank = 'expected a blank after ":", got none. Write "key: value".'

/** Advice about text that is taken for an alias. */
export const quoteStar = 'Put quotes around text that begins with "*", such as "*.example.com".'

const noMerge = 'merge keys ("<<") are not supported. Use a profile for what manifests share.'
const noValue = 'expected "key: value", got a key alone. A list is written in brackets: "[a, b]".'

function convertList(list: YAMLSeq, level: number, conversion: Conversion): Json[] {
  return list.items.map((entry, i) => convertWithin(i, entry, level, conversion))
}

/** Converts a value of a mapping or list, by its key or index there. */
function convertWithin(
  step: string | number,
  value: unknown,
  level: number,
  conversion: Conversion,
): Json {
  const { pointer } = conversion
  conversion.pointer += formatPointerStep(step)
  const converted = convertValue(value, level, conversion)
  conversion.pointer = pointer
  return converted
}

function convertScalar(node: Scalar, conversion: Conversion): Json {
  const { value, source = '' } = node
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') {
    const excess = findTextFault(value)
    if (excess !== null) return reportFault(node, excess, conversion)
    return /[\ud800-\udfff]/.test(value) && /\p{Surrogate}/u.test(value)
      ? reportFault(node, 'expected Unicode text, got an unpaired surrogate', conversion)
      : value
  }
  const number = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : undefined
  if (number === undefined)
    return reportFault(
      node,
      'expected a plain value, got a value with its own tag. Remove the tag.',
      conversion,
    )
  if (!Number.isFinite(number))
    return reportFault(
      node,
      `expected a finite number, got ${String(number)}. Put quotes around it if it is text.`,
      conversion,
    )
  if (Number.isInteger(number) && !Number.isSafeInteger(number)) {
    return reportFault(
      node,
      'expected an integer from -9007199254740991 to 9007199254740991, got one that would lose ' +
        'precision. Put quotes around it if it is text.',
      conversion,
    )
  }
  if (source !== String(number))
    conversion.written.push({ pointer: conversion.pointer, text: source })
  return number === 0 ? 0 : number
}

function reportFault(node: unknown, detail: string, conversion: Conversion): null {
  const outer = isNode(node) ? node.range : undefined
  if (conversion.faults.length < 100)
    conversion.faults.push({ start: outer?.[0] ?? 0, end: outer?.[1] ?? 0, detail })
  return null
}
