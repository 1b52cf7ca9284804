import { getOrAdd } from '../../core/model/lists.ts'
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type Node,
  type Pair,
  type YAMLMap,
} from 'yaml'
import { parsePointer } from '../../core/model/json.ts'
import type { Place } from '../../core/model/problem.ts'
import type { DocumentPlace, SourceFile } from './yaml-file.ts'
import { findLineStarts, parseText, locateRange } from './yaml-text.ts'

/** A file in which places are looked for. */
interface Indexed {
  lineStarts: number[]
  /** Returns the tree of a document, and the offset at which its text begins. */
  find(index: number): { tree: Document.Parsed | undefined; start: number }
}

/** Syntax trees of the most recently reported files; keeping all of them would take gigabytes. */
const recent = new Map<SourceFile, Indexed>()
const maxRecent = 32

/**
 * Finds the place of a pointer's value in a document, on its first line only. Mappings and lists
 * have the place of their key, and so has everything with `part: 'key'`. A missing value has the
 * place of its nearest existing parent, and any value of a huge document that of its begin.
 */
export function findPlace(document: DocumentPlace, pointer: string, part?: 'key'): Place {
  const { file } = document
  const { lineStarts, find } = indexCached(file)
  const { tree, start } = find(document.index)
  const found = tree === undefined ? null : locate(tree, parsePointer(pointer))
  const [from, to] = (found === null ? null : getRange(found, part)) ?? [0, 0]
  return locateRange(file.path, file.text, lineStarts, start + from, start + to)
}

function indexCached(file: SourceFile): Indexed {
  const indexed = recent.get(file) ?? indexFile(file.text)
  recent.delete(file)
  recent.set(file, indexed)
  for (const oldest of recent.keys()) {
    if (recent.size <= maxRecent) break
    recent.delete(oldest)
  }
  return indexed
}

function indexFile(text: string): Indexed {
  const lineStarts = findLineStarts(text)
  const documents = parseText(text)
  if (documents.length > 0)
    return { lineStarts, find: (index) => ({ tree: documents[index], start: 0 }) }
  // The quick parser has parsed the file, in which a document begins with a line of its own.
  const starts = [...text.matchAll(/^---$/gm)].map(({ index }) => index)
  // Only comments may be above the line of the first document.
  if (/^[^#\s]/m.test(text.slice(0, starts[0]))) starts.unshift(0)
  const trees = new Map<number, Document.Parsed | undefined>()
  const parse = (index: number) => parseText(text.slice(starts[index], starts[index + 1]))[0]
  const find = (index: number) => {
    const tree = trees.has(index) ? trees.get(index) : parse(index)
    trees.set(index, tree)
    return { tree, start: starts[index] ?? 0 }
  }
  return { lineStarts, find }
}

interface Spot {
  key: Node | null
  value: Node | null
}

function locate(document: Document.Parsed, steps: string[]): Spot {
  let spot: Spot = { key: null, value: document.contents }
  for (const step of steps) {
    const node: unknown = isAlias(spot.value) ? spot.value.resolve(document) : spot.value
    if (isMap(node)) {
      const pair = indexPairs(node).get(step)
      if (pair === undefined) break
      spot = { key: pair.key as Node, value: (pair.value ?? null) as Node | null }
    } else if (isSeq(node) && node.items[Number(step)] !== undefined) {
      spot = { key: null, value: node.items[Number(step)] as Node }
    } else {
      break
    }
  }
  return spot
}

/** Pairs of a mapping by key; cached, since a linear search per message takes quadratic time. */
const pairsByKey = new WeakMap<YAMLMap, Map<string, Pair>>()

function indexPairs(map: YAMLMap): Map<string, Pair> {
  return getOrAdd(pairsByKey, map, () => {
    const pairs = new Map<string, Pair>()
    for (const pair of map.items)
      if (isScalar(pair.key) && typeof pair.key.value === 'string') pairs.set(pair.key.value, pair)
    return pairs
  })
}

function getRange({ key, value }: Spot, part?: 'key'): [number, number] | null {
  const plain = (isScalar(value) && value.range?.[0] !== value.range?.[1]) || isAlias(value)
  const node = key !== null && (part === 'key' || !plain) ? key : value
  const range = node?.range
  return range === null || range === undefined ? null : [range[0], range[1]]
}
